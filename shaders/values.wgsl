// The values of captures are *ranks*: the better one is greater. 0 is no capture, k / 2 a loss in k plies, `DRAW_RANK` a draw,
// and `MAX_RANK` - (k - 1) / 2 a win in k plies. A plane contains one bit of the ranks of 32 positions; the planes of 32 positions
// follow each other.

#ifdef WIDE
const PLANES = 16u;
#else
const PLANES = 8u;
#endif
const MAX_RANK = (1u << PLANES) - 1u;
const DRAW_RANK = 1u << (PLANES - 1u);
