//! Six pieces on demand, from the tables of five. The tests take hours, so they are ignored by default.
//!
//! ```sh
//! DSQ_TABLES=tables DSQ_CACHE=cache cargo test --release --test api -- --ignored --nocapture six_pieces
//! ```
//!
//! `DSQ_CLASSES=ETPDvLT,ELTvPDW` takes these classes instead of 20 random ones; the directory then needs only the
//! tables that their captures lead to.

use doushouqi::board::{Piece, Position};
use doushouqi::game::random::Random;
use doushouqi::tablebase::{
    ClassCounts, CountCache, CountProgress, Material, Probe, TableProber, TableSet, Value, Wdl,
};
use std::env;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

const POSITIONS: usize = 200;
const CLASSES: usize = 20;

fn open() -> TableProber {
    let dir = |name| PathBuf::from(env::var_os(name).unwrap_or_else(|| panic!("{name} names no directory")));
    let set = TableSet::open(&dir("DSQ_TABLES")).unwrap();
    let rules = *set.rules().options();
    let cache = CountCache { dir: dir("DSQ_CACHE"), size: 1 << 40, memory: None };
    set.prober(&rules).unwrap().on_demand(&cache).unwrap()
}

fn counts() -> Vec<ClassCounts> {
    ClassCounts::read_all(Path::new("results/six-pieces.jsonl")).unwrap()
}

fn count(on_demand: &TableProber, position: &Position) {
    let start = Instant::now();
    on_demand.count(position, &|_: CountProgress| ControlFlow::Continue(())).unwrap();
    eprintln!("{}: counted in {:.1} s", Material::of(position).unwrap(), start.elapsed().as_secs_f64());
}

/// The value of a position, computed from its moves.
fn by_moves(on_demand: &TableProber, position: &Position) -> Option<Value> {
    on_demand.moves(position).unwrap().unwrap().first().map(|&(_, value)| value)
}

#[test]
#[ignore = "six pieces: tables of five pieces, and a minute for each class"]
fn six_pieces_have_the_values_of_their_moves() {
    let on_demand = open();
    let mut random = Random::new(6);
    let classes: Vec<Material> = match env::var("DSQ_CLASSES") {
        Ok(names) => names.split(',').map(|name| name.parse().unwrap()).collect(),
        Err(_) => {
            let all = counts();
            (0..CLASSES).map(|_| random.choose(&all).unwrap().class).collect()
        }
    };
    for class in &classes {
        let pieces: Vec<Piece> = class.pieces().collect();
        let (mut decided, mut seconds, mut slowest) = (0, 0.0, 0.0f64);
        let each = POSITIONS.div_ceil(classes.len());
        for i in 0..each {
            let position = random.placement(&pieces, on_demand.rules()).unwrap();
            if i == 0 {
                count(&on_demand, &position);
            }
            let start = Instant::now();
            let value = on_demand.value(&position).unwrap().unwrap();
            let took = start.elapsed().as_secs_f64();
            (seconds, slowest) = (seconds + took, slowest.max(took));
            decided += usize::from(value.wdl != Wdl::Draw);
            if let Some(best) = by_moves(&on_demand, &position) {
                assert_eq!(value, best, "{}", position.to_fen());
            }
        }
        let mean = 1e3 * seconds / each as f64;
        eprintln!("{class}: {each} positions, {decided} decided, {mean:.2} ms each, at most {:.2} ms", 1e3 * slowest);
    }
}

/// The longest line of all classes of six pieces, with the value of every position on it.
#[test]
#[ignore = "six pieces: tables of five pieces, and a minute for each class"]
fn six_pieces_longest_line() {
    let on_demand = open();
    let class: Material = "ETPDvLT".parse().unwrap();
    let counts = counts().into_iter().find(|counts| counts.class == class).unwrap();
    let fens = [counts.deepest.white, counts.deepest.black].into_iter().flatten();
    let positions: Vec<Position> = fens.map(|fen| Position::from_fen(&fen).unwrap()).collect();
    count(&on_demand, &positions[0]);
    let longest = positions.iter().filter_map(|position| on_demand.value(position).unwrap().unwrap().dtw).max();
    assert_eq!(longest, Some(272));
    for position in &positions {
        let start = Instant::now();
        let plies = on_demand.value(position).unwrap().unwrap().dtw.unwrap();
        let line = on_demand.line(position).unwrap();
        assert_eq!(line.len(), usize::from(plies));
        for (i, (_, position)) in line.iter().enumerate() {
            let left = plies - i as u16;
            assert_eq!(on_demand.value(position).unwrap().unwrap().dtw, Some(left), "{}", position.to_fen());
        }
        eprintln!("{plies} plies from {} in {:.1} s", position.to_fen(), start.elapsed().as_secs_f64());
    }
}
