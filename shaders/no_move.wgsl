// Positions without a move: lost at once, or never to be lost. A workgroup has a row of the page, invocation s word s.
// The plane that is read is *open*, still all positions; `conversion_plane` is *escapes*, so far the positions with a
// capture, and `written` is *lost*.

#import dsq::words::{any_of, count_of, filled}
#import dsq::buffers::{params, work, written, conversion_plane, seen_word, values_are_kept}
#import dsq::group::{group_sum, group_ballot}
#import dsq::rows::{record_of, group_number, add_count, finish_row, den_of}
#import dsq::quiet::reach
#import dsq::change_log::{log_change, change_sectors}
#import dsq::shared::{CODE_NO_MOVE, LEFT_BITS}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group_number(group);
    if local >= params.rows {
        return;
    }
    let row = params.first_row + local;
    let record = record_of(row);
    let word = local * 64u + s;
    let all = seen_word(row, s);
    let stuck = all & ~(reach(row, record, s) | conversion_plane[word] | den_of(record, s));
    let loses = filled(params.no_move_loses);
    if any_of(stuck) {
        written[word] = stuck & loses;
        conversion_plane[word] = conversion_plane[word] | (stuck & ~loses);
    }
    let left = group_sum(count_of(all & ~(stuck & loses)), s);
    let count = group_sum(count_of(stuck), s);
    var sectors = 0u;
    if values_are_kept() && count != 0u {
        let words = group_ballot(any_of(stuck), s);
        sectors = change_sectors(words);
        log_change(local, 0u, words, stuck, CODE_NO_MOVE, s);
    }
    if s == 0u {
        atomicStore(&work[params.left + row], left | (sectors << LEFT_BITS));
        if left == 0u {
            finish_row(row);
        }
        if count != 0u {
            add_count(record, 0u, count);
        }
    }
}
