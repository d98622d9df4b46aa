//! The rules of competition against their texts in `docs/rules.md`, which are read here in the obvious way.

use doushouqi::board::{Color, Judge, Loop, Move, NoMove, PlayError, Position, Repetition, RuleOptions, Rules, Square};
use doushouqi::game::random::Random;
use doushouqi::game::{Game, GameEnd, Record};
use doushouqi::search::{Engine, EngineOptions, Limits};
use std::collections::{HashMap, HashSet};

const STARTS: [&str; 6] = [
    "7/7/3e3/7/7/7/3E3/7/7 w",
    "7/7/7/3e3/7/7/2CR3/7/7 b",
    "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w",
    "7/3D3/2c4/7/7/7/7/3w3/2R4 w",
    "2e4/7/7/7/7/7/7/4l2/r4E1 w",
    // White's cat has one way out of the corner.
    "7/7/7/7/3l3/7/e6/7/C6 w",
];

fn rules(text: &str) -> Rules {
    Rules::new(text.parse().unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// A game so far, as lists.
struct Story<'a> {
    positions: &'a [Position],
    moves: &'a [Move],
    rules: &'a Rules,
    no_capture_limit: Option<u32>,
}

fn is_trap(square: Square) -> bool {
    ["c1", "e1", "d2", "c9", "e9", "d8"].contains(&&*square.to_string())
}

fn is_trap_of(color: Color, square: Square) -> bool {
    is_trap(square) && (square.to_string().as_bytes()[1] <= b'2') == (color == Color::White)
}

impl Story<'_> {
    fn here(&self) -> &Position {
        &self.positions[self.moves.len()]
    }

    /// The moves of the side that makes the move with this number, before it.
    fn own(&self, number: usize) -> Vec<Move> {
        (0..number).filter(|i| i % 2 == number % 2).map(|i| self.moves[i]).collect()
    }

    /// 7-3: "If an animal has entered the same square more than three times ..., not if it entered a trap within the
    /// seven, and not for an animal that is chased."
    fn breaks_7_3(&self, mv: Move) -> bool {
        let own = self.own(self.moves.len());
        let seven: Vec<Move> =
            own[own.len().saturating_sub(7)..].iter().copied().filter(|m| m.animal == mv.animal).collect();
        let mut entered: Vec<Square> = seven.iter().map(|m| m.to).collect();
        entered.push(mv.to);
        let fen = self.here().to_fen();
        let (board, turn) = fen.split_once(' ').unwrap();
        let other: Position = format!("{board} {}", if turn == "w" { "b" } else { "w" }).parse().unwrap();
        let chased = other.moves(self.rules).iter().any(|reply| reply.is_capture(&other) && reply.to == mv.from);
        entered.iter().filter(|&&square| square == mv.to).count() > 3 && !seven.iter().any(|m| is_trap(m.to)) && !chased
    }

    /// 17-5: "If a side moves only one animal in 17 moves in a row, and the animal stays within five squares, ..."
    fn breaks_17_5(&self, mv: Move) -> bool {
        let own = self.own(self.moves.len());
        let Some(first) = own.len().checked_sub(17) else { return false };
        let squares: HashSet<Square> = own[first..].iter().map(|m| m.to).collect();
        let one_animal = own[first..].iter().all(|m| m.animal == mv.animal);
        one_animal && squares.len() <= 5 && squares.contains(&mv.to) && !own[first..].iter().any(|m| is_trap(m.to))
    }

    fn legal(&self) -> Vec<Move> {
        let options = self.rules.options();
        let allowed = |mv: &Move| {
            let repeats = self.positions[..=self.moves.len()].contains(&self.here().make(*mv));
            !(options.repetition == Repetition::Illegal && repeats
                || matches!(options.loop_rule, Loop::SevenThree | Loop::Servers) && self.breaks_7_3(*mv)
                || matches!(options.loop_rule, Loop::SeventeenFive | Loop::Servers) && self.breaks_17_5(*mv))
        };
        self.here().moves(self.rules).iter().copied().filter(allowed).collect()
    }

    /// "Who enters a square for the fourth time within them has lost", and its shorter forms.
    fn loses_by_entries(&self, entries: usize, moves: usize) -> bool {
        let mut own = self.own(self.moves.len() + 1);
        let Some(&last) = own.last() else { return false };
        let mover = !self.here().turn();
        own.reverse();
        own.truncate(moves);
        let row = own.iter().position(|m| m.animal != last.animal || is_trap_of(mover, m.to)).unwrap_or(own.len());
        own[..row].iter().filter(|m| m.to == last.to).count() >= entries
    }

    fn winner_by_loop(&self) -> Option<Color> {
        let (now, turn) = (self.moves.len(), self.here().turn());
        let lost = |entries, moves| self.loses_by_entries(entries, moves).then_some(turn);
        match self.rules.options().loop_rule {
            Loop::SevenThreeLoses => lost(4, 8),
            Loop::FiveTwo => lost(3, 6),
            Loop::TwoOne => lost(2, 3),
            Loop::RepeatEnd => {
                let before = (1..now).rev().find(|&n| now - n <= 16 && self.positions[n] == *self.here())?;
                let same = self.moves[now - 1].animal == self.moves[before - 1].animal;
                Some(if same { turn } else { !turn })
            }
            _ => None,
        }
    }

    fn winner_of_draw(&self) -> Option<Color> {
        let weight = |letter: char| match self.rules.options().judge {
            Judge::Number => 1,
            Judge::Weight => [3, 1, 1, 1, 1, 2, 4, 5]["RCWDPTLE".find(letter.to_ascii_uppercase()).unwrap()],
            _ => 0,
        };
        let fen = self.here().to_fen();
        let letters = || fen.split(' ').next().unwrap().chars().filter(|c| c.is_ascii_alphabetic());
        let white: i32 = letters().filter(char::is_ascii_uppercase).map(weight).sum();
        let black: i32 = letters().filter(char::is_ascii_lowercase).map(weight).sum();
        match white - black {
            0 => None,
            lead => Some(if lead > 0 { Color::White } else { Color::Black }),
        }
    }

    fn end(&self) -> Option<GameEnd> {
        let (here, options, plies) = (self.here(), self.rules.options(), self.moves.len() as u32);
        let past = &self.positions[..=self.moves.len()];
        let times = past.iter().filter(|p| *p == here).count();
        let pieces = |p: &Position| p.occupied().len();
        let quiet = past.iter().rev().take_while(|p| pieces(p) == pieces(here)).count() as u32 - 1;
        if let Some(winner) = here.winner() {
            let taken = here.side(!winner).is_empty();
            return Some(if taken { GameEnd::Captured(winner) } else { GameEnd::Den(winner) });
        }
        if let Some(winner) = self.winner_by_loop() {
            return Some(GameEnd::Loop(winner));
        }
        let drawn = match options.repetition {
            Repetition::Threefold => times >= 3,
            Repetition::Twofold => times >= 2,
            _ => false,
        };
        if drawn {
            Some(GameEnd::Repetition(self.winner_of_draw()))
        } else if self.legal().is_empty() {
            let loses = options.no_move == NoMove::Loss;
            Some(GameEnd::NoMove(if loses { Some(!here.turn()) } else { self.winner_of_draw() }))
        } else if self.no_capture_limit.is_some_and(|limit| quiet >= limit) {
            Some(GameEnd::NoCapture(self.winner_of_draw()))
        } else if options.move_limit.plies().is_some_and(|limit| plies >= limit) {
            Some(GameEnd::MoveLimit(self.winner_of_draw()))
        } else {
            None
        }
    }
}

