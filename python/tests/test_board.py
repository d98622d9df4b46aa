"""Boards, moves and rules, as in python-chess."""

import copy
import inspect
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import doushouqi as dsq


def test_a_game_is_played_and_taken_back() -> None:
    board = dsq.Board()
    assert board.fen() == dsq.STARTING_FEN
    assert board.turn is dsq.WHITE
    assert len(board.legal_moves) == 24
    move = board.push_san("Eb3")
    assert (str(move), board.ply(), board.halfmove_clock, board.turn) == ("a3b3", 1, 1, dsq.BLACK)
    assert board.peek() == move == dsq.Move.from_uci("a3b3")
    assert board.fen() == "l5t/1d3c1/r1p1w1e/7/7/7/1EW1P1R/1C3D1/T5L b 1"
    assert board.pop() == move
    assert board == dsq.Board()
    with pytest.raises(IndexError, match="no move has been made"):
        board.pop()


def test_notations() -> None:
    board = dsq.Board("7/7/7/7/7/7/3e3/3R3/7 w")
    capture = board.parse_san("Rxd3")
    assert board.is_capture(capture)
    assert board.san(capture) == "Rxd3"
    assert capture.uci() == "d2d3"
    assert [square for square, piece in board.piece_map().items() if piece.symbol() == "R"] == [dsq.parse_square("d2")]
    assert dsq.square_name(dsq.parse_square("g9")) == "g9"
    assert str(board.piece_at(dsq.parse_square("d3"))) == "e"


@pytest.mark.parametrize(
    ("fen", "san", "termination", "winner", "result"),
    [
        ("7/3L3/7/7/7/7/7/7/r6 w", "Ld9", "den", True, "1-0"),
        ("7/7/7/7/7/7/3e3/3R3/7 w", "Rxd3", "captured", True, "1-0"),
        ("e6/7/7/7/7/7/7/7/E6 w 99", "Ea2", "no_capture", None, "1/2-1/2"),
    ],
)
def test_games_end(fen: str, san: str, termination: str, winner: bool | None, result: str) -> None:
    board = dsq.Board(fen)
    assert (board.outcome(), board.result()) == (None, "*")
    board.push_san(san)
    outcome = board.outcome()
    assert outcome is not None
    assert (outcome.termination, outcome.winner, outcome.result()) == (termination, winner, result)
    assert board.is_game_over()
    assert board.legal_moves == []


@pytest.mark.parametrize(("repetition", "occurrences"), [("threefold", 3), ("twofold", 2)])
def test_repetition(repetition: str, occurrences: int) -> None:
    board = dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w", rules=f"paper,repetition={repetition}")
    plies = 0
    while not board.is_game_over():
        board.push_san(["Ec3", "Ec7", "Ed3", "Ed7"][plies % 4])
        plies += 1
    outcome = board.outcome()
    assert outcome is not None
    assert outcome.termination == "repetition"
    assert (board.occurrences(), plies) == (occurrences, 4 * (occurrences - 1))


def test_repetition_may_be_illegal() -> None:
    board = dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w", rules="cazaux")
    for san in ["Ec3", "Ec7", "Ed3"]:
        board.push_san(san)
    back = dsq.Move.from_uci("c7d7")
    assert back not in board.legal_moves
    with pytest.raises(dsq.IllegalMoveError, match="repeats a position"):
        board.push(back)


def test_copies_are_apart() -> None:
    board = dsq.Board(rules="chinese", no_capture_limit=None)
    board.push_san("Eb3")
    for twin in (board.copy(), copy.copy(board), copy.deepcopy(board), pickle.loads(pickle.dumps(board))):
        assert twin == board
        assert twin.move_stack == board.move_stack
        assert (twin.rules, twin.no_capture_limit) == (dsq.Rules("chinese"), None)
        twin.pop()
        assert twin != board
        assert board.ply() == 1


