"""Engines in other processes that speak UCI, with the methods of `Engine`: `Engine.popen(command)` starts one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import subprocess
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, Protocol

from ._core import Board, EngineError, IllegalMoveError, Info, Limit, Move

_WIN, _TABLE_WIN, _MOST = 1_000_000, 900_000, 880_000
"""The scores of a win, of a win by tables of unknown distance, and a bound of all others, as in `Info.score`."""
_LONGEST = 1_000_000
"""The most seconds that an engine is told."""
_QUITTING = 10.0
"""The seconds that an engine may take to quit."""
_EMPTY = "<empty>"
"""The empty text, as the value of an option."""
_REFUSALS = ("setoption:", "no such option", "unknown option", "error")
"""How lines begin, in lower case, by which engines refuse an option; UCI has no answer for that."""


class UciOption(NamedTuple):
    """An option of an engine, as it declares it."""

    name: str
    type: str
    default: str = ""
    min: int | None = None
    max: int | None = None
    var: tuple[str, ...] = ()


class _Search:
    """A search and what the engine has said about it."""

    def __init__(self, board: Board, seconds: float | None, patience: float, pondering: bool) -> None:
        """Make a search on a board, for which the engine may take `seconds` and some patience."""
        self.board = board
        self.patience = patience
        self.pondering = pondering
        self.unread: deque[Info] = deque()
        self.lines: dict[int, Info] = {}
        self.answer: list[str] | None = None
        """The words of the answer, which ends the search."""
        self.is_stopping = False
        """Whether the engine was told to stop."""
        self.late: float | None = None
        """When the engine is late."""
        if not pondering:
            self.start_clock(seconds)

    def start_clock(self, seconds: float | None) -> None:
        """Let the engine take `seconds` from now on, and some patience."""
        self.late = None if seconds is None else time.monotonic() + seconds + self.patience


class _Heard:
    """What an engine has said, sorted by a thread: each answer belongs to the search that ran when it came."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.changed = threading.Condition()
        self.search: _Search | None = None
        self.pings = 0
        self.pongs = 0
        self.lines: deque[str] = deque(maxlen=1000)
        """The latest lines that are neither lines of play nor answers."""
        self.has_ended = False

    def read(self, lines: IO[str]) -> None:
        """Sort lines up to their end."""
        with lines:
            for line in lines:
                with self.changed:
                    self._sort(line.rstrip("\r\n"))
                    self.changed.notify_all()
        with self.changed:
            self.has_ended = True
            self.changed.notify_all()

    def _sort(self, line: str) -> None:
        words, search = line.split(), self.search
        info = _info(words[1:]) if words[:1] == ["info"] else None
        if words == ["readyok"]:
            self.pongs += 1
        elif words[:1] == ["bestmove"]:
            if search is not None:
                search.answer = words
            self.search = None
        elif info is None:
            self.lines.append(line)
        elif search is not None:
            search.unread.append(info)
            search.lines[info.multipv] = info