/// Random games in which animals often go back and forth, under every combination of these rules.
#[test]
fn games_follow_the_texts_of_the_rules_of_competition() {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut count = |what: String| *seen.entry(what).or_default() += 1;
    let mut number = 0;
    for &loop_rule in Loop::ALL {
        for &judge in Judge::ALL {
            for text in [
                "paper",
                "paper,repetition=none",
                "chinese,repetition=none",
                "cazaux",
                "paper,move-limit=100,repetition=none",
            ] {
                let options = text.parse::<RuleOptions>().unwrap().loop_rule(loop_rule).judge(judge);
                let rules = Rules::new(options);
                if options.to_string().parse::<RuleOptions>().is_err() {
                    continue;
                }
                for start in STARTS.iter().cycle().take(12) {
                    number += 1;
                    let mut random = Random::numbered(25, number);
                    let limit = (random.below(3) == 0).then_some(40);
                    let mut game = Game::new(start.parse().unwrap(), rules.clone(), limit);
                    loop {
                        let (positions, moves) = (game.positions(), game.moves());
                        let story = Story { positions, moves, rules: &rules, no_capture_limit: limit };
                        let (end, legal) = (story.end(), story.legal());
                        let context = format!("{options} {limit:?} {start} {moves:?}");
                        assert_eq!(game.end(), end, "{context}");
                        assert_eq!(game.winner_of_draw(), story.winner_of_draw(), "{context}");
                        let all = game.position().moves(&rules);
                        if legal.len() < all.len() && end.is_none() {
                            count(format!("forbidden by {loop_rule}"));
                            let mv = *all.iter().find(|mv| !legal.contains(mv)).unwrap();
                            let error = game.clone().play(mv).unwrap_err();
                            assert!(matches!(error, PlayError::Loops { .. } | PlayError::Repeats { .. }), "{error}");
                            assert_eq!(game.parse(&mv.to_string()), Err(error), "{context}");
                        }
                        if let Some(end) = end {
                            let by =
                                if matches!(end, GameEnd::Loop(_)) { loop_rule.to_string() } else { judge.to_string() };
                            count(format!(
                                "{} {by} {}",
                                Record::new(game.clone()).conclusion().termination(),
                                end.winner().is_some()
                            ));
                            assert!(game.legal_moves().is_empty(), "{context}");
                            let text = Record::new(game.clone()).to_text().unwrap();
                            let read = Record::parse_all(&text).unwrap();
                            assert_eq!(read[0].game.end(), Some(end), "{text}");
                            break;
                        }
                        assert_eq!(game.legal_moves().to_vec(), legal, "{context}");
                        if moves.len() == 240 {
                            break;
                        }
                        let last = moves.len().checked_sub(2).map(|i| moves[i]);
                        let back =
                            legal.iter().find(|mv| last.is_some_and(|last| (last.from, last.to) == (mv.to, mv.from)));
                        let mv = match back {
                            Some(&mv) if random.below(8) > 0 => mv,
                            _ => *random.choose(&legal).unwrap(),
                        };
                        game.play(mv).unwrap();
                    }
                }
            }
        }
    }
    for what in [
        "forbidden by 7-3",
        "forbidden by 17-5",
        "forbidden by servers",
        "loop 7-3-loses true",
        "loop 5-2 true",
        "loop 2-1 true",
        "loop repeat-end true",
        "repetition number true",
        "repetition weight true",
        "repetition none false",
        "no-capture number true",
        "no-capture weight true",
        "move-limit none false",
        "move-limit number true",
        "move-limit weight true",
    ] {
        assert!(seen.get(what).is_some_and(|&times| times >= 5), "{what}: {seen:?}");
    }
}