@pytest.mark.parametrize("thing", [dsq.Rules("paper,shore=none"), dsq.Move.from_uci("a3b3"), dsq.Piece(7, False)])
def test_values_survive_pickle(thing: object) -> None:
    assert pickle.loads(pickle.dumps(thing)) == thing
    assert hash(pickle.loads(pickle.dumps(thing))) == hash(thing)


def test_rules() -> None:
    rules = dsq.Rules("paper,shore=none")
    assert rules.name is None
    assert (rules.shore, rules.repetition) == ("none", "threefold")
    assert dsq.Rules(str(rules)) == rules != dsq.Rules()
    for option, values in dsq.Rules.options().items():
        assert getattr(dsq.Rules(), option) == values[0]
        assert getattr(dsq.Rules(f"{option.replace('_', '-')}={values[1]}"), option) == values[1]
    with pytest.raises(AttributeError, match="leap"):
        rules.leap  # noqa: B018
    assert [dsq.Rules(name).name for name in dsq.Rules.presets()] == dsq.Rules.presets()


def test_pictures() -> None:
    board = dsq.Board()
    assert str(board).startswith("9 | l . ^ # ^ . t\n")
    assert board._repr_svg_().startswith("<svg")
    assert repr(board) == f"Board('{dsq.STARTING_FEN}')"


def test_perft() -> None:
    board = dsq.Board()
    assert [dsq.perft(board, depth) for depth in range(5)] == [1, 24, 576, 12240, 260100]
    assert dsq.perft(board, 5, mode="leaf") == 5098477
    assert sum(count for _, count in dsq.divide(board, 4)) == 260100
    # The elephant takes the rat only under some rules.
    fen = "7/7/7/7/3e3/3R3/7/7/7 b"
    board = dsq.Board(fen, rules="chinese")
    chinese = dsq.perft(fen, 3, rules="chinese")
    assert dsq.perft(board, 3) == chinese != dsq.perft(fen, 3) == dsq.perft(board, 3, rules="paper")
    assert sum(count for _, count in dsq.divide(board, 3)) == chinese


def test_packed_positions_round_trip() -> None:
    packed = dsq.random_positions(300, 9, seed=5)
    boards = dsq.unpack(packed)
    assert np.array_equal(dsq.pack(boards), packed)
    assert all(np.array_equal(board.packed(), row) for board, row in zip(boards, packed, strict=True))
    assert all(dsq.Board(board.fen()) == board for board in boards)


def slow_observation(board: dsq.Board) -> NDArray[np.int8]:
    """`Board.observation` written out."""
    planes = np.zeros((16, 9, 7), dtype=np.int8)
    for square, piece in board.piece_map().items():
        rank, file = divmod(square, 7)
        if not board.turn:
            rank, file = 8 - rank, 6 - file
        planes[piece.animal + (0 if piece.color == board.turn else 8), rank, file] = 1
    return planes


def test_observations_and_actions() -> None:
    for board in dsq.unpack(dsq.random_positions(500, 8, seed=1)):
        assert np.array_equal(board.observation(), slow_observation(board))
        actions = {}
        for move in board.legal_moves:
            (rank, file), (to_rank, to_file) = divmod(move.from_square, 7), divmod(move.to_square, 7)
            forward = (to_rank - rank) * (1 if board.turn else -1)
            right = (to_file - file) * (1 if board.turn else -1)
            direction = 0 if forward > 0 else 1 if forward < 0 else 2 if right < 0 else 3
            piece = board.piece_at(move.from_square)
            assert piece is not None
            actions[4 * piece.animal + direction] = move
            assert board.action(move) == 4 * piece.animal + direction
        assert board.legal_actions() == sorted(actions)
        assert np.flatnonzero(board.action_mask()).tolist() == sorted(actions)
        assert all(board.move_of_action(action) == move for action, move in actions.items())


