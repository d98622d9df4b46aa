// What no pass decided is a draw, unless it has no move. The plane that is read is *open*, `written` is *lost*. With KEEP
// the bits of the codes, a word each, become codes one after the other.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group.x + group.y * GROUPS_X;
    if local >= params.rows {
        return;
    }
    let row = params.first_row + local;
    let record = record(row);
    let lost = written[local * WIDTH + s];
    let undecided = seen_word(seen_at(row), s) ^ lost;
    let count = count_of(undecided);
    if count != 0u {
        add_count(record.side, COUNT_UNDECIDED, count * weight(record));
    }
    if KEEP {
        let at = (local * WIDTH + s) * CODE_STRIDE;
        // What is decided and not lost is won, so its code is odd; a draw's is 1, no move is 2.
        var won = EMPTY;
//@for b from 1
        let bit_$b = codes[at + $bu];
        won |= bit_$b;
//@end
        let bit_0 = (won & ~(lost | undecided)) | (undecided & ~bit_1);
//@for b
        let low_$b = low_of(bit_$b);
        let high_$b = high_of(bit_$b);
//@end
//@cells
    }
}