fn played(start: &str, text: &str, moves: &str) -> Game {
    let mut game = Game::new(start.parse().unwrap(), rules(text), None);
    for mv in moves.split_whitespace() {
        game.play(game.parse(mv).unwrap_or_else(|error| panic!("{mv}: {error}"))).unwrap();
    }
    game
}

/// One short game for each rule, by hand.
#[test]
fn short_games_show_each_rule() {
    let elephants = "7/7/3e3/7/7/7/3E3/7/7 w";
    let there_and_back = |rounds: usize| "Ec3 Ec7 Ed3 Ed7 ".repeat(rounds);
    let refused = |text: &str, moves: &str, mv: &str| played(elephants, text, moves).parse(mv).unwrap_err().to_string();
    // The fourth entry into c3.
    let six = there_and_back(3);
    let loops = "d3c3 continues a loop, which the rule loop=7-3 forbids";
    assert_eq!(refused("paper,repetition=none,loop=7-3", &six, "Ec3"), loops);
    played(elephants, "paper,repetition=none,loop=7-3", &(six.clone() + "Ee3"));
    let end = |text: &str, moves: &str| played(elephants, text, moves).end();
    assert_eq!(end("paper,repetition=none,loop=7-3-loses", &(six + "Ec3")), Some(GameEnd::Loop(Color::Black)));
    assert_eq!(end("paper,loop=2-1", "Ec3 Ec7 Ed3 Ed7 Ec3"), Some(GameEnd::Loop(Color::Black)));
    assert_eq!(end("paper,loop=2-1", "Ec3 Ec7 Ed3 Ed7"), None);
    assert_eq!(end("paper,repetition=none,loop=5-2", &(there_and_back(2) + "Ec3")), Some(GameEnd::Loop(Color::Black)));
    // The first position has no move before it; the position after White's first move has.
    assert_eq!(end("paper,loop=repeat-end", &there_and_back(1)), None);
    assert_eq!(end("paper,loop=repeat-end", &(there_and_back(1) + "Ec3")), Some(GameEnd::Loop(Color::Black)));
    // A draw goes to the side with more.
    let more = "7/7/3e3/7/7/7/3E3/7/R6 w";
    for (judge, winner) in [("none", None), ("number", Some(Color::White)), ("weight", Some(Color::White))] {
        let drawn = played(more, &format!("paper,judge={judge}"), &there_and_back(2));
        assert_eq!(drawn.end(), Some(GameEnd::Repetition(winner)));
    }
    let level = played("7/7/3e3/7/7/7/2PD3/7/7 w", "paper,judge=weight", "");
    assert_eq!(level.winner_of_draw(), Some(Color::Black), "an elephant outweighs a panther and a dog");
}

