// For each position the worth of the best move that leaves the class: captures by the values of smaller classes, dens.
// Worths are bytes, greater is better; they are left in `cells`. `open` becomes all positions, `lost` for the time being
// those with such a move, `held` those that are not lost before it says so.

fn square_of(record: Record, piece: u32, row_pieces: u32, s: u32) -> u32 {
    return select(s, (record.squares >> ((piece & 3u) * 6u)) & 63u, piece < row_pieces);
}

fn raise(word: u32, lane: u32, worth: u32) {
    let at = word * CELL_WORDS + lane / 4u;
    let shift = (lane & 3u) * 8u;
    let old = cells[at];
    if worth > ((old >> shift) & 255u) {
        cells[at] = (old & ~(255u << shift)) | (worth << shift);
    }
}

fn worth_of_cell(cell: u32) -> u32 {
    return plan[params.worth + ((tables[cell >> 2u] >> ((cell & 3u) * 8u)) & 255u)];
}

fn seeds(row: u32, s: u32) {
    let record = record(row);
    let side = params.sides + record.side * SIDE_WORDS;
    let word = row * WIDTH + s;
    let row_pieces = plan[side + SIDE_ROW_PIECES];
    var taken = single(s);
    for (var p = 0u; p < row_pieces; p++) {
        taken |= single((record.squares >> (p * 6u)) & 63u);
    }
    var valid = plan_mask(side + SIDE_LANES) & ~taken;
    // Two row pieces on one square, or the word piece where it may not be or someone is.
    let alone = count_of(taken) == row_pieces + 1u;
    if !alone || !has(plan_mask(side + SIDE_WORDS_IN_PLAY), s) {
        valid = vec2<u32>(0u, 0u);
    }
    planes[word] = valid;
    atomicAdd(&work[left_at(row)], count_of(valid));
    var den = valid;
    if (record.squares & RECORD_DEN) == 0u && !has(plan_mask(side + SIDE_DEN_WORD), s) {
        den &= plan_mask(side + SIDE_DEN_LANE);
    }
    var found = vec2<u32>(0u, 0u);
    let free = valid & ~den;
    if any_of(free) {
        let flags = plan[side + SIDE_FLAGS];
        let first_blocks = (flags & FLAG_FIRST_BLOCKS) != 0u;
        let lane_piece = row_pieces + 1u;
        let captures = plan[side + SIDE_CAPTURES];
        for (var c = 0u; c < plan[side + SIDE_CAPTURE_COUNT]; c++) {
            let capture = captures + c * CAPTURE_WORDS;
            let attacker = plan[capture + CAPTURE_ATTACKER];
            let victim = plan[capture + CAPTURE_VICTIM];
            let start = square_of(record, attacker, row_pieces, s);
            let target_square = square_of(record, victim, row_pieces, s);
            // The piece that stands on the lane's square afterwards.
            var moving = lane_piece;
            var lanes = free;
            if attacker == lane_piece {
                lanes &= plan_mask(plan[capture + CAPTURE_HITS_TO] + 2u * target_square);
                moving = NONE;
            } else {
                let hits = plan_mask(plan[capture + CAPTURE_HITS_FROM] + 2u * start);
                if victim == lane_piece {
                    lanes &= hits;
                    moving = attacker;
                } else if has(hits, target_square) {
                    let crossed = plan_mask(params.crossed + 2u * plan[params.crossing + start * WIDTH + target_square]);
                    if first_blocks && has(crossed, record.squares & 63u) {
                        continue;
                    }
                    if (flags & FLAG_LANE_BLOCKS) != 0u {
                        lanes &= ~crossed;
                    }
                } else {
                    continue;
                }
            }
            if !any_of(lanes) {
                continue;
            }
            let table = plan[capture + CAPTURE_TABLE];
            let last = table == NONE;
            let offsets = plan[capture + CAPTURE_OFFSETS];
            let mirrored_offsets = offsets + (row_pieces + 2u) * WIDTH;
            let first = plan[capture + CAPTURE_FIRST];
            let mirror = plan_mask(capture + CAPTURE_MIRROR);
            var straight = table;
            var across = table;
            var mirrored = false;
            if !last {
                for (var p = 0u; p <= lane_piece; p++) {
                    if p != victim && p != moving {
                        let square = select(square_of(record, p, row_pieces, s), target_square, p == attacker);
                        straight += plan[offsets + p * WIDTH + square];
                        across += plan[mirrored_offsets + p * WIDTH + square];
                        if p == first {
                            mirrored = has(mirror, square);
                        }
                    }
                }
            }
            var worth = WORTH_WIN_AT_ONCE;
            if !last && moving == NONE {
                worth = worth_of_cell(select(straight, across, mirrored));
            }
            let per_lane = !last && moving != NONE;
            while any_of(lanes) {
                let lane = lowest(lanes);
                lanes = without_lowest(lanes);
                if first_blocks && victim == lane_piece {
                    let crossed = plan_mask(params.crossed + 2u * plan[params.crossing + start * WIDTH + lane]);
                    if has(crossed, record.squares & 63u) {
                        continue;
                    }
                }
                if per_lane {
                    let other = select(mirrored, has(mirror, lane), moving == first);
                    let offset = select(offsets, mirrored_offsets, other) + moving * WIDTH + lane;
                    worth = worth_of_cell(select(straight, across, other) + plan[offset]);
                }
                if worth != 0u {
                    raise(word, lane, worth);
                    found |= single(lane);
                }
            }
        }
    }
    store(word, den, WORTH_WIN_AT_ONCE);
    planes[lost_at(word)] = found | den;
    planes[held_at(word)] = found;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    for (var row = group.x; row < params.side_rows; row += params.groups) {
        seeds(row, s);
    }
}
