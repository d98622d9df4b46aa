// Lists the rows that a pass visits. A workgroup takes 1024 rows at a time, and appends those that are due to the list: a row
// from which a move leads to a row that the last pass changed, or with a conversion of this depth.

/// For each list the number of workgroups in three dimensions and the number of rows; then the rows.
@group(0) @binding(8) var<storage, read_write> list: array<atomic<u32>>;

var<workgroup> due_rows: atomic<u32>;
var<workgroup> first_place: u32;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    for (var start = 1024u * group.x; start < params.count; start += 1024u * groups.x) {
        if i == 0u {
            atomicStore(&due_rows, 0u);
        }
        barrier();
        var listed: array<u32, 4>;
        var places: array<u32, 4>;
        for (var k = 0u; k < 4u; k++) {
            let local = start + 256u * k + i;
            listed[k] = NONE;
            if local < params.count {
                let row = params.first + local;
                var due = DUE + (params.depth & 1u);
                if params.mode == FIND {
                    due = DUE_OFF_BEAT + (params.depth & 1u);
                } else if params.mode == DECIDE {
                    due = PENDING;
                }
                let looks = atomicLoad(&state[field(due, row)]) == params.depth;
                let converts = params.mode == ON_BEAT && atomicLoad(&state[field(NEXT, row)]) == params.depth;
                if looks || converts {
                    listed[k] = row | select(0u, LOOKS, looks) | select(0u, CONVERTS, converts);
                    places[k] = atomicAdd(&due_rows, 1u);
                }
            }
        }
        barrier();
        if i == 0u {
            first_place = reserve(atomicLoad(&due_rows));
        }
        barrier();
        for (var k = 0u; k < 4u; k++) {
            if listed[k] != NONE {
                atomicStore(&list[params.list_rows + first_place + places[k]], listed[k]);
            }
        }
        barrier();
    }
    end_trace(i);
}

/// Lengthens the list and returns its former length.
fn reserve(rows_more: u32) -> u32 {
    if rows_more == 0u {
        return 0u;
    }
    count_atomic(VISITS);
    count_atomic(NONE);
    atomicAdd(&state[VISITS], rows_more);
    let before = atomicAdd(&list[4u * params.list + 3u], rows_more);
    atomicMax(&list[4u * params.list], min(before + rows_more, GROUPS));
    return before;
}