/// After the limit of moves the game goes on without it, and its text says so.
#[test]
fn a_game_may_go_on_after_the_limit_of_moves() {
    let text = "paper,repetition=none,judge=number,move-limit=100";
    let game = played("7/7/3e3/7/7/7/3E3/7/7 w", text, &"Ec3 Ec7 Ed3 Ed7 ".repeat(25));
    assert_eq!((game.end(), game.plies_left()), (Some(GameEnd::MoveLimit(None)), Some(0)));
    let refused = game.parse("Ec3").unwrap_err();
    assert!(refused.is_over() && refused.to_string().contains("100 moves of both sides"), "{refused}");
    let mut on = game.without_draw_rule().unwrap();
    assert_eq!((on.end(), on.moves()), (None, game.moves()));
    assert_eq!(
        on.rules().options().to_string(),
        text.parse::<RuleOptions>().unwrap().move_limit(Default::default()).to_string()
    );
    assert!(!game.played_on().legal_moves().is_empty());
    let mut record = game.clone();
    let mv = on.parse("Ec3").unwrap();
    on.play(mv).unwrap();
    record.play_on(mv).unwrap();
    let text = Record::new(record).to_text().unwrap();
    assert_eq!(Record::parse_all(&text).unwrap()[0].game.moves(), on.moves());
    let early = text.replace("judge=number", "judge=number,move-limit=100");
    let error = Record::parse_all(&early).unwrap_err().to_string();
    assert!(error.contains("in the tag Rules"), "{error}");
}

