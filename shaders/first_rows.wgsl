// Where a side without a move has lost: the rows to look at in the first pass. Run when `no_move` is done with all pages. A
// workgroup has a row of the page, invocation s word s of *lost* (`written`).

#import dsq::words::count_of
#import dsq::buffers::{params, written}
#import dsq::group::group_sum
#import dsq::rows::{record_of, group_number, mark_around}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group_number(group);
    if local >= params.rows {
        return;
    }
    if group_sum(count_of(written[local * 64u + s]), s) != 0u {
        let row = params.first_row + local;
        mark_around(row, record_of(row), s);
    }
}
