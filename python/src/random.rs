//! Random games and positions from a seed.

use crate::actions;
use crate::interrupt::parallel;
use crate::outcome;
use crate::packed::{BYTES, pack_position};
use crate::rules::RulesArgument;
use doushouqi::board::{Animal, Color, Fen, Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::collections::TryReserveError;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most games or positions of a call.
const MOST: usize = 1 << 32;
/// The games or positions that all threads make between two checks for Ctrl-C.
const CHUNK: usize = 1 << 14;

fn check(count: usize) -> PyResult<()> {
    if count <= MOST { Ok(()) } else { Err(PyValueError::new_err(format!("at most {MOST} at once, not {count}"))) }
}

fn memory(error: TryReserveError) -> PyErr {
    PyMemoryError::new_err(format!("not enough memory: {error}"))
}

/// Makes `count` things in parallel and passes them to `take` in their order, a chunk at a time.
fn chunks<T: Send>(
    count: usize,
    stop: &AtomicBool,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(&[T]) -> Result<(), TryReserveError>,
) -> Result<(), TryReserveError> {
    for start in (0..count).step_by(CHUNK) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let made: Vec<T> = (start..(start + CHUNK).min(count)).into_par_iter().map(&make).collect();
        take(&made)?;
    }
    Ok(())
}

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

/// Many games, one after the other, as `random_games` returns them.
struct RandomGames {
    actions: Vec<u8>,
    masks: Vec<u32>,
    offsets: Vec<i64>,
    ends: Vec<i8>,
    winners: Vec<i8>,
}

impl RandomGames {
    /// No game, and memory for all entries of which there is one for each game.
    fn new(count: usize) -> Result<RandomGames, TryReserveError> {
        let (mut offsets, mut ends, mut winners) = (Vec::new(), Vec::new(), Vec::new());
        offsets.try_reserve_exact(count + 1)?;
        ends.try_reserve_exact(count)?;
        winners.try_reserve_exact(count)?;
        offsets.push(0);
        Ok(RandomGames { actions: Vec::new(), masks: Vec::new(), offsets, ends, winners })
    }

    fn add(&mut self, games: &[RandomGame]) -> Result<(), TryReserveError> {
        let plies = games.iter().map(|game| game.actions.len()).sum();
        self.actions.try_reserve(plies)?;
        self.masks.try_reserve(plies)?;
        for game in games {
            self.actions.extend_from_slice(&game.actions);
            self.masks.extend_from_slice(&game.masks);
            self.offsets.push(self.actions.len() as i64);
            self.ends.push(game.end);
            self.winners.push(game.winner);
        }
        Ok(())
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
    check(count)?;
    let rules = crate::rules::rules(rules.0);
    let play = |i| {
        let mut random = Random::numbered(seed, i as u64);
        RandomGame::play(Position::start().into(), &rules, no_capture_limit, &mut random)
    };
    let games = parallel(py, |stop| -> Result<_, TryReserveError> {
        let mut games = RandomGames::new(count)?;
        chunks(count, stop, play, |played| games.add(played))?;
        Ok(games)
    })?;
    let RandomGames { actions, masks, offsets, ends, winners } = games.map_err(memory)?;
    let arrays = PyDict::new(py);
    arrays.set_item("actions", PyArray1::from_vec(py, actions))?;
    arrays.set_item("masks", PyArray1::from_vec(py, masks))?;
    arrays.set_item("offsets", PyArray1::from_vec(py, offsets))?;
    arrays.set_item("ends", PyArray1::from_vec(py, ends))?;
    arrays.set_item("winners", PyArray1::from_vec(py, winners))?;
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
    check(count)?;
    if !(2..=2 * Animal::COUNT).contains(&pieces) {
        return Err(PyValueError::new_err(format!("a position has 2 to 16 pieces, not {pieces}")));
    }
    let rules = crate::rules::rules(rules.0);
    let one = |i| pack_position(&Random::numbered(seed, i as u64).position(pieces, &rules));
    let rows = parallel(py, |stop| -> Result<_, TryReserveError> {
        let mut rows: Vec<[i8; BYTES]> = Vec::new();
        rows.try_reserve_exact(count)?;
        chunks(count, stop, one, |made| {
            rows.extend_from_slice(made);
            Ok(())
        })?;
        Ok(rows)
    })?;
    PyArray1::from_vec(py, rows.map_err(memory)?.into_flattened()).reshape([count, BYTES])
}
