// Records the reads and writes of the kernels for a test that measures the use of memory; without `TRACE` it does nothing.

#ifdef TRACE
/// The number of records, then for each record the row, the kind of memory, and the index there.
@group(0) @binding(16) var<storage, read_write> touches: array<atomic<u32>>;

var<private> traced_row: u32;
var<private> traced: bool;

/// Starts a row; one row in sixteen is traced.
fn begin_trace(row: u32) {
    traced_row = row;
    traced = ((row * 0x9e3779b1u) >> 28u) == 0u;
}

fn touch(kind: u32, at: u32) {
    if traced {
        let n = atomicAdd(&touches[0], 1u);
        if 3u * n + 3u < arrayLength(&touches) {
            atomicStore(&touches[3u * n + 1u], traced_row);
            atomicStore(&touches[3u * n + 2u], kind);
            atomicStore(&touches[3u * n + 3u], at);
        }
    }
}
#else
fn begin_trace(row: u32) {}
fn touch(kind: u32, at: u32) {}
#endif
