"""Dou Shou Qi (Jungle chess): boards, exact endgame tables, an engine and batched environments.

A first look::

    import doushouqi as dsq

    board = dsq.Board()
    board.push_san("Eb3")
    print(board)
"""

from typing import Final

from ._core import (
    Board,
    DecisionTree,
    Engine,
    Features,
    FenError,
    IllegalMoveError,
    Info,
    InvalidMoveError,
    Limit,
    MaterialError,
    Move,
    Outcome,
    Piece,
    Rules,
    RulesError,
    Stats,
    Tables,
    TablesError,
    Value,
    VecEnv,
    __version__,
    divide,
    generate,
    learn_tree,
    materials,
    open_tables,
    pack,
    parse_square,
    perft,
    random_games,
    random_positions,
    solve,
    square_name,
    unpack,
)

WHITE: Final = True
"""The first side to move, as in python-chess."""
BLACK: Final = False
"""The second side to move."""

ANIMALS: Final = ("rat", "cat", "wolf", "dog", "panther", "tiger", "lion", "elephant")
"""The animals by number, weakest first."""
ACTIONS: Final = 32
"""The number of actions: `4 * animal + direction` (forward, backward, left, right) as the mover sees the board."""
STARTING_FEN: Final = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w"
"""The FEN of the initial position."""

__all__ = [
    "ACTIONS",
    "ANIMALS",
    "BLACK",
    "STARTING_FEN",
    "WHITE",
    "Board",
    "DecisionTree",
    "Engine",
    "Features",
    "FenError",
    "IllegalMoveError",
    "Info",
    "InvalidMoveError",
    "Limit",
    "MaterialError",
    "Move",
    "Outcome",
    "Piece",
    "Rules",
    "RulesError",
    "Stats",
    "Tables",
    "TablesError",
    "Value",
    "VecEnv",
    "__version__",
    "divide",
    "generate",
    "learn_tree",
    "materials",
    "open_tables",
    "pack",
    "parse_square",
    "perft",
    "random_games",
    "random_positions",
    "solve",
    "square_name",
    "unpack",
]
