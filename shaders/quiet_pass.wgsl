// The quiet moves of one pass: at an odd depth wins, at an even depth losses. A workgroup has a row of the page's list,
// invocation s word s. `written` is *open* at an odd depth and *lost* at an even one, the plane that is read the other of
// the two; `gate` holds what a seed wins (*due*), or what is not lost before a seed says so (*held*).

#import dsq::words::{any_of, count_of, EMPTY}
#import dsq::buffers::{params, work, written, gate, seen_word, values_are_kept}
#import dsq::group::{group_sum, group_tell, group_ballot}
#import dsq::rows::{record_of, group_number, add_count, close, mark_around}
#import dsq::quiet::reach
#import dsq::notes::{note, note_sectors}
#import dsq::shared::{CODE_OF_0_PLIES, LEFT, LEFT_BITS, NONE}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    var listed = NONE;
    if s == 0u {
        let n = group_number(group);
        if n < atomicLoad(&work[params.args + (params.depth * params.pages + params.page) * 4u + 3u]) {
            listed = atomicLoad(&work[params.live + (params.depth & 1u) * params.side_rows + params.first_row + n]);
        }
    }
    let row = group_tell(listed, 0u, s);
    if row == NONE {
        return;
    }
    let record = record_of(row);
    let local = row - params.first_row;
    let word = local * 64u + s;
    let found = reach(row, record, s) | gate[word];
    let before = written[word];
    var fresh: vec2<u32>;
    if (params.depth & 1u) != 0u {
        // What is lost is never found.
        fresh = found & before;
    } else {
        fresh = ~found & (before ^ seen_word(row, s));
    }
    let count = group_sum(count_of(fresh), s);
    if count == 0u {
        return;
    }
    if any_of(fresh) {
        written[word] = before ^ fresh;
    }
    var words = EMPTY;
    var sectors = 0u;
    if values_are_kept() {
        words = group_ballot(any_of(fresh), s);
        sectors = note_sectors(words);
    }
    var used = 0u;
    if s == 0u {
        add_count(record, params.depth, count);
        let old = atomicAdd(&work[params.left + row], (sectors << LEFT_BITS) - count);
        if (old & LEFT) == count {
            close(row);
        }
        used = old >> LEFT_BITS;
    }
    if values_are_kept() {
        // A code's lowest bit says who wins, as the planes do.
        note(local, group_tell(used, 0u, s), words, fresh, (params.depth + CODE_OF_0_PLIES) & ~1u, s);
    }
    mark_around(row, record, s);
}