def test_every_public_object_is_documented() -> None:
    for name in dsq.__all__:
        thing = getattr(dsq, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for attribute in vars(thing):
                if not attribute.startswith("_"):
                    assert getattr(thing, attribute).__doc__, f"{name}.{attribute}"


def test_squares_have_names() -> None:
    assert (dsq.A1, dsq.G1, dsq.A2, dsq.D9, dsq.G9) == (0, 6, 7, 59, 62)
    for square, name in zip(dsq.SQUARES, dsq.SQUARE_NAMES, strict=True):
        assert getattr(dsq, name.upper()) == square == dsq.parse_square(name)
        assert dsq.square(dsq.square_file(square), dsq.square_rank(square)) == square
        assert dsq.square_mirror(dsq.square_mirror(square)) == dsq.square_rotate(dsq.square_rotate(square)) == square
        assert dsq.square_mirror(dsq.square_reflect(square)) == dsq.square_rotate(square)
    assert dsq.SQUARE_NAMES[dsq.square_mirror(dsq.A3)] == "a7"
    assert dsq.SQUARE_NAMES[dsq.square_reflect(dsq.A3)] == "g3"
    assert dsq.SQUARE_NAMES[dsq.square_rotate(dsq.A3)] == "g7"
    with pytest.raises(ValueError, match="file is 0 to 6"):
        dsq.square(7, 0)
    assert dsq.ANIMALS[dsq.PANTHER] == "panther"
    # The board agrees on dens, traps and water: only rats swim, and no piece enters its own den.
    for color in (dsq.WHITE, dsq.BLACK):
        for square in dsq.SQUARES:
            pieces = {square: dsq.Piece(dsq.CAT, color), 0 if square else 1: dsq.Piece(dsq.DOG, not color)}
            allowed = True
            try:
                dsq.Board().set_piece_map(pieces)
            except dsq.FenError:
                allowed = False
            assert allowed == (square not in dsq.WATER and square != dsq.DENS[color]), dsq.SQUARE_NAMES[square]


def test_attackers() -> None:
    board = dsq.Board()
    assert board.attackers(dsq.WHITE, dsq.A4) == [dsq.A3]
    assert board.attackers(dsq.BLACK, dsq.A6) == [dsq.A7]
    assert board.attacks(dsq.A3) == [dsq.A2, dsq.B3, dsq.A4]
    assert board.attacks(dsq.D5) == []
    assert (board.is_attacked_by(dsq.WHITE, dsq.A4), board.is_attacked_by(dsq.WHITE, dsq.A9)) == (True, False)
    assert board.square_of(dsq.ELEPHANT, dsq.WHITE) == dsq.A3
    board.remove_piece_at(dsq.A3)
    assert board.square_of(dsq.ELEPHANT, dsq.WHITE) is None
    # Every legal move is an attack of its piece, and the other way round.
    for board in dsq.unpack(dsq.random_positions(100, 9, seed=3)):
        moves = {(move.from_square, move.to_square) for move in board.legal_moves}
        attacks = {(square, to) for square in dsq.SQUARES for to in board.attacks(square)}
        own = {(a, b) for a, b in attacks if (piece := board.piece_at(a)) is not None and piece.color == board.turn}
        assert own == moves
        assert attacks == {
            (square, to) for color in (True, False) for to in dsq.SQUARES for square in board.attackers(color, to)
        }


def test_keys_and_repetitions() -> None:
    board = dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w")
    key = board.key()
    assert not board.is_repetition(2)
    for san in ["Ec3", "Ec7", "Ed3", "Ed7"]:
        board.push_san(san)
        assert (board.key() == key) == (san == "Ed7")
    assert (board.is_repetition(2), board.is_repetition(), board.is_repetition(0)) == (True, False, True)
    assert board.with_turn(dsq.BLACK).key() != key == dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w 50").key()
    with pytest.raises(TypeError, match="unhashable"):
        hash(board)


def test_boards_are_edited() -> None:
    board = dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w 7", rules="chinese")
    board.push_san("Ec3")
    assert board.root() == dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w 7", rules="chinese")
    short = board.copy(stack=False)
    assert (short, short.ply(), short.halfmove_clock) == (board, 0, 8)
    board.set_piece_at(dsq.A1, dsq.Piece.from_symbol("R"))
    assert (board.fen(), board.ply(), board.rules) == ("7/7/3e3/7/7/7/2E4/7/R6 b 8", 0, dsq.Rules("chinese"))
    assert str(board.remove_piece_at(dsq.A1)) == "R"
    assert board.remove_piece_at(dsq.A1) is None
    board.turn = dsq.WHITE
    assert board == dsq.Board("7/7/3e3/7/7/7/2E4/7/7 w 8", rules="chinese")
    before = board.fen()
    wrong = [(dsq.A1, "E"), (dsq.B4, "L"), (dsq.D1, "R"), (dsq.A1, "e")]
    for square, symbol in wrong:
        with pytest.raises(dsq.FenError):
            board.set_piece_at(square, dsq.Piece.from_symbol(symbol))
    board.remove_piece_at(dsq.C3)
    with pytest.raises(dsq.FenError):
        board.set_piece_map({})
    with pytest.raises(ValueError, match="square"):
        board.set_piece_at(63, None)
    board.set_piece_map(dsq.Board(before).piece_map())
    assert board.fen() == before
    board.push_san("Eb3")
    board.clear_stack()
    assert (board.ply(), board.halfmove_clock) == (0, 9)


class Named(dsq.Board):
    """A board with a name, which is made by other arguments."""

    def __init__(self, name: str, moves: int = 0) -> None:
        """Plays the first legal moves."""
        super().__init__(rules="chinese", no_capture_limit=None)
        self.name = [name]
        for _ in range(moves):
            self.push(self.legal_moves[0])


def test_boards_are_subclassed() -> None:
    board = Named("first", moves=3)
    assert (board.ply(), board.rules, repr(board)[:7]) == (3, dsq.Rules("chinese"), "Named('")
    for twin in (board.copy(), copy.copy(board), copy.deepcopy(board), pickle.loads(pickle.dumps(board))):
        assert type(twin) is Named
        assert (twin.name, twin.move_stack, twin == board) == (["first"], board.move_stack, True)
    assert copy.copy(board).name is board.name
    assert copy.deepcopy(board).name is not board.name
    for other in (board.root(), board.mirror(), board.reflect(), board.swap_colors(), board.with_turn(dsq.WHITE)):
        assert type(other) is Named
        assert not hasattr(other, "name")
    assert dsq.Engine(hash_mib=1).play(board, dsq.Limit(nodes=50)) in board.legal_moves


def test_pictures_have_marks() -> None:
    board = dsq.Board()
    plain = board.svg()
    assert board._repr_svg_() == plain
    board.push_san("Eb3")
    last = board.peek()
    assert board._repr_svg_() == board.svg(lastmove=last)
    assert board.svg(lastmove=last).count("fill-opacity") == 2
    assert board.svg(fill={dsq.A1: "red", dsq.B1: "#12ab34"}).count("fill-opacity") == 2
    marked = board.svg(arrows=[last, (dsq.A1, dsq.A2), (dsq.C3, dsq.C3, "rgb(1, 2, 3)")], size=234)
    assert marked.count("<g ") == 2
    assert marked.count('fill="none" stroke="rgb(1, 2, 3)"') == 1
    assert 'height="234"' in marked
    # Black below: the rank of White's elephant is near the top.
    white, black = dsq.Board("7/7/7/7/7/7/7/7/E6 b").svg(), dsq.Board("7/7/7/7/7/7/7/7/E6 b").svg(orientation=dsq.BLACK)
    assert '<circle cx="48" cy="420"' in white
    assert '<circle cx="336" cy="36"' in black
    wrong: list[dict[str, object]] = [
        {"size": 0},
        {"size": 10**6},
        {"fill": {63: "red"}},
        {"fill": {0: '"/><script>'}},
        {"arrows": [(0, 63)]},
        {"arrows": [(0, 1, "")]},
    ]
    for options in wrong:
        with pytest.raises(ValueError, match=r"size|square|colour"):
            board.svg(**options)  # type: ignore[arg-type]
    no_moves: list[dict[str, object]] = [{"arrows": ["a3b3"]}, {"arrows": 3}, {"lastmove": "a3b3"}]
    for options in no_moves:
        with pytest.raises(TypeError):
            board.svg(**options)  # type: ignore[arg-type]


def test_boards_are_mirrored_and_reflected() -> None:
    board = dsq.Board("7/3L3/7/7/7/7/7/7/r6 w", rules="chinese")
    assert board.mirror().fen() == "R6/7/7/7/7/7/7/3l3/7 b"
    assert board.reflect().fen() == "7/3L3/7/7/7/7/7/7/6r w"
    assert board.swap_colors() == board.mirror().reflect()
    for change in (dsq.Board.mirror, dsq.Board.reflect, dsq.Board.swap_colors):
        assert change(change(board)) == board
        assert change(board).rules == board.rules
        assert len(change(board).legal_moves) == len(board.legal_moves)
    for square, piece in board.piece_map().items():
        mirrored = board.mirror().piece_at(dsq.square_mirror(square))
        assert mirrored == dsq.Piece(piece.animal, not piece.color)
        assert board.reflect().piece_at(dsq.square_reflect(square)) == piece


def test_names_of_python_chess() -> None:
    board = dsq.Board("7/7/3e3/3E3/7/7/7/3R3/7 w")
    assert (board.piece_type_at(dsq.D6), board.color_at(dsq.D6)) == (dsq.ELEPHANT, dsq.WHITE)
    assert (board.piece_type_at(dsq.D7), board.color_at(dsq.D7)) == (dsq.ELEPHANT, dsq.BLACK)
    assert (board.piece_type_at(dsq.A1), board.color_at(dsq.A1)) == (None, None)
    assert [str(move) for move in board.legal_captures] == ["d6d7"]
    assert dsq.Board().legal_captures == []


def test_a_board_shows_its_rules_and_limit() -> None:
    endless = dsq.Board(rules="chinese", no_capture_limit=None)
    for board in (dsq.Board(), dsq.Board(rules="chinese"), endless, dsq.Board(no_capture_limit=7)):
        assert eval(repr(board), {"Board": dsq.Board}) == board
    assert repr(endless).endswith("w', rules='chinese', no_capture_limit=None)")


def test_a_game_that_is_over_has_no_moves() -> None:
    board = dsq.Board("3L3/7/7/7/7/7/7/7/r6 b")
    calls: list[Callable[[str], object]] = [board.push_uci, board.parse_uci, board.push_san, board.parse_san]
    for call in calls:
        with pytest.raises(dsq.IllegalMoveError, match="over"):
            call("a1a2")


def test_numbers_out_of_range_are_wrong_values() -> None:
    board = dsq.Board()
    calls: list[Callable[[int], object]] = [
        board.piece_at,
        board.move_of_action,
        dsq.square_name,
        dsq.materials,
        dsq.VecEnv,
        dsq.random_games,
        lambda number: dsq.random_positions(number, 2),
        lambda number: dsq.random_positions(2, number),
        lambda number: dsq.Board(no_capture_limit=number),
        lambda number: dsq.Limit(depth=number),
        lambda number: dsq.Engine(hash_mib=number),
        lambda number: dsq.Engine(hash_mib=1).analyse(board, dsq.Limit(depth=1), multipv=number),
        lambda number: dsq.VecEnv(2).board(number),
        lambda number: dsq.VecEnv(2).engine_actions(number),
        lambda number: dsq.VecEnv(2, seed=number),
    ]
    for call in calls:
        for number in (-1, 2**70, -(2**70)):
            with pytest.raises((ValueError, IndexError)):
                call(number)
    with pytest.raises(ValueError, match="expected a number from 0"):
        board.is_repetition(-1)


def test_signatures_show_their_defaults() -> None:
    for name in ("Board", "Engine", "VecEnv", "Features", "solve", "generate", "unpack", "random_games", "parse_line"):
        shown = str(inspect.signature(getattr(dsq, name)))
        assert "Ellipsis" not in shown
        assert "..." not in shown
        assert "_arguments" not in shown
        assert "rules='paper'" in shown
    assert "Ellipsis" not in str(inspect.signature(dsq.Board.svg))
