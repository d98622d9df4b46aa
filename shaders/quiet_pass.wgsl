// The quiet moves of one pass: at an odd depth wins, at an even depth losses. A workgroup has a row of the page's list,
// invocation s word s. `written` is *open* at an odd depth and *lost* at an even one, the plane that is read the other of
// the two; `conversion_plane` is *conversion_wins* at an odd depth and *escapes* at an even one.

#import dsq::words::{any_of, count_of, EMPTY}
#import dsq::buffers::{params, work, written, conversion_plane, seen_word, values_are_kept}
#import dsq::group::{group_sum, group_tell, group_ballot}
#import dsq::rows::{record_of, group_number, add_count, finish_row, mark_around}
#import dsq::quiet::reach
#import dsq::change_log::{log_change, change_sectors}
#import dsq::shared::{CODE_OF_0_PLIES, LEFT, LEFT_BITS, NONE}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    var listed = NONE;
    if s == 0u {
        let n = group_number(group);
        if n < atomicLoad(&work[params.args + (params.depth * params.pages + params.page) * 4u + 3u]) {
            listed = atomicLoad(&work[params.worklist + (params.depth & 1u) * params.side_rows + params.first_row + n]);
        }
    }
    let row = group_tell(listed, 0u, s);
    if row == NONE {
        return;
    }
    let record = record_of(row);
    let local = row - params.first_row;
    let word = local * 64u + s;
    let found = reach(row, record, s) | conversion_plane[word];
    let before = written[word];
    var frontier: vec2<u32>;
    if (params.depth & 1u) != 0u {
        // What is lost is never found.
        frontier = found & before;
    } else {
        frontier = ~found & (before ^ seen_word(row, s));
    }
    let count = group_sum(count_of(frontier), s);
    if count == 0u {
        return;
    }
    if any_of(frontier) {
        written[word] = before ^ frontier;
    }
    var words = EMPTY;
    var sectors = 0u;
    if values_are_kept() {
        words = group_ballot(any_of(frontier), s);
        sectors = change_sectors(words);
    }
    var used = 0u;
    if s == 0u {
        add_count(record, params.depth, count);
        let old = atomicAdd(&work[params.left + row], (sectors << LEFT_BITS) - count);
        if (old & LEFT) == count {
            finish_row(row);
        }
        used = old >> LEFT_BITS;
    }
    if values_are_kept() {
        // A code's lowest bit says who wins, as the planes do.
        log_change(local, group_tell(used, 0u, s), words, frontier, (params.depth + CODE_OF_0_PLIES) & ~1u, s);
    }
    mark_around(row, record, s);
}
