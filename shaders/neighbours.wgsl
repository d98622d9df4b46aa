// Writes the record of each row: its squares with its weight, its class, and the rows that moves of its row pieces lead to.
// An invocation processes one of sixteen moves of a row.

/// By row: the squares with the weight, and the class.
@group(0) @binding(8) var<storage, read> given: array<vec2<u32>>;
/// By row of a class's index: twice the number of the solved row with its values, plus 1 if the values are mirrored there.
@group(0) @binding(9) var<storage, read> places: array<u32>;
@group(0) @binding(10) var<storage, read_write> records: array<u32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) i: u32,
) {
    let slot = i % 16u;
    for (var row = 4u * group.x + i / 16u; row < params.side_rows; row += 4u * groups.x) {
        let record = row * params.record;
        if slot < 2u {
            records[record + slot] = given[row][slot];
        }
        if slot < params.neighbours {
            let white = 2u * given[row].y;
            let to_row = neighbour(white, given[row].x, slot);
            records[record + 2u + slot] = select(to_row, neighbour(white + 1u, given[row].x, slot), to_row == NONE);
        }
    }
}

/// The row at the end of the `slot`-th move of a side's row pieces, four for each piece, in the format of a record: the row, the
/// side that moves, the leap if the lane piece may block it, and whether the positions are mirrored. `NONE` if there is no such
/// move.
fn neighbour(side: u32, squares: u32, slot: u32) -> u32 {
    let piece = slot / 4u;
    if piece >= sides[side].row_pieces {
        return NONE;
    }
    let from_square = square_of(squares, piece);
    let square = target_of(side, squares, piece, from_square, slot % 4u);
    if square == NONE {
        return NONE;
    }
    let moved = insertBits(squares, square, piece * 6u, 6u);
    // In the index the first row piece is on the files a to d.
    let over = piece == 0u && square % 7u > 3u;
    var row = sides[side].places;
    for (var p = 0u; p < sides[side].row_pieces; p++) {
        let there = square_of(moved, p);
        row += sides[side].positions[p][select(there, mirror_square(there), over)];
    }
    let place = places[row];
    if place == NONE {
        return NONE;
    }
    var leap = 0u;
    if (sides[side].flags & LANE_BLOCKS) != 0u && not_empty(crossed(from_square, square)) {
        let far = max(square, from_square) - min(square, from_square) == 28u;
        leap = OVER_WATER | select(0u, ALONG_FILE, far) | select(0u, FORWARD, square > from_square);
    }
    return (sides[side].first_row + (place >> 1u)) * ROW + (side & 1u) * MOVER + leap + ((place & 1u) ^ u32(over));
}
