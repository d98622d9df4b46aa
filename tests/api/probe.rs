//! One contract for all implementations of `Probe`: tables on disk, plain and packed, a solver in memory, the search's
//! bits, and an implementation outside the library.

use crate::slow;

use doushouqi::board::{Color, Piece, Position, RuleOptions, Rules};
use doushouqi::game::random::Random;
use doushouqi::search::Tables;
use doushouqi::tablebase::{
    CellValue, Generate, Index, Material, Options, Probe, ProbeWdl, Solver, TableSet, Value, Wdl, WdlTables, repack,
};
use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

/// The slow twin, with the moves and lines that the trait provides.
struct Slow {
    rules: Rules,
    tables: slow::Tables,
}

impl Probe for Slow {
    type Error = Infallible;

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, Infallible> {
        if let Some(value) = Value::of_finished(position) {
            return Ok(Some(value));
        }
        if position.pieces().count() > 3 {
            return Ok(None);
        }
        let value = match self.tables.value_of_board(&slow::board_of(position), position.turn()) {
            slow::Value::Draw => CellValue::Draw,
            slow::Value::NoMove => CellValue::NoMove,
            slow::Value::Decided(plies) => CellValue::Decided(plies),
        };
        Ok(Some(Value::of(value, &self.rules)))
    }
}

/// Positions of some materials, and the positions after each of their moves, some of which end the game.
fn positions(materials: &[&str], rules: &Rules) -> Vec<Position> {
    let mut random = Random::new(13);
    let mut all = Vec::new();
    for name in materials {
        let material: Material = name.parse().unwrap();
        let pieces: Vec<Piece> = material.pieces().collect();
        for _ in 0..40 {
            let position = random.placement(&pieces, rules).expect("there are such positions");
            let moves = position.moves(rules);
            all.extend(moves.iter().map(|&mv| position.make(mv)));
            all.push(position);
        }
    }
    all
}

/// Checks the contract of a probe. `truth` contains the expected values.
fn contract<P: Probe>(probe: &P, truth: &Slow, positions: &[Position])
where
    P::Error: Debug,
{
    let rules = probe.rules();
    for position in positions {
        let fen = position.to_fen();
        let Ok(wanted) = truth.value(position);
        let value = probe.value(position).unwrap();
        assert_eq!(value, wanted, "{fen}");
        assert_eq!(probe.wdl(position).unwrap(), value.map(|value| value.wdl), "{fen}");
        let Some(value) = value else {
            assert!(probe.moves(position).unwrap().is_none(), "{fen}");
            assert!(probe.line(position).unwrap().is_empty(), "{fen}");
            continue;
        };

        let moves = probe.moves(position).unwrap().expect("all that moves lead to is covered");
        let mut legal: Vec<_> = position.moves(rules).into_iter().collect();
        assert!(moves.is_sorted_by(|a, b| a.1 >= b.1), "{fen}: the best first");
        assert!(
            legal.iter().all(|mv| moves.iter().any(|(other, _)| other == mv)) && moves.len() == legal.len(),
            "{fen}"
        );
        for &(mv, of_move) in &moves {
            let Ok(after) = truth.value(&position.make(mv));
            assert_eq!(after.map(Value::before), Some(of_move), "{fen}");
        }
        // Equal moves are in the order of the move generator.
        legal.sort_by_key(|mv| std::cmp::Reverse(moves.iter().find(|(other, _)| other == mv).map(|found| found.1)));
        assert_eq!(moves.iter().map(|found| found.0).collect::<Vec<_>>(), legal, "{fen}");
        if let Some(best) = moves.first() {
            assert_eq!(best.1, value, "{fen}: the best move's value is the position's");
        }

        let line = probe.line(position).unwrap();
        assert_eq!(line.len(), value.dtw.map_or(0, usize::from), "{fen}");
        for plies in 0..4 {
            assert_eq!(probe.line_within(position, plies).unwrap(), line[..plies.min(line.len())], "{fen}");
        }
        let mut current = position.clone();
        for (mv, before) in line {
            assert_eq!(before, current, "{fen}");
            current = current.make(mv);
        }
        if value.dtw.is_some() {
            let over = current.winner().is_some() || current.moves(rules).is_empty();
            assert!(over, "{fen}: the line is played to the end");
        }
    }
}

