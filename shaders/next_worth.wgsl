            // The worth of the first position that is left, and all that have the same.
            let one = single(lowest(rest));
            var worth = 0u;
            var same = rest;
//@for b
            let is_$b = any_of(bit_$b & one);
            worth |= select(0u, 1u << $bu, is_$b);
            same &= select(~bit_$b, bit_$b, is_$b);
//@end
            rest &= ~same;
