    // The quiet moves of a row, rank by rank of the word piece: below, and in `quiet_rank`.
    let side = record.side;
    let first_square = square_of(record, 0u);
    let first_blocks = (plan[side + SIDE_FLAGS] & FLAG_FIRST_BLOCKS) != 0u;
    let lane_blocks = filled(plan[side + SIDE_FLAGS]);
    // The same squares of the row pieces with the opponent to move.
    let there = row + plan[side + SIDE_OPPONENT];
    let here = seen_at(there);
    let word_moves = plan_mask(side + SIDE_WORD);
    let lane_moves = plan_mask(side + SIDE_LANE);
    let to_left = lane_moves & NOT_G;
    let to_right = lane_moves & NOT_A;
    // The rows that the row pieces move to, and for each the lanes that do not block the move.
    let moves = plan[side + SIDE_MOVES];
    var sources = 0u;
    var source_row: array<u32, 16>;
    var source_open: array<Word, 16>;
    if ROW_MOVES {
        var i = 0u;
        loop {
            let mover = i / 4u;
            let square = (record.squares >> plan[side + SIDE_MOVERS + mover]) & 63u;
            let entry = plan[moves + (mover * WIDTH + square) * 8u + i % 4u];
            let crossed = plan_mask(params.crossed + 2u * (entry & MOVE_CROSSED));
            if (entry & (MOVE_IS | MOVE_MIRRORED)) == MOVE_IS && !(first_blocks && has(crossed, first_square)) {
                source_row[sources] = there + u32(i32(entry) >> MOVE_DELTA_SHIFT);
                source_open[sources] = ~(crossed & lane_blocks);
                sources++;
            }
            continuing {
                i++;
                break if i >= plan[side + SIDE_SLOTS];
            }
        }
    }
    // The move of the first row piece over the d-file.
    let across = plan[moves + first_square * 8u + MOVE_SLOT_MIRRORED];
    let across_water = plan_mask(params.crossed + 2u * (across & MOVE_CROSSED));
    let across_usable = MIRRORED && (across & MOVE_IS) != 0u && !(first_blocks && has(across_water, first_square));
    let across_row = plan[plan[side + SIDE_OTHER] + SIDE_FIRST_ROW] + mirrored_rest(record, side)
        + u32(i32(across) >> MOVE_DELTA_SHIFT);
    let across_at = seen_at(select(there, across_row, across_usable));
    let across_open = select(EMPTY, ~(across_water & lane_blocks), across_usable);
    let lane_up = plan_mask(side + SIDE_LANE_UP);
    let lane_down = plan_mask(side + SIDE_LANE_DOWN);
    let lane_right = plan_mask(side + SIDE_LANE_RIGHT);
    let lane_left = plan_mask(side + SIDE_LANE_LEFT);
    let word_files = plan_mask(side + SIDE_WORD_FILES);
    let word_ranks = plan_mask(side + SIDE_WORD_RANKS);
//@for k
    var before_$k = EMPTY;
    var here_$k = seen_word(here, $ku);
//@end
