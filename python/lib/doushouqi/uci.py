"""Engines in other processes that speak UCI, with the methods of `Engine`: `Engine.popen(command)` starts one."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

from ._core import Board, EngineError, IllegalMoveError, Info, Limit, Move

_WIN, _TABLE_WIN, _MOST = 1_000_000, 900_000, 880_000
"""The scores of a win, of a win by tables of unknown distance, and a bound of all others, as in `Info.score`."""
_LONGEST = 1_000_000
"""The most seconds that an engine is told."""
_STOPPING = 10.0
"""The seconds that an engine may take to stop after Ctrl-C."""


class UciOption(NamedTuple):
    """An option of an engine, as it declares it."""

    name: str
    type: str
    default: str = ""
    min: int | None = None
    max: int | None = None
    var: tuple[str, ...] = ()


class UciAnalysis:
    """A search of another engine, whose lines are read while it runs; the methods are those of `Analysis`.

    The engine is busy until all lines are read or `wait` or the end of the `with` block has read them.
    """

    def __init__(self, engine: UciEngine, board: Board) -> None:
        """Make the analysis of a search that has begun."""
        self._engine = engine
        self._board = board
        self._lines: dict[int, Info] = {}
        self._lock = threading.Lock()
        self._over = False
        self.best: Move | None = None
        """The move that the engine has chosen at the end; None if the game was over."""
        self.ponder: Move | None = None
        """The answer that the engine expects; None if it names none."""

    def __iter__(self) -> Iterator[Info]:
        return self

    def __next__(self) -> Info:
        while not self._over:
            info = self._read(None)
            if info is not None:
                return info
        raise StopIteration

    def _read(self, timeout: float | None) -> Info | None:
        """Read a line of the engine; returns the line of play that it contains."""
        with self._lock:
            if self._over:
                return None
            try:
                words = self._engine._line(timeout).split()
            except EngineError:
                self._free()
                raise
            if words[:1] == ["bestmove"]:
                self._free()
                self._end(words)
            info = _info(words[1:]) if words[:1] == ["info"] else None
            if info is not None:
                self._lines[info.multipv] = info
            return info

    def _end(self, words: Sequence[str]) -> None:
        self.best = self._move(self._board, words[1] if len(words) > 1 else "")
        if self.best is not None and words[2:3] == ["ponder"] and len(words) > 3:
            after = self._board.copy()
            after.push(self.best)
            self.ponder = self._move(after, words[3])

    def _move(self, board: Board, text: str) -> Move | None:
        if text in ("0000", "(none)", "none") and board.is_game_over():
            return None
        try:
            return board.parse_uci(text)
        except ValueError as error:
            raise EngineError(f"the engine's move cannot be played: {error}") from None

    def _free(self) -> None:
        self._over = True
        self._engine._busy.release()

    @property
    def info(self) -> Info | None:
        """The latest best line, or None."""
        return self._lines.get(1)

    @property
    def multipv(self) -> list[Info]:
        """The latest line of each rank, the best first."""
        return [self._lines[rank] for rank in sorted(self._lines)]

    @property
    def is_over(self) -> bool:
        """Whether the end of the search has been read."""
        return self._over

    def stop(self) -> None:
        """End the search, from any thread; it does not wait."""
        if not self._over:
            self._engine._send("stop")

    def wait(self, timeout: float | None = None) -> list[Info]:
        """Wait until the search is over, and return the best lines. Raises EngineError if a line takes longer."""
        while not self._over:
            self._read(timeout)
        return self.multipv

    def __enter__(self) -> UciAnalysis:
        return self

    def __exit__(self, *_arguments: object) -> None:
        self.stop()
        self.wait(self._engine.timeout)


class UciEngine:
    """An engine in another process, which speaks UCI. A context manager, which ends it.

    The rules and the no-capture limit of a board are sent as the options `Rules` and `NoCaptureLimit`, if the engine
    has them; an engine without them plays its own rules. A second search raises RuntimeError, whichever thread asks for
    it.
    """

    def __init__(
        self, command: str | Sequence[str], *, options: Mapping[str, Any] | None = None, timeout: float = 60.0
    ) -> None:
        """Start an engine and set options. Raises EngineError."""
        self.timeout = timeout
        """The seconds that the engine may take to answer outside of a search."""
        self.id: dict[str, str] = {}
        """What the engine says about itself: `name` and `author`."""
        self.options: dict[str, UciOption] = {}
        """The options that the engine declares, by their names in lower case."""
        self._set: dict[str, str] = {}
        self._busy = threading.Lock()
        self._writing = threading.Lock()
        self._pondering: tuple[Board, UciAnalysis] | None = None
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        words = shlex.split(command) if isinstance(command, str) else list(command)
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                # Ctrl-C is for this process alone.
                start_new_session=os.name == "posix",
            )
        except (OSError, ValueError, IndexError) as error:
            raise EngineError(f"the engine cannot be started: {error}") from None
        assert self._process.stdout is not None
        threading.Thread(target=_read_all, args=(self._process.stdout, self._queue), daemon=True).start()
        try:
            self._handshake()
            self.configure(options or {})
        except BaseException:
            self.quit()
            raise

    @classmethod
    def popen(
        cls, command: str | Sequence[str], *, options: Mapping[str, Any] | None = None, timeout: float = 60.0
    ) -> UciEngine:
        """Start an engine, as `Engine.popen` does."""
        return cls(command, options=options, timeout=timeout)

    def _handshake(self) -> None:
        self._send("uci")
        while (line := self._line(self.timeout)) != "uciok":
            words = line.split()
            if words[:1] == ["id"] and len(words) > 1:
                self.id[words[1]] = " ".join(words[2:])
            elif words[:1] == ["option"]:
                option = _option(words[1:])
                self.options[option.name.lower()] = option
        self._ready()

    def _ready(self) -> None:
        self._send("isready")
        while self._line(self.timeout) != "readyok":
            pass

    def _send(self, text: str) -> None:
        if "\n" in text or "\r" in text:
            raise ValueError("a command to an engine is one line")
        assert self._process.stdin is not None
        with self._writing:
            try:
                self._process.stdin.write(text + "\n")
                self._process.stdin.flush()
            except (OSError, ValueError):
                raise self._ended() from None

    def _line(self, timeout: float | None) -> str:
        try:
            line = self._queue.get(timeout=timeout)
        except queue.Empty:
            raise EngineError(f"the engine has not answered for {timeout} seconds") from None
        if line is None:
            # For the next reader.
            self._queue.put(None)
            raise self._ended()
        return line

    def _ended(self) -> EngineError:
        try:
            code = self._process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            return EngineError("the engine has closed its output")
        return EngineError(f"the engine has ended with the exit code {code}")

    def _take(self) -> None:
        """Make the engine busy. Pondering ends."""
        pondering, self._pondering = self._pondering, None
        if pondering is not None:
            pondering[1].stop()
            pondering[1].wait(self.timeout)
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("the engine is searching: stop that search, or use another engine")

    def configure(self, options: Mapping[str, Any]) -> None:
        """Set options: texts, numbers and booleans, None for a button. Raises EngineError for one that it lacks."""
        self._take()
        try:
            for name, value in options.items():
                self._option(name, value)
            self._ready()
        finally:
            self._busy.release()

    def _option(self, name: str, value: object) -> None:
        option = self.options.get(name.lower())
        if option is None:
            raise EngineError(f"the engine has no option {name!r}; it has {', '.join(self.options) or 'none'}")
        text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        self._send(f"setoption name {option.name}" + ("" if value is None else f" value {text}"))
        self._set[name.lower()] = text

    def _option_if_new(self, name: str, value: object) -> None:
        """Set an option that the engine has, unless it has this value."""
        option = self.options.get(name)
        if option is not None and self._set.get(name, option.default) != str(value):
            self._option(name, value)

    def _begin(
        self,
        board: Board,
        limit: Limit | None,
        multipv: int,
        root_moves: Sequence[Move] | None,
        ponder: bool = False,
    ) -> UciAnalysis:
        """Begin a search."""
        for move in root_moves or ():
            if not board.is_legal(move):
                raise IllegalMoveError(f"{move} is not legal here")
        if not 1 <= multipv <= 256 or (multipv > 1 and "multipv" not in self.options):
            raise ValueError(f"the engine cannot report {multipv} lines")
        go = _go(board, limit, root_moves, ponder)
        self._take()
        try:
            limits = board.no_capture_limit
            self._option_if_new("rules", board.rules)
            self._option_if_new("nocapturelimit", 0 if limits is None else limits)
            self._option_if_new("multipv", multipv)
            moves = "".join(f" {move}" for move in board.move_stack)
            self._send(f"position fen {board.root().fen()}" + (f" moves{moves}" if moves else ""))
            self._send(go)
        except BaseException:
            self._busy.release()
            raise
        return UciAnalysis(self, board.copy())

    def _finish(self, analysis: UciAnalysis) -> list[Info]:
        """Wait for the end of a search; Ctrl-C ends it first."""
        try:
            return analysis.wait()
        except EngineError:
            raise
        except BaseException:
            analysis.stop()
            analysis.wait(_STOPPING)
            raise

    def play(
        self, board: Board, limit: Limit, *, ponder: bool = False, root_moves: Sequence[Move] | None = None
    ) -> Move | None:
        """Return the best move found within the limit; None if the game is over.

        With `ponder` the engine then thinks about the answer that it expects, under the same limit. If that is the next
        board to be played, it continues there, and otherwise stops.
        """
        _check_limit(limit)
        expected = self._pondering
        if expected is not None and root_moves is None and _same(board, expected[0]):
            self._pondering = None
            self._send("ponderhit")
            analysis = expected[1]
        else:
            analysis = self._begin(board, limit, 1, root_moves)
        self._finish(analysis)
        if ponder and analysis.best is not None and analysis.ponder is not None:
            after = board.copy()
            after.push(analysis.best)
            after.push(analysis.ponder)
            if not after.is_game_over():
                self._pondering = (after, self._begin(after, limit, 1, None, ponder=True))
        return analysis.best

    def analyse(
        self, board: Board, limit: Limit, *, multipv: int = 1, root_moves: Sequence[Move] | None = None
    ) -> list[Info]:
        """Return the best lines found within the limit, the best first."""
        _check_limit(limit)
        return self._finish(self._begin(board, limit, multipv, root_moves))

    def analysis(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        multipv: int = 1,
        root_moves: Sequence[Move] | None = None,
    ) -> UciAnalysis:
        """Begin a search whose lines are read while it runs. Without a limit it runs until it is stopped."""
        return self._begin(board, limit, multipv, root_moves)

    def new_game(self) -> None:
        """Clear everything learned, for another game."""
        self._take()
        try:
            self._send("ucinewgame")
            self._ready()
        finally:
            self._busy.release()

    def stop(self) -> None:
        """End the search that another thread has begun; it returns the best lines found so far."""
        self._send("stop")

    def quit(self) -> None:
        """End the engine: by the command `quit`, and by force if it does not follow."""
        try:
            self._send("quit")
            self._process.wait(self.timeout)
        except (EngineError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            # What the engine has not read cannot be written any more.
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def __enter__(self) -> UciEngine:
        return self

    def __exit__(self, *_arguments: object) -> None:
        self.quit()


def _read_all(lines: IO[str], into: queue.SimpleQueue[str | None]) -> None:
    """Put the lines of an engine into a queue, and None at their end."""
    with lines:
        for line in lines:
            into.put(line.rstrip("\r\n"))
    into.put(None)


def _same(one: Board, other: Board) -> bool:
    """Whether two games are the same."""
    return one == other and one.move_stack == other.move_stack


def _check_limit(limit: object) -> None:
    """Raise TypeError without a limit: the search would not end."""
    if not isinstance(limit, Limit):
        raise TypeError(f"a search within a limit needs a Limit, not {type(limit).__name__}")


def _go(board: Board, limit: Limit | None, root_moves: Sequence[Move] | None, ponder: bool) -> str:
    """The command that begins a search."""
    words = ["go"]
    if ponder:
        words.append("ponder")
    if limit is None:
        words.append("infinite")
    else:
        if limit.time is limit.depth is limit.nodes is limit.mate is None and _clock(board, limit) is None:
            raise ValueError(f"the limit has no clock for {'White' if board.turn else 'Black'}, which is to move")
        numbers = {
            "wtime": _milliseconds(limit.white_clock),
            "btime": _milliseconds(limit.black_clock),
            "winc": _milliseconds(limit.white_inc),
            "binc": _milliseconds(limit.black_inc),
            "movestogo": limit.remaining_moves,
            "depth": limit.depth,
            "nodes": limit.nodes,
            "mate": limit.mate,
            "movetime": _milliseconds(limit.time),
        }
        for name, number in numbers.items():
            if number is not None:
                words += [name, str(number)]
    if root_moves is not None:
        words += ["searchmoves", *map(str, root_moves)]
    return " ".join(words)


def _clock(board: Board, limit: Limit) -> float | None:
    return limit.white_clock if board.turn else limit.black_clock


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else max(1, int(1000 * min(seconds, _LONGEST)))


def _option(words: Sequence[str]) -> UciOption:
    """The option of a line without its first word."""
    fields: dict[str, list[str]] = {}
    variants: list[list[str]] = []
    field: list[str] = []
    for word in words:
        if word in ("name", "type", "default", "min", "max", "var") and not (word == "name" and "name" in fields):
            field = []
            if word == "var":
                variants.append(field)
            else:
                fields[word] = field
        else:
            field.append(word)
    text = {name: " ".join(field) for name, field in fields.items()}
    return UciOption(
        text.get("name", ""),
        text.get("type", ""),
        text.get("default", ""),
        _number(text.get("min", "")),
        _number(text.get("max", "")),
        tuple(" ".join(variant) for variant in variants),
    )


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _info(words: Sequence[str]) -> Info | None:
    """The line of play of an `info`, without its first word; None if it has none."""
    numbers = {"depth": 0, "seldepth": 0, "multipv": 1, "nodes": 0, "time": 0, "tbhits": 0, "hashfull": 0}
    score: tuple[int, str, int | None, int | None] | None = None
    moves: list[Move] = []
    i = 0
    while i < len(words):
        word = words[i]
        if word == "string":
            break
        if word == "pv":
            for text in words[i + 1 :]:
                try:
                    moves.append(Move.from_uci(text))
                except ValueError:
                    break
            break
        if word == "score":
            score = _score(words[i + 1 : i + 4])
        elif word in numbers and i + 1 < len(words):
            numbers[word] = max(0, _number(words[i + 1]) or 0)
        i += 1
    if not moves or score is None:
        return None
    value, text, win, loss = score
    small = {name: min(number, 2**32 - 1) for name, number in numbers.items()}
    return Info._restore(
        (
            moves,
            value,
            text,
            win,
            loss,
            small["depth"],
            small["seldepth"],
            max(1, small["multipv"]),
            min(numbers["nodes"], 2**64 - 1),
            numbers["time"] / 1000,
            min(numbers["tbhits"], 2**64 - 1),
            small["hashfull"],
        )
    )


def _score(words: Sequence[str]) -> tuple[int, str, int | None, int | None] | None:
    """A score: its value, its text, and the plies to a certain win or loss. UCI counts the moves of the winner."""
    number = _number(words[1]) if len(words) > 1 else None
    if number is None or words[0] not in ("cp", "mate"):
        return None
    bounds = [word for word in words[2:] if word in ("lowerbound", "upperbound")]
    text = " ".join([words[0], str(number), *bounds])
    if words[0] == "cp":
        return max(-_MOST, min(_MOST, number)), text, None, None
    plies = min(2 * number - 1 if number > 0 else -2 * number, 10_000)
    sign = 1 if number > 0 else -1
    if bounds:
        return sign * (_TABLE_WIN - plies), text, None, None
    return sign * (_WIN - plies), text, plies if number > 0 else None, plies if number <= 0 else None