class UciAnalysis:
    """A search of another engine, whose lines are read while it runs; the methods are those of `Analysis`."""

    def __init__(self, engine: UciEngine, search: _Search) -> None:
        """Make the analysis of a search that has begun."""
        self._engine = engine
        self._search = search
        self.best: Move | None = None
        """The move that the engine has chosen at the end; None if the game was over."""
        self.ponder: Move | None = None
        """The answer that the engine expects; None if it names none."""

    def __del__(self) -> None:
        """End the search when nothing refers to it any more."""
        with contextlib.suppress(Exception):
            self.stop()

    def __iter__(self) -> Iterator[Info]:
        return self

    def __next__(self) -> Info:
        search = self._search
        self._engine._wait_for(lambda: bool(search.unread) or search.answer is not None, search, None)
        with self._engine._heard.changed:
            if search.unread:
                return search.unread.popleft()
        self._end()
        raise StopIteration

    def __aiter__(self) -> AsyncIterator[Info]:
        return _lines(self)

    def _end(self) -> None:
        """Read the answer. Raises EngineError if its move cannot be played."""
        words = self._search.answer or []
        self.best = self._move(self._search.board, words[1] if len(words) > 1 else "")
        if self.best is not None and words[2:3] == ["ponder"] and len(words) > 3:
            after = self._search.board.copy()
            after.push(self.best)
            self.ponder = self._move(after, words[3])

    def _move(self, board: Board, text: str) -> Move | None:
        if text in ("0000", "(none)", "none") and board.is_game_over():
            return None
        try:
            return board.parse_uci(text)
        except ValueError as error:
            raise EngineError(f"the engine's move cannot be played: {error}") from None

    @property
    def info(self) -> Info | None:
        """The latest best line, or None."""
        return self._search.lines.get(1)

    @property
    def multipv(self) -> list[Info]:
        """The latest line of each rank, the best first."""
        with self._engine._heard.changed:
            return [self._search.lines[rank] for rank in sorted(self._search.lines)]

    @property
    def is_over(self) -> bool:
        """Whether the search is over."""
        return self._search.answer is not None or self._engine._heard.has_ended

    def stop(self) -> None:
        """End the search, from any thread; it does not wait. The next call of the engine does."""
        self._engine._stop(self._search)

    def wait(self, timeout: float | None = None) -> list[Info]:
        """Wait until the search is over, and return the best lines, the best first.

        Raises TimeoutError after `timeout` seconds; the search goes on. Raises EngineError if the engine ends, or names
        no move `UciEngine.timeout` seconds after the time of the limit or after `stop`.
        """
        search = self._search
        if not self._engine._wait_for(lambda: search.answer is not None, search, timeout):
            raise TimeoutError("the search is not over; it goes on")
        self._end()
        return self.multipv

    def __enter__(self) -> UciAnalysis:
        return self

    def __exit__(self, kind: object, *_arguments: object) -> None:
        # An exception of the block is not replaced by one of the engine.
        with contextlib.suppress(*([] if kind is None else [EngineError])):
            self.stop()
            self.wait()


