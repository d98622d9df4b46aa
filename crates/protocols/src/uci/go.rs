//! The arguments of `go`.

use super::output::quoted;
use doushouqi::board::{Color, Move};
use doushouqi::game::{Game, GameEnd};
use doushouqi::search::{Clock, Limits};
use std::time::Duration;

/// The longest time of a limit in milliseconds: a year.
const LONGEST: i64 = 365 * 24 * 3600 * 1000;
/// The time of a search whose command states a limit that cannot be used.
const FALLBACK: Duration = Duration::from_secs(1);
/// The illegal moves that a message names.
const NAMED: usize = 5;

/// The words that `go` knows. They end a list of moves.
const WORDS: [&str; 13] = [
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    "perft",
];

/// The arguments of `go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Go {
    pub limits: Limits,
    /// The moves to choose from, if not all.
    pub moves: Option<Vec<Move>>,
    /// Whether `bestmove` waits for `stop`.
    pub infinite: bool,
    pub ponder: bool,
    pub perft: Option<u32>,
    /// Whether `bestmove` names the move to ponder on: option `Ponder`.
    pub name_ponder_move: bool,
}

/// The time and the increment of each side, in milliseconds.
#[derive(Default)]
struct Times {
    remaining: [Option<u64>; 2],
    increment: [Option<u64>; 2],
    moves_to_go: Option<u32>,
}

impl Times {
    /// Sets the limits of time in a position with this side to move, and returns what is missing for them. A clock of the
    /// other side or an increment alone serve only if there is no other limit.
    fn apply(&self, turn: Color, limits: &mut Limits) -> Option<&'static str> {
        let (own, other) = (turn as usize, !turn as usize);
        let increment = self.increment[own].or(self.increment[other]).unwrap_or(0);
        let clock = |remaining| Clock {
            remaining: Duration::from_millis(remaining),
            increment: Duration::from_millis(increment),
            moves_to_go: self.moves_to_go,
        };
        let given = self.remaining.iter().chain(&self.increment).any(Option::is_some) || self.moves_to_go.is_some();
        if let Some(remaining) = self.remaining[own] {
            let increment = Duration::from_millis(self.increment[own].unwrap_or(0));
            limits.clock = Some(Clock { increment, ..clock(remaining) });
            return None;
        }
        if !given || *limits != Limits::default() {
            return None;
        }
        if let Some(remaining) = self.remaining[other] {
            limits.clock = Some(clock(remaining));
            return Some("the clock of the side to move is missing; the clock of the other side is used");
        }
        limits.movetime = Some(if increment > 0 { Duration::from_millis(increment) } else { FALLBACK });
        Some(match increment {
            0 => "wtime and btime are missing; the engine searches for a second",
            _ => "wtime and btime are missing; the increment is the time for this move",
        })
    }
}

/// The arguments of `go`, and the problems found in them. Without a game no move is legal.
pub(super) fn parse_go(text: &str, game: Option<&Game>) -> (Go, Vec<String>) {
    let mut go = Go::default();
    let mut problems = Vec::new();
    let mut times = Times::default();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "searchmoves" => {
                let listed: Vec<&str> = std::iter::from_fn(|| words.next_if(|word| !WORDS.contains(word))).collect();
                let (moves, problem) = search_moves(&listed, game);
                go.moves = go.moves.into_iter().chain(moves).reduce(|all, more| [all, more].concat());
                problems.extend(problem);
            }
            _ if WORDS.contains(&word) => {
                let Some(value) = words.next() else {
                    problems.push(format!("{word} is followed by a number"));
                    continue;
                };
                match value.parse() {
                    Ok(value) => set_number(&mut go, &mut times, word, value),
                    Err(_) => problems.push(format!("{word} is followed by a number, not {}", quoted(value))),
                }
            }
            _ => problems.push(format!("{} is not known", quoted(word))),
        }
    }
    let turn = game.map_or(Color::White, |game| game.position().turn());
    let note = if go.infinite { None } else { times.apply(turn, &mut go.limits) };
    if go.limits == Limits::default() && !go.infinite && go.perft.is_none() {
        // A malformed command must not start an endless search.
        if problems.is_empty() {
            go.infinite = true;
        } else {
            go.limits.movetime = Some(FALLBACK);
        }
    }
    problems.extend(note.map(str::to_owned));
    (go, problems)
}

/// Sets an argument that is a number.
fn set_number(go: &mut Go, times: &mut Times, word: &str, value: i64) {
    // Programs that play on after a time loss may send negative clocks.
    let value = value.max(0);
    let time = value.min(LONGEST) as u64;
    let small = u32::try_from(value).unwrap_or(u32::MAX);
    match word {
        "depth" => go.limits.depth = Some(small.max(1)),
        "nodes" => go.limits.nodes = Some(value.max(1) as u64),
        "mate" => go.limits.mate = Some(small.max(1)),
        "movetime" => go.limits.movetime = Some(Duration::from_millis(time)),
        "wtime" => times.remaining[0] = Some(time),
        "btime" => times.remaining[1] = Some(time),
        "winc" => times.increment[0] = Some(time),
        "binc" => times.increment[1] = Some(time),
        "movestogo" => times.moves_to_go = Some(small).filter(|moves| *moves > 0),
        _ => go.perft = Some(small),
    }
}

