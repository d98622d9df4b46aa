#define_import_path dsq::trace

// What the kernels read and write, for a test that counts how well memory is used; else nothing.

#ifdef TRACE
/// How many there are, then for each the row, the kind of memory, and the place there.
@group(0) @binding(16) var<storage, read_write> touches: array<atomic<u32>>;

var<private> traced_row: u32;
var<private> traced: bool;

/// One row in sixteen is traced.
fn begin_touches(row: u32) {
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
fn begin_touches(row: u32) {}
fn touch(kind: u32, at: u32) {}
#endif