/// Rules that contradict each other are one clear sentence, and order does not matter.
#[test]
fn contradictory_rules_are_refused() {
    let sentence = "loop=repeat-end and repetition=illegal contradict each other: both decide repeated positions";
    for text in
        ["cazaux,loop=repeat-end", "paper,loop=repeat-end,repetition=illegal", "loop=repeat-end,repetition=illegal"]
    {
        assert_eq!(text.parse::<RuleOptions>().unwrap_err().to_string(), sentence, "{text}");
    }
    assert!("paper,repetition=twofold,loop=repeat-end".parse::<RuleOptions>().is_err());
    assert!("cazaux,loop=repeat-end,repetition=none".parse::<RuleOptions>().is_ok());
    let looped: RuleOptions = "loop=repeat-end".parse().unwrap();
    assert_eq!(looped.with("repetition", "illegal").unwrap_err().to_string(), sentence);
    for wrong in ["loop=9-9", "judge=size", "move-limit=7", "move-limit="] {
        assert!(wrong.parse::<RuleOptions>().unwrap_err().to_string().contains("it is one of none, "), "{wrong}");
    }
}

/// The engine plays moves that the rules allow, and loses by a rule against loops only if every move does.
#[test]
fn the_engine_keeps_the_rules_against_loops() {
    let mut avoided = 0;
    for loop_rule in &Loop::ALL[1..] {
        let rules = rules(&format!("paper,repetition=none,loop={loop_rule},judge=weight,move-limit=100"));
        let mut engine = Engine::new(EngineOptions::default().hash_mib(1));
        for start in STARTS {
            let mut game = Game::new(start.parse().unwrap(), rules.clone(), Some(60));
            while game.end().is_none() {
                let mover = game.position().turn();
                let after = |mv: Move| {
                    let mut next = game.clone();
                    next.play(mv).unwrap();
                    next.end()
                };
                let loses = |mv: Move| after(mv) == Some(GameEnd::Loop(!mover));
                let losing = game.legal_moves().iter().filter(|mv| loses(**mv)).count();
                let best = engine.search(&game, &Limits::default().depth(2)).run().best().unwrap();
                avoided += usize::from(losing > 0);
                assert!(!loses(best) || losing == game.legal_moves().len(), "{loop_rule} {start} {best}");
                let winning = |end: Option<GameEnd>| end.is_some_and(|end| end.winner() == Some(mover));
                let can_win = game.legal_moves().iter().any(|&mv| after(mv) == Some(GameEnd::Loop(mover)));
                assert!(!can_win || winning(after(best)), "{loop_rule} {start} {best}");
                game.play(best).unwrap();
            }
        }
    }
    assert!(avoided > 20, "{avoided}");
}

/// A draw that will be judged is worth a win or a loss to the engine.
#[test]
fn the_engine_knows_how_a_draw_is_judged() {
    let value = |judge: &str, fen: &str| {
        let rules = rules(&format!("paper,repetition=none,judge={judge},move-limit=100"));
        let mut game = Game::new(fen.parse().unwrap(), rules, None);
        for _ in 0..24 {
            for mv in ["Ed2", "Ed8", "Ed3", "Ed7"] {
                game.play(game.parse(mv).unwrap()).unwrap();
            }
        }
        let mut engine = Engine::new(EngineOptions::default().hash_mib(1));
        engine.search(&game, &Limits::default().depth(6)).run().lines[0].score.value()
    };
    let (ahead, behind) = ("7/7/3e3/7/7/7/3E3/7/R6 w", "7/7/3e3/7/7/r6/3E3/7/7 w");
    assert!(value("number", ahead) > 1000 && value("weight", ahead) > 1000);
    assert!(value("number", behind) < -1000 && value("weight", behind) < -1000);
    assert_eq!([value("none", ahead), value("none", behind)], [0, 0]);
}
