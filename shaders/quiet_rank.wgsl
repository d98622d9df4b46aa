        // In `reach_N` the positions of the rank's N-th word from which some quiet move leads into the plane that is read.
        let at = rank * 7u;
        let is_last = rank == 8u;
//@for k
        let after_$k = select(seen_word(here, select(at + 7u, 0u, is_last) + $ku), EMPTY, is_last);
//@end
//@own
        if MIRRORED {
//@for k
            reach_$k |= mirror_word(seen_word(across_at, at + $mu)) & across_open;
//@end
        }
        if ROW_MOVES {
            var i = 0u;
            loop {
                let is = i < sources;
                let source = seen_at(select(there, source_row[i], is));
                let open = select(EMPTY, source_open[i], is);
//@for k
                reach_$k |= seen_word(source, at + $ku) & open;
//@end
                continuing {
                    i++;
                    break if i >= sources;
                }
            }
        }
