//@for k
            before_$k = here_$k;
            here_$k = after_$k;
//@end
            rank++;
            break if rank == 9u;
