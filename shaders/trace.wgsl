// Records what the kernels do, for a test that measures it; without `TRACE` it does nothing.

#ifdef TRACE
/// The number of records and of barriers; then for each record the row, the kind of memory, and the index there.
@group(0) @binding(16) var<storage, read_write> touches: array<atomic<u32>>;

var<private> traced_row: u32;
var<private> traced: bool;
var<private> barriers: u32;

/// Starts a row; one row in sixteen is traced.
fn begin_trace(row: u32) {
    traced_row = row;
    traced = ((row * 0x9e3779b1u) >> 28u) == 0u;
}

/// Records that a row reads or writes an element.
fn touch(kind: u32, at: u32) {
    if traced {
        add_record(traced_row, kind, at);
    }
}

/// Records that a workgroup changes a counter.
fn count_atomic(at: u32) {
    add_record(NONE, TOUCH_COUNTERS, at);
}

fn add_record(row: u32, kind: u32, at: u32) {
    let n = atomicAdd(&touches[0], 1u);
    if 3u * n + 4u < arrayLength(&touches) {
        atomicStore(&touches[3u * n + 2u], row);
        atomicStore(&touches[3u * n + 3u], kind);
        atomicStore(&touches[3u * n + 4u], at);
    }
}

fn count_barriers(more: u32) {
    barriers += more;
}

/// Adds the number of barriers of a workgroup.
fn end_trace(i: u32) {
    if i == 0u {
        atomicAdd(&touches[1], barriers);
    }
}
#else
fn begin_trace(row: u32) {}
fn touch(kind: u32, at: u32) {}
fn count_atomic(at: u32) {}
fn count_barriers(more: u32) {}
fn end_trace(i: u32) {}
#endif
