"""A small engine that speaks UCI, for tests: `python uci_program.py [what it does wrong]`."""

import sys
import threading

import doushouqi as dsq


def main(wrong: str) -> None:
    """Answers commands until `quit`."""
    engine = dsq.Engine(hash_mib=1)
    board = dsq.Board()
    rules, limit, lines = "paper", 100, 1
    search: threading.Thread | None = None
    analysis: dsq.Analysis | None = None
    ponderhit = threading.Event()

    def say(text: str) -> None:
        print(text, flush=True)

    def answer(analysis: dsq.Analysis, pondering: bool) -> None:
        for info in analysis:
            pv = " ".join(map(str, info.pv))
            say(f"info depth {info.depth} multipv {info.multipv} score {info.score_text} nodes {info.nodes} pv {pv}")
        found = analysis.wait()
        if pondering:
            ponderhit.wait()
        if wrong == "never":
            return
        if wrong == "illegal":
            say("bestmove a1a9")
        elif found:
            say("bestmove " + " ponder ".join(map(str, found[0].pv[:2])))
        else:
            say("bestmove 0000")

    for line in sys.stdin:
        words = line.split()
        if words[0] == "quit":
            break
        if words[0] == "uci" and wrong != "silent":
            say("id name Test engine\nid author the tests\noption name MultiPV type spin default 1 min 1 max 8")
            say("option name Rules type string default paper\noption name NoCaptureLimit type spin default 100")
            say("option name Style type combo default calm var calm var very wild\noption name Clear Hash type button")
            say("option name Book type string default <empty>")
            say("uciok")
        elif words[0] == "isready":
            if wrong == "twice" and analysis is not None:
                # The answer of the search before, once more.
                say("info depth 9 score cp 9 nodes 9 pv g3g4\nbestmove g3g4")
            say("readyok")
        elif words[0] == "setoption":
            name, _, value = line.strip().removeprefix("setoption name ").partition(" value ")
            if wrong == "refuse" and name == "Rules" and value != str(dsq.Rules()):
                say(f"info string setoption: no rules are called {value}")
                continue
            rules = value if name == "Rules" else rules
            if name == "Book":
                say(f"info string {line.strip()}")
            limit = int(value) if name == "NoCaptureLimit" else limit
            lines = int(value) if name == "MultiPV" else lines
        elif words[0] == "position":
            fen, _, moves = line.removeprefix("position fen ").partition(" moves ")
            board = dsq.Board(fen.strip(), rules=rules, no_capture_limit=limit or None)
            for text in moves.split():
                board.push_uci(text)
        elif words[0] == "go":
            if wrong == "crash":
                sys.exit(7)
            say(f"info string {line.strip()} {rules} {limit}")
            pondering = "ponder" in words
            depth = int(words[words.index("depth") + 1]) if "depth" in words else None
            ponderhit.clear()
            endless = pondering or depth is None
            analysis = engine.analysis(board, None if endless else dsq.Limit(depth=depth), multipv=lines)
            search = threading.Thread(target=answer, args=(analysis, pondering))
            search.start()
        elif words[0] in ("stop", "ponderhit") and analysis is not None and search is not None:
            analysis.stop()
            ponderhit.set()
            search.join()
    if analysis is not None and search is not None:
        analysis.stop()
        ponderhit.set()
        search.join()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
