    // In `reach_N` the positions of word N from which some quiet move leads into the plane that is read.
    let side = record.side;
    let first_square = square_of(record, 0u);
    let first_blocks = (plan[side + SIDE_FLAGS] & FLAG_FIRST_BLOCKS) != 0u;
    let lane_blocks = filled(plan[side + SIDE_FLAGS]);
    // The same squares of the row pieces with the opponent to move.
    let there = row + plan[side + SIDE_OPPONENT];
    let here = seen_at(there);
//@for s
    let here_$s = seen_word(here, $su);
//@end
    let word_moves = plan_mask(side + SIDE_WORD);
    let lane_moves = plan_mask(side + SIDE_LANE);
    let to_left = lane_moves & NOT_G;
    let to_right = lane_moves & NOT_A;
//@own
    let moves = plan[side + SIDE_MOVES];
    if MIRRORED {
        // The move of the first row piece over the d-file.
        let entry = plan[moves + first_square * 8u + MOVE_SLOT_MIRRORED];
        let crossed = plan_mask(params.crossed + 2u * (entry & MOVE_CROSSED));
        let usable = (entry & MOVE_IS) != 0u && !(first_blocks && has(crossed, first_square));
        let row_there = plan[plan[side + SIDE_OTHER] + SIDE_FIRST_ROW] + mirrored_rest(record, side)
            + u32(i32(entry) >> MOVE_DELTA_SHIFT);
        let source = seen_at(select(there, row_there, usable));
        let open = select(EMPTY, ~(crossed & lane_blocks), usable);
//@for s
        reach_$s |= mirror_word(seen_word(source, $mu)) & open;
//@end
    }
    for (var i = 0u; i < plan[side + SIDE_SLOTS]; i++) {
        let mover = i / 4u;
        let square = (record.squares >> plan[side + SIDE_MOVERS + mover]) & 63u;
        let entry = plan[moves + (mover * WIDTH + square) * 8u + i % 4u];
        let crossed = plan_mask(params.crossed + 2u * (entry & MOVE_CROSSED));
        let usable = (entry & (MOVE_IS | MOVE_MIRRORED)) == MOVE_IS && !(first_blocks && has(crossed, first_square));
        let source = seen_at(select(there, there + u32(i32(entry) >> MOVE_DELTA_SHIFT), usable));
        let open = select(EMPTY, ~(crossed & lane_blocks), usable);
//@for s
        reach_$s |= seen_word(source, $su) & open;
//@end
    }