/// The legal moves of a list, if there are any, and what is wrong with the others.
fn search_moves(listed: &[&str], game: Option<&Game>) -> (Option<Vec<Move>>, Option<String>) {
    let Some(game) = game else { return (None, None) };
    let legal = game.legal_moves();
    let (mut moves, mut illegal) = (Vec::new(), Vec::new());
    for word in listed {
        match game.parse(word).ok().filter(|mv| legal.contains(mv)) {
            Some(mv) => moves.push(mv),
            None => illegal.push(*word),
        }
    }
    let named: Vec<String> = illegal.iter().take(NAMED).map(|word| quoted(word)).collect();
    let dots = if illegal.len() > NAMED { ", ..." } else { "" };
    let named = format!("{}{dots}", named.join(", "));
    match (moves.is_empty(), illegal.is_empty()) {
        (true, true) => (None, Some("searchmoves is followed by legal moves; all are searched".to_owned())),
        (true, false) => (None, Some(format!("searchmoves: no legal move in {named}; all are searched"))),
        (false, true) => (Some(moves), None),
        (false, false) => (Some(moves), Some(format!("searchmoves: not legal: {named}"))),
    }
}

/// The game to search, and remarks. A GUI may play on after a draw by repetition or by the no-capture limit: the
/// positions so far then no longer count as repeated, or the limit does not hold.
pub(super) fn played_on(game: &Game) -> (Game, Vec<&'static str>) {
    let (played_on, mut notes) = (game.played_on(), Vec::new());
    if matches!(game.end(), Some(GameEnd::Repetition(_))) {
        notes.push("the game is drawn by repetition; if it goes on, earlier positions do not count");
    }
    if played_on.no_capture_limit() != game.no_capture_limit() {
        notes.push("the game is drawn by NoCaptureLimit; if it goes on, there is no limit");
    }
    if matches!(game.end(), Some(GameEnd::MoveLimit(_))) {
        notes.push("the game is drawn by move-limit; if it goes on, there is no limit");
    }
    (played_on, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::board::{Position, Rules};

    fn parse(text: &str) -> (Go, Vec<String>) {
        parse_go(text, Some(&Game::new(Position::start(), Rules::default(), None)))
    }

    #[test]
    fn clocks_are_read() {
        let clock = |text: &str| parse(text).0.limits.clock.expect("a clock");
        let [remaining, increment] = [1000, 20].map(Duration::from_millis);
        let white = clock("binc 30 btime 3000 winc 20 wtime 1000");
        assert_eq!(white, Clock { remaining, increment, moves_to_go: None });
        assert_eq!(clock("wtime -5").remaining, Duration::ZERO);
        assert_eq!(clock("wtime 1000 binc 30").increment, Duration::ZERO);
        assert_eq!(clock("wtime 1000 movestogo 5").moves_to_go, Some(5));
        assert_eq!(clock("wtime 1000 movestogo 0").moves_to_go, None);
    }

    /// Without the clock of the side to move, what the command states about time is a limit, with a remark.
    #[test]
    fn incomplete_times_are_limits() {
        let ms = Duration::from_millis;
        let of = |remaining, increment, moves_to_go| {
            Limits::default().clock(Clock { remaining: ms(remaining), increment: ms(increment), moves_to_go })
        };
        for (text, limits) in [
            ("btime 5000", of(5000, 0, None)),
            ("btime 5000 binc 70 movestogo 9", of(5000, 70, Some(9))),
            ("btime 5000 winc 60 binc 70", of(5000, 60, None)),
            ("winc 100", Limits::default().movetime(ms(100))),
            ("binc 100", Limits::default().movetime(ms(100))),
            ("winc 0 binc 0", Limits::default().movetime(FALLBACK)),
            ("movestogo 10", Limits::default().movetime(FALLBACK)),
        ] {
            let (go, problems) = parse(text);
            assert_eq!((go.limits, go.infinite), (limits, false), "{text}");
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        }
        // Another limit suffices.
        for text in ["btime 5000 depth 3", "nodes 100 winc 5", "infinite movestogo 3", "mate 2 btime 100"] {
            let (go, problems) = parse(text);
            assert_eq!((go.limits.clock, go.limits.movetime), (None, None), "{text}");
            assert!(problems.is_empty(), "{text}: {problems:?}");
        }
    }

    #[test]
    fn a_malformed_limit_is_not_endless() {
        for text in ["depth", "depth x", "movetime -", "quickly", "searchmoves", "searchmoves a1a9", "mate x"] {
            let (go, problems) = parse(text);
            assert_eq!((go.limits, go.infinite), (Limits::default().movetime(FALLBACK), false), "{text}");
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        }
        assert!(parse("").0.infinite && parse("searchmoves a1a2").0.infinite);
        assert_eq!(parse("mate 3").0.limits.mate, Some(3));
    }

    /// An illegal move in a list leaves the legal ones.
    #[test]
    fn legal_moves_of_a_list_stay() {
        let moves = |text: &str| {
            let (go, problems) = parse(text);
            let words: Vec<String> = go.moves.unwrap_or_default().iter().map(Move::to_string).collect();
            (words.join(" "), problems.len(), go.limits.depth)
        };
        let expected = |moves: &str, problems| (moves.to_owned(), problems, Some(3));
        assert_eq!(moves("searchmoves a1a2 a7b7 g1g2 depth 3"), expected("a1a2 g1g2", 1));
        assert_eq!(moves("searchmoves a7b7 a1a2 depth 3"), expected("a1a2", 1));
        assert_eq!(moves("depth 3 searchmoves Eb3 a1a2"), expected("a3b3 a1a2", 0));
        assert_eq!(moves("searchmoves a1a2 depth 3 searchmoves g1g2"), expected("a1a2 g1g2", 0));
        assert_eq!(moves("searchmoves a7b7 depth 3"), expected("", 1));
        let many = format!("searchmoves a1a2 {} depth 3", "x ".repeat(1000));
        assert!(moves(&many) == expected("a1a2", 1) && parse(&many).1[0].len() < 100);
    }
}
