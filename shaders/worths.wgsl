    // The positions with a seed: not those that a draw holds for ever.
    var rest = EMPTY;
    var held = FULL;
//@for b
    let bit_$b = codes[at + $bu];
    rest |= bit_$b;
    held &= ~(bit_$b ^ filled(WORTH_HOLD >> $bu));
//@end
    rest &= ~held;
