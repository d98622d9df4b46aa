//! Random games and positions from a seed.

use crate::actions;
use crate::outcome;
use crate::packed::{BYTES, pack_position};
use crate::rules::RulesArgument;
use doushouqi::board::{Animal, Color, Fen, Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

/// A random game: its actions, the legal actions at each, its end and the winner.
struct RandomGame {
    actions: Vec<u8>,
    masks: Vec<u32>,
    end: i8,
    winner: i8,
}

impl RandomGame {
    /// Plays to the end with the calls that play any other game, one move at a time.
    fn play(start: Fen, rules: &Rules, limit: u32, random: &mut Random) -> RandomGame {
        let mut game = Game::from_fen(start, rules.clone(), Some(limit));
        let (mut actions, mut masks) = (Vec::new(), Vec::new());
        loop {
            let (moves, turn) = (game.legal_moves(), game.position().turn());
            let Some(&mv) = random.choose(&moves) else { break };
            masks.push(actions::mask(&moves, turn));
            actions.push(actions::action(mv, turn) as u8);
            game.play(mv).expect("it is a legal move");
        }
        let end = game.end();
        let winner = match end.and_then(|end| end.winner()) {
            Some(Color::White) => 1,
            Some(Color::Black) => -1,
            None => 0,
        };
        RandomGame { actions, masks, end: end.map_or(0, outcome::number), winner }
    }
}

/// Plays random games from the initial position, one move at a time, and returns them as arrays.
///
/// `actions` (uint8) and `masks` (uint32, a bit for each legal action) contain an entry for each ply; game i has the
/// plies from `offsets[i]` to `offsets[i + 1]`. `ends` contains the end of each game, as `VecEnv.ends`; `winners` is 1
/// for White, -1 for Black, 0 for a draw.
#[pyfunction]
#[pyo3(signature = (count, *, seed = 0, rules = RulesArgument::default(), no_capture_limit = Game::NO_CAPTURE_LIMIT))]
pub(crate) fn random_games<'py>(
    py: Python<'py>,
    count: usize,
    seed: u64,
    rules: RulesArgument,
    no_capture_limit: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let rules = Rules::new(rules.0);
    let games: Vec<RandomGame> = py.detach(|| {
        let play = |i| {
            let mut random = Random::numbered(seed, i as u64);
            RandomGame::play(Position::start().into(), &rules, no_capture_limit, &mut random)
        };
        (0..count).into_par_iter().map(play).collect()
    });
    let mut offsets = vec![0i64];
    for game in &games {
        offsets.push(offsets[offsets.len() - 1] + game.actions.len() as i64);
    }
    let arrays = PyDict::new(py);
    let actions: Vec<u8> = games.iter().flat_map(|game| game.actions.iter().copied()).collect();
    let masks: Vec<u32> = games.iter().flat_map(|game| game.masks.iter().copied()).collect();
    arrays.set_item("actions", PyArray1::from_vec(py, actions))?;
    arrays.set_item("masks", PyArray1::from_vec(py, masks))?;
    arrays.set_item("offsets", PyArray1::from_vec(py, offsets))?;
    arrays.set_item("ends", PyArray1::from_iter(py, games.iter().map(|game| game.end)))?;
    arrays.set_item("winners", PyArray1::from_iter(py, games.iter().map(|game| game.winner)))?;
    Ok(arrays)
}

/// Packed random positions of `pieces` pieces in which the game is not over, each with the same probability.
#[pyfunction]
#[pyo3(signature = (count, pieces, *, seed = 0, rules = RulesArgument::default()))]
pub(crate) fn random_positions<'py>(
    py: Python<'py>,
    count: usize,
    pieces: usize,
    seed: u64,
    rules: RulesArgument,
) -> PyResult<Bound<'py, PyArray2<i8>>> {
    if !(2..=2 * Animal::COUNT).contains(&pieces) {
        return Err(PyValueError::new_err(format!("a position has 2 to 16 pieces, not {pieces}")));
    }
    let rules = Rules::new(rules.0);
    let rows: Vec<[i8; BYTES]> = py.detach(|| {
        let one = |i| pack_position(&Random::numbered(seed, i as u64).position(pieces, &rules));
        (0..count).into_par_iter().map(one).collect()
    });
    PyArray1::from_vec(py, rows.into_flattened()).reshape([count, BYTES])
}