class UciEngine:
    """An engine in another process, which speaks UCI. A context manager, which ends it.

    The rules and the no-capture limit of a board are sent as the options `Rules` and `NoCaptureLimit`, if the engine
    has them; an engine without them plays its own rules. While a search runs that was not told to stop, a second one
    raises RuntimeError, whichever thread asks for it.
    """

    def __init__(
        self, command: str | Sequence[str], *, options: Mapping[str, Any] | None = None, timeout: float = 60.0
    ) -> None:
        """Start an engine and set options. Raises EngineError."""
        self.timeout = timeout
        """The seconds that the engine may take to answer outside of a search, and beyond the time of a limit."""
        self.id: dict[str, str] = {}
        """What the engine says about itself: `name` and `author`."""
        self.options: dict[str, UciOption] = {}
        """The options that the engine declares, by their names in lower case."""
        self._set: dict[str, str] = {}
        self._turn = threading.RLock()
        self._writing = threading.RLock()
        self._pondering: tuple[Board, UciAnalysis] | None = None
        self._heard = _Heard()
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
        threading.Thread(target=self._heard.read, args=(self._process.stdout,), daemon=True).start()
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
        if not self._wait(lambda: "uciok" in self._heard.lines, self.timeout):
            raise self._silent()
        for line in list(self._heard.lines):
            words = line.split()
            if words[:1] == ["id"] and len(words) > 1:
                self.id[words[1]] = " ".join(words[2:])
            elif words[:1] == ["option"]:
                option = _option(words[1:])
                self.options[option.name.lower()] = option
        self._ready()

    def _ready(self) -> None:
        """Wait until the engine has read everything. What it says about earlier searches has then arrived."""
        with self._heard.changed:
            self._heard.pings += 1
            number = self._heard.pings
        self._send("isready")
        if not self._wait(lambda: self._heard.pongs >= number, self.timeout):
            raise self._silent()

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

    def _wait(self, ready: Callable[[], bool], timeout: float | None) -> bool:
        """Wait for something that the engine says; return whether it came in time. Raises EngineError if it ends."""
        heard = self._heard
        with heard.changed:
            limit = None if timeout is None else min(timeout, threading.TIMEOUT_MAX)
            heard.changed.wait_for(lambda: ready() or heard.has_ended, limit)
            if ready() or not heard.has_ended:
                return ready()
        raise self._ended()

    def _wait_for(self, ready: Callable[[], bool], search: _Search, timeout: float | None) -> bool:
        """As `_wait`, for something about a search. Raises EngineError if the engine is late."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            # `stop` may bring the time forward, and wakes all who wait.
            late = search.late
            first = min((at for at in (end, late) if at is not None), default=None)
            left = None if first is None else max(0.0, first - time.monotonic())
            if self._wait(lambda: ready() or search.late != late, left) and ready():  # noqa: B023 - it is called here
                return True
            now = time.monotonic()
            if end is not None and now >= end:
                return False
            if search.late is not None and now >= search.late:
                raise EngineError(f"the engine has not named a move: it is late by {search.patience} seconds")

    def _ended(self) -> EngineError:
        try:
            code = self._process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            return EngineError("the engine has closed its output")
        return EngineError(f"the engine has ended with the exit code {code}")

    def _silent(self) -> EngineError:
        return EngineError(f"the engine has not answered for {self.timeout} seconds")

    def _stop(self, search: _Search) -> None:
        """Tell the engine to end a search."""
        with self._heard.changed:
            if search.answer is not None or search.is_stopping:
                return
            search.is_stopping = True
            late = time.monotonic() + self.timeout
            search.late = late if search.late is None else min(late, search.late)
            self._heard.changed.notify_all()
        self._send("stop")

    @contextlib.contextmanager
    def _idle(self) -> Iterator[None]:
        """The engine without a search, for one thread at a time.

        Pondering, and a search that was told to stop, end first. Raises RuntimeError if another search runs.
        """
        with self._turn:
            search, self._pondering = self._heard.search, None
            if search is not None and search.pondering:
                self._stop(search)
            if search is not None and search.answer is None:
                if not search.is_stopping:
                    raise RuntimeError("the engine is searching: stop that search, or use another engine")
                if not self._wait(lambda: search.answer is not None, self.timeout):
                    raise EngineError(f"the engine has not ended its search for {self.timeout} seconds")
            yield

    def configure(self, options: Mapping[str, Any]) -> None:
        """Set options: texts, numbers and booleans, None for a button.

        Raises EngineError for an option that the engine lacks, a value that it does not declare, and a value that it
        refuses.
        """
        with self._idle():
            self._set_options({name: (value, self._command(name, value)) for name, value in options.items()})

    def _command(self, name: str, value: object) -> str:
        """Return the command that sets an option. Raises EngineError if the engine does not declare its value."""
        option = self.options.get(name.lower())
        if option is None:
            raise EngineError(f"the engine has no option {name!r}; it has {', '.join(self.options) or 'none'}")
        if value is None:
            return f"setoption name {option.name}"
        text = _text(value)
        if expected := _expected(option, text):
            raise EngineError(f"the option {option.name} is {expected}, not {text!r}")
        sent = _EMPTY if option.type == "string" and not text else text
        return f"setoption name {option.name} value {sent}"

    def _set_options(self, commands: Mapping[str, tuple[object, str]]) -> None:
        """Set options, and wait until the engine has done so. Raises EngineError if it refuses one."""
        self._heard.lines.clear()
        for name, (value, command) in commands.items():
            self._set.pop(name.lower(), None)
            self._send(command)
            self._ready()
            said = [line.removeprefix("info string ") for line in list(self._heard.lines)]
            refused = [line for line in said if line.lower().startswith(_REFUSALS)]
            if refused:
                raise EngineError(f"the engine refuses the option {name}: {refused[0]}")
            self._set[name.lower()] = "" if value is None else _text(value)

    def _new_options(self, options: Mapping[str, object]) -> dict[str, tuple[object, str]]:
        """Return the commands for those options that the engine has with another value."""
        wanted = {name: value for name, value in options.items() if name in self.options}
        return {
            name: (value, self._command(name, value))
            for name, value in wanted.items()
            if self._set.get(name, self.options[name].default) != _text(value)
        }

    def _begin(
        self,
        board: Board,
        limit: Limit | None,
        multipv: int,
        root_moves: Sequence[Move] | None,
        ponder: bool = False,
    ) -> UciAnalysis:
        """Begin a search."""
        if root_moves is not None and not root_moves:
            raise ValueError("root_moves names no move; None stands for all moves")
        for move in root_moves or ():
            if not board.is_legal(move):
                raise IllegalMoveError(f"{move} is not legal here")
        if not 1 <= multipv <= 256 or (multipv > 1 and "multipv" not in self.options):
            raise ValueError(f"the engine cannot report {multipv} lines")
        go = _go(board, limit, root_moves, ponder)
        search = _Search(board.copy(), _seconds(board, limit), self.timeout, ponder)
        with self._idle():
            limits = board.no_capture_limit
            options = {"rules": board.rules, "nocapturelimit": 0 if limits is None else limits, "multipv": multipv}
            self._set_options(self._new_options(options))
            moves = "".join(f" {move}" for move in board.move_stack)
            self._send(f"position fen {board.root().fen()}" + (f" moves{moves}" if moves else ""))
            # After this no answer to an earlier question is on its way.
            self._ready()
            analysis = UciAnalysis(self, search)
            with self._heard.changed:
                self._heard.search = search
            self._send(go)
        return analysis

    def _finish(self, analysis: UciAnalysis) -> list[Info]:
        """Wait for the end of a search; an exception, such as that of Ctrl-C, ends it."""
        try:
            return analysis.wait()
        except BaseException:
            with contextlib.suppress(EngineError):
                analysis.stop()
            raise

    def play(
        self, board: Board, limit: Limit, *, ponder: bool = False, root_moves: Sequence[Move] | None = None
    ) -> Move | None:
        """Return the best move found within the limit; None if the game is over.

        With `ponder` the engine then thinks about the answer that it expects, under the same limit. If that is the next
        board to be played, it continues there, and otherwise stops.
        """
        _check_limit(limit)
        analysis = self._expected(board, limit) if root_moves is None else None
        if analysis is None:
            analysis = self._begin(board, limit, 1, root_moves)
        self._finish(analysis)
        if ponder and analysis.best is not None and analysis.ponder is not None:
            after = board.copy()
            after.push(analysis.best)
            after.push(analysis.ponder)
            if not after.is_game_over():
                self._pondering = (after, self._begin(after, limit, 1, None, ponder=True))
        return analysis.best

    def _expected(self, board: Board, limit: Limit) -> UciAnalysis | None:
        """Return the search on the answer that was expected, if it is the one that was played."""
        with self._turn:
            if self._pondering is None or not _same(board, self._pondering[0]):
                return None
            analysis = self._pondering[1]
            search = analysis._search
            with self._heard.changed:
                if search.answer is not None or search.is_stopping:
                    return None
                search.pondering = False
                search.start_clock(_seconds(board, limit))
            self._pondering = None
            self._send("ponderhit")
            return analysis

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
        with self._idle():
            self._send("ucinewgame")
            self._ready()

    def stop(self) -> None:
        """End the search that another thread has begun; it returns the best lines found so far."""
        search = self._heard.search
        if search is not None:
            self._stop(search)

    def quit(self) -> None:
        """End the engine: by the command `quit`, and by force if it does not follow."""
        try:
            self._send("quit")
            self._process.wait(min(self.timeout, _QUITTING))
        except (EngineError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        except BaseException:
            self._process.kill()
            raise
        if self._process.stdin is not None:
            # What the engine has not read cannot be written any more.
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def __enter__(self) -> UciEngine:
        return self

    def __exit__(self, *_arguments: object) -> None:
        self.quit()


class _Lines(Protocol):
    """An analysis of either kind."""

    def __next__(self) -> Info: ...

    def stop(self) -> None: ...


async def _lines(analysis: _Lines) -> AsyncIterator[Info]:
    """The lines of an analysis for `async for`. A task that is cancelled ends the search."""
    try:
        while (info := await asyncio.to_thread(next, analysis, None)) is not None:
            yield info
    except asyncio.CancelledError:
        analysis.stop()
        raise


def _text(value: object) -> str:
    """Return the value of an option as UCI writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _expected(option: UciOption, text: str) -> str | None:
    """Return what an option declares, if a value is something else."""
    if option.type == "check" and text.lower() not in ("true", "false"):
        return "true or false"
    if option.type == "combo" and option.var and text.lower() not in [name.lower() for name in option.var]:
        return "one of " + ", ".join(option.var)
    if option.type == "spin":
        number = _number(text)
        low, high = (-(2**63) if option.min is None else option.min), (2**63 if option.max is None else option.max)
        if number is None or not low <= number <= high:
            return f"a number from {low} to {high}"
    return None


def _seconds(board: Board, limit: Limit | None) -> float | None:
    """Return the most seconds that a search may take under a limit; None if the limit has no time."""
    times = () if limit is None else (limit.time, _clock(board, limit))
    return min((min(seconds, _LONGEST) for seconds in times if seconds is not None), default=None)


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
    last = ""
    for word in words:
        # A value may be a word of the protocol, as in `default default var default`.
        is_value = (word == "name" and "name" in fields) or (last in ("var", word) and not field)
        if word in ("name", "type", "default", "min", "max", "var") and not is_value:
            field, last = [], word
            if word == "var":
                variants.append(field)
            else:
                fields[word] = field
        else:
            field.append(word)
    text = {name: " ".join(field) for name, field in fields.items()}
    if text.get("default") == _EMPTY:
        text["default"] = ""
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
