// The quiet moves of one pass: at an odd depth wins, at an even depth losses. A workgroup has a row of the page's list,
// invocation s word s. `written` is *open* at an odd depth and *lost* at an even one, the plane that is read the other of
// the two; `gate` holds what a seed wins (*due*), or what is not lost before a seed says so (*held*).

#import dsq::words::{any_of, count_of}
#import dsq::buffers::{params, work, written, gate, codes, seen_word, code_place, values_are_kept}
#import dsq::group::{group_sum, group_tell}
#import dsq::rows::{record_of, group_number, add_count, close, mark_around}
#import dsq::quiet::reach
#import dsq::shared::{CODE_OF_0_PLIES, NONE}

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
        if values_are_kept() {
            // A code's lowest bit says who wins, as the planes do.
            for (var bits = (params.depth + CODE_OF_0_PLIES) & ~1u; bits != 0u; bits &= bits - 1u) {
                let at = code_place(local) + firstTrailingBit(bits) * 64u + s;
                codes[at] = codes[at] | fresh;
            }
        }
    }
    if s == 0u {
        add_count(record, params.depth, count);
        if atomicSub(&work[params.left + row], count) == count {
            close(row);
        }
    }
    mark_around(row, record, s);
}
