"""Squares as numbers from 0 (a1) to 62 (g9), and what lies on them."""

from typing import Final

from ._core import square_name

# fmt: off
A1, B1, C1, D1, E1, F1, G1 = range(0, 7)
A2, B2, C2, D2, E2, F2, G2 = range(7, 14)
A3, B3, C3, D3, E3, F3, G3 = range(14, 21)
A4, B4, C4, D4, E4, F4, G4 = range(21, 28)
A5, B5, C5, D5, E5, F5, G5 = range(28, 35)
A6, B6, C6, D6, E6, F6, G6 = range(35, 42)
A7, B7, C7, D7, E7, F7, G7 = range(42, 49)
A8, B8, C8, D8, E8, F8, G8 = range(49, 56)
A9, B9, C9, D9, E9, F9, G9 = range(56, 63)
# fmt: on

SQUARES: Final = tuple(range(63))
"""All squares: a1 to g1, a2 to g2, and so on."""
SQUARE_NAMES: Final = tuple(square_name(square) for square in SQUARES)
"""The names of the squares."""
DENS: Final = (D9, D1)
"""The dens of Black and White: `DENS[dsq.WHITE]` is White's."""
TRAPS: Final = (C9, E9, D8), (C1, E1, D2)
"""The traps beside the dens of Black and White."""
WATER: Final = (B4, C4, E4, F4, B5, C5, E5, F5, B6, C6, E6, F6)
"""The squares of the two lakes."""


def square(file: int, rank: int) -> int:
    """Return the square of a file, 0 (a) to 6 (g), and a rank, 0 to 8. Raises ValueError."""
    if not 0 <= file < 7 or not 0 <= rank < 9:
        raise ValueError(f"a file is 0 to 6 and a rank 0 to 8, not {file} and {rank}")
    return 7 * rank + file


def square_file(square: int) -> int:
    """Return the file of a square: 0 (a) to 6 (g)."""
    return square % 7


def square_rank(square: int) -> int:
    """Return the rank of a square: 0 to 8."""
    return square // 7


def square_mirror(square: int) -> int:
    """Return the square with the ranks reversed: a1 becomes a9."""
    return 7 * (8 - square // 7) + square % 7


def square_reflect(square: int) -> int:
    """Return the square reflected in file d: a1 becomes g1."""
    return 7 * (square // 7) + 6 - square % 7


def square_rotate(square: int) -> int:
    """Return the square on the board rotated by 180 degrees, as Black sees it."""
    return 62 - square
