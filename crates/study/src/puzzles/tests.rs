use super::*;
use doushouqi::board::{RuleOptions, geometry::DEN};
use doushouqi::tablebase::Solver;
use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

/// The tables of two and three pieces.
fn tables() -> &'static Solver {
    static TABLES: OnceLock<Solver> = OnceLock::new();
    TABLES.get_or_init(|| Solver::solved(&RuleOptions::PAPER, 3).expect("three pieces are solved"))
}

fn at(fen: &str) -> Option<Puzzle> {
    let Ok(puzzle) = Puzzle::at(tables(), &fen.parse().expect("a position"));
    puzzle
}

fn generate(seed: u64, count: usize) -> Vec<Puzzle> {
    let job = Generate { pieces: 2..=3, materials: Vec::new(), large: 1, count, seed };
    let mut source = Source::solve(&RuleOptions::PAPER, 3).expect("three pieces are solved");
    let mut puzzles = Vec::new();
    job.run(&mut source, &mut |puzzle| puzzles.push(puzzle)).expect("tables in memory");
    puzzles
}

/// The result for the side that makes a move, counted without distances.
fn result(position: &Position, mv: Move) -> i32 {
    let next = position.make(mv);
    let Ok(value) = tables().value(&next);
    match value.expect("at most three pieces").wdl {
        Wdl::Win => -1,
        Wdl::Draw => 0,
        Wdl::Loss => 1,
    }
}

/// The moves that keep the value, by the definition.
fn keepers(position: &Position) -> (i32, Vec<Move>) {
    let moves = position.moves(tables().rules());
    let best = moves.iter().map(|&mv| result(position, mv)).max().expect("a move");
    (best, moves.iter().copied().filter(|&mv| result(position, mv) == best).collect())
}

#[test]
fn every_move_of_the_solver_is_the_only_one() {
    let puzzles = generate(7, 60);
    assert_eq!(puzzles.len(), 60);
    assert_eq!(puzzles, generate(7, 60), "the seed decides");
    assert_ne!(puzzles[0], generate(8, 60)[0]);
    for puzzle in &puzzles {
        let before: Position = puzzle.before.parse().unwrap();
        let rules = tables().rules();
        let last = Move::parse(&puzzle.last_move, &before, rules).unwrap();
        let mut position = before.play(last, rules).unwrap();
        assert_eq!(position.to_fen(), puzzle.fen);
        assert_eq!((puzzle.plies, puzzle.plies % 2), (puzzle.solution.len(), 1));
        for (ply, text) in puzzle.solution.iter().enumerate() {
            let mv = Move::parse(text, &position, rules).unwrap();
            assert_eq!(mv.notation(&position), puzzle.notation[ply]);
            let (best, keepers) = keepers(&position);
            if ply % 2 == 0 {
                assert_eq!(keepers, [mv], "{puzzle:?}");
                assert_eq!(best, i32::from(puzzle.goal == Goal::Win), "{puzzle:?}");
            } else {
                assert!(keepers.contains(&mv), "{puzzle:?}");
            }
            position = position.make(mv);
        }
        if puzzle.themes.contains(&Theme::Den) {
            assert!(position.side(!position.turn()).contains(DEN[position.turn()]));
        }
        assert!((1..=5).contains(&puzzle.difficulty) && (1..=MAX_DEPTH + 1).contains(&puzzle.depth));
        assert!(puzzle.alternatives < puzzle.moves, "{puzzle:?}");
        // A search that is deep enough for the whole game finds the move.
        if puzzle.dtw.is_some_and(|dtw| u32::from(dtw) <= MAX_DEPTH) {
            assert!(puzzle.depth <= u32::from(puzzle.dtw.unwrap()), "{puzzle:?}");
        }
    }
    let names: HashSet<&str> = puzzles.iter().map(|puzzle| puzzle.id.as_str()).collect();
    assert_eq!(names.len(), puzzles.len());
}

/// White's cat and Black's dog are equally far from the dens, so White has to run at once.
#[test]
fn a_race_is_a_race() {
    let race = at("7/7/3C3/7/7/7/3d3/7/7 w").expect("a puzzle");
    assert_eq!((race.goal, race.dtw, &race.solution[0][..]), (Goal::Win, Some(3), "d7d8"));
    assert!(race.themes.contains(&Theme::DenRace) && race.themes.contains(&Theme::Quiet), "{race:?}");
    // The dog is farther away: a detour wins as well.
    assert_eq!(at("7/7/3C3/7/7/d6/7/7/7 w"), None);
    // A lost position, and a finished game.
    assert_eq!(at("7/7/7/7/7/7/3d3/7/C6 w"), None);
    assert_eq!(at("3C3/7/7/7/7/7/3d3/7/7 b"), None);
}

#[test]
fn puzzles_are_written_for_other_programs() {
    let puzzle = at("7/7/3C3/7/7/7/3d3/7/7 w").expect("a puzzle");
    let read: Puzzle = serde_json::from_str(&puzzle.to_json()).unwrap();
    assert_eq!(read, puzzle);
    let csv = puzzle.to_csv();
    let fields: Vec<&str> = csv.split(',').collect();
    assert_eq!(fields.len(), csv_header().split(',').count());
    assert_eq!(fields[1], puzzle.before);
    assert_eq!(fields[2], format!("{} {}", puzzle.last_move, puzzle.solution.join(" ")));
    let anki = puzzle.to_anki();
    assert_eq!((anki.split('\t').count(), anki.lines().count()), (4, 1));
    assert!(anki.contains("d8") && anki.contains("difficulty-"), "{anki}");
    for theme in Theme::ALL {
        assert_eq!(serde_json::to_string(&theme).unwrap(), format!("{:?}", theme.as_str()));
    }
}

/// Recomputes every field of the committed puzzles.
#[test]
fn committed_puzzles_are_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/puzzles.jsonl");
    let text = std::fs::read_to_string(path).expect("results/puzzles.jsonl");
    let puzzles: Vec<Puzzle> = text.lines().map(|line| serde_json::from_str(line).expect("a puzzle")).collect();
    let names: HashSet<&str> = puzzles.iter().map(|puzzle| puzzle.id.as_str()).collect();
    assert_eq!(names.len(), puzzles.len());
    for (rules, count) in [("paper", 1000), ("chinese", 300)] {
        let of_rules: Vec<&Puzzle> = puzzles.iter().filter(|puzzle| puzzle.rules == rules).collect();
        assert_eq!(of_rules.len(), count, "{rules}");
        let rules: RuleOptions = rules.parse().expect("a preset");
        let source = Source::solve(&rules, MEMORY_PIECES).expect("four pieces are solved");
        for puzzle in of_rules {
            let position = puzzle.position().expect("a position");
            assert!(position.occupied().len() <= MEMORY_PIECES);
            assert_eq!(Puzzle::at(&source, &position).expect("in memory").as_ref(), Some(puzzle));
        }
    }
    for theme in Theme::ALL {
        assert!(puzzles.iter().any(|puzzle| puzzle.themes.contains(&theme)), "no puzzle has {theme}");
    }
}