fn check(options: &str, materials: &[&str]) {
    let options: RuleOptions = options.parse().unwrap();
    let mut truth = Slow { rules: Rules::new(options), tables: slow::Tables::new(&options) };
    for name in materials {
        let material: Material = name.parse().unwrap();
        let smaller = material.pieces().filter_map(|piece| material.without(piece));
        for material in smaller.chain([material]).filter(|material| material.len() <= 3) {
            let [white, black] = Color::ALL.map(|color| material.side(color).strongest_first().collect::<Vec<_>>());
            truth.tables.solve(&white, &black);
        }
    }
    let positions = positions(materials, &truth.rules);
    assert!(positions.iter().any(|p| p.winner().is_some()), "some games are over");
    contract(&truth, &truth, &positions);

    let solver = Solver::solved(&options, 3).unwrap();
    contract(&solver, &truth, &positions);

    contract(&Tables::solve(&options, 3).unwrap(), &truth, &positions);

    // Solved on request.
    let mut lazy = Solver::new(&options, 3, Options::default());
    for position in &positions {
        let Ok(wanted) = truth.value(position);
        assert_eq!(lazy.solve_position(position).unwrap(), wanted, "{}", position.to_fen());
    }

    let dir = tempfile::tempdir().unwrap();
    let job = Generate { pieces: 3, ..Generate::new(dir.path(), options) };
    job.run(&mut Solver::new(&options, 3, Options::default()), &|_| {}).unwrap();
    contract(&TableSet::open(dir.path()).unwrap().prober(&options).unwrap(), &truth, &positions);
    contract(&Tables::open(dir.path(), &options).unwrap(), &truth, &positions);
    repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
    contract(&TableSet::open(dir.path()).unwrap().prober(&options).unwrap(), &truth, &positions);

    let wdl = WdlTables::solve(&options, 3).unwrap();
    for position in &positions {
        let Ok(wanted) = truth.value(position);
        let Ok(found) = wdl.wdl(position);
        assert_eq!(found, wanted.map(|value| value.wdl), "{}", position.to_fen());
    }
}

/// Positions with a wanted value are found in every file: for each distance that the counts name, for draws, and for no
/// other distance.
fn check_random(set: TableSet) {
    let (stop, rules) = (AtomicBool::new(false), *set.rules().options());
    let counts: Vec<_> =
        set.manifest().classes.iter().map(|class| (class.class.clone(), class.stats.clone())).collect();
    let prober = set.prober(&rules).unwrap();
    let find = |material: Material, turn, wanted: &(dyn Fn(Value) -> bool + Sync), seed| {
        let (set, random) = (prober.set(), Random::new(seed));
        let search = |part| set.random(material, turn, wanted, &mut random.clone(), part, &stop).unwrap();
        let found = search(0..usize::MAX);
        // Block by block the same position is found.
        let parts = (0..set.blocks(material).unwrap()).map(|block| search(block..block + 1));
        assert_eq!(parts.flatten().next(), found);
        found
    };
    for (name, stats) in counts.into_iter().step_by(16) {
        let material: Material = name.parse().unwrap();
        for turn in Color::ALL {
            let stats = &stats[turn];
            for plies in 1..stats.by_plies.len() as u16 + 2 {
                let is_counted = stats.by_plies.get(usize::from(plies)).is_some_and(|&count| count > 0);
                let found = find(material, turn, &|value| value.dtw == Some(plies), u64::from(plies));
                assert_eq!(found.is_some(), is_counted, "{material} {turn} {plies}");
                let Some(position) = found else { continue };
                assert_eq!((Material::of(&position), position.turn()), (Some(material), turn));
                assert_eq!(prober.value(&position).unwrap().unwrap().dtw, Some(plies), "{position}");
            }
        }
    }
    // Of all positions of a rare value, many are found, and also those of materials with the same values.
    let is_rare = |value: Value| value.dtw == Some(2);
    for name in ["EvL", "DvC", "CvD"] {
        let material: Material = name.parse().unwrap();
        let index = Index::new(material, &rules).unwrap();
        let all = (0..index.cells()).filter_map(|cell| index.position(cell, Color::White));
        let all: HashSet<Position> = all.filter(|p| is_rare(prober.value(p).unwrap().unwrap())).collect();
        let found = (0..400).filter_map(|seed| find(material, Color::White, &is_rare, seed));
        let found: HashSet<Position> = found.collect();
        assert!(
            found.is_subset(&all) && found.len() * 2 > all.len().min(400),
            "{material}: {} {}",
            found.len(),
            all.len()
        );
    }
}

#[test]
fn positions_of_every_value_are_found() {
    for rules in ["paper", "chinese"] {
        let (options, dir): (RuleOptions, _) = (rules.parse().unwrap(), tempfile::tempdir().unwrap());
        let job = Generate { pieces: 3, ..Generate::new(dir.path(), options) };
        job.run(&mut Solver::new(&options, 3, Options::default()), &|_| {}).unwrap();
        check_random(TableSet::open(dir.path()).unwrap());
        repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
        check_random(TableSet::open(dir.path()).unwrap());
    }
}

#[test]
fn all_that_can_be_probed_keeps_the_contract() {
    check("paper", &["EvR", "LvT", "ERvL", "RvTR", "EPvLR"]);
}

#[test]
fn the_contract_holds_where_no_move_loses() {
    check("paper,no-move=loss", &["CvW", "CRvE", "EvTR", "LTvDC"]);
}

#[test]
fn a_win_is_better_than_a_draw_is_better_than_a_loss() {
    assert!(Wdl::Win > Wdl::Draw && Wdl::Draw > Wdl::Loss);
}
