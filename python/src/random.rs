//! Random games and positions from a seed.

use crate::actions;
use crate::arguments;
use crate::interrupt::parallel;
use crate::memory;
use crate::outcome;
use crate::packed::{BYTES, pack_position};
use crate::rules::RulesArgument;
use crate::whole::whole;
use doushouqi::board::{Animal, Color, Fen, Piece, Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most games or positions of a call.
const MOST: usize = 1 << 32;
/// The games or positions that all threads make between two checks for Ctrl-C.
const CHUNK: usize = 1 << 14;
/// The bytes of a random game and of a random position while they are made, about.
const GAME_BYTES: usize = 4096;
const POSITION_BYTES: usize = 256;

fn check(count: usize) -> PyResult<()> {
    if count <= MOST { Ok(()) } else { Err(PyValueError::new_err(format!("at most {MOST} at once, not {count}"))) }
}

/// Makes `count` things of about `bytes` bytes in parallel and passes them to `take` in their order, a chunk at a time.
fn chunks<T: Send>(
    count: usize,
    bytes: usize,
    stop: &AtomicBool,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(&[T]) -> PyResult<()>,
) -> PyResult<()> {
    for start in (0..count).step_by(CHUNK) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        memory::need(CHUNK * bytes)?;
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
    fn new(count: usize) -> PyResult<RandomGames> {
        let (mut offsets, ends, winners) =
            (memory::reserved(count + 1)?, memory::reserved(count)?, memory::reserved(count)?);
        offsets.push(0);
        Ok(RandomGames { actions: Vec::new(), masks: Vec::new(), offsets, ends, winners })
    }

    fn add(&mut self, games: &[RandomGame]) -> PyResult<()> {
        let plies = games.iter().map(|game| game.actions.len()).sum();
        memory::more(&mut self.actions, plies)?;
        memory::more(&mut self.masks, plies)?;
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
/// plies from `offsets[i]` to `offsets[i + 1]`. `ends` contains the end of each game, as `VecEnv.ends`, 6 for the limit of
/// moves and 7 for a loop; `winners` is 1 for White, -1 for Black, 0 for a draw.
#[pyfunction]
#[pyo3(
    signature = (count, *, seed = 0, rules = RulesArgument::default(), no_capture_limit = Game::NO_CAPTURE_LIMIT),
    text_signature = "(count, *, seed=0, rules='paper', no_capture_limit=100)"
)]
pub(crate) fn random_games<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = whole)] count: usize,
    #[pyo3(from_py_with = whole)] seed: u64,
    rules: RulesArgument,
    #[pyo3(from_py_with = whole)] no_capture_limit: u32,
) -> PyResult<Bound<'py, PyDict>> {
    check(count)?;
    let rules = crate::rules::rules(rules.0);
    let play = |i| {
        let mut random = Random::numbered(seed, i as u64);
        RandomGame::play(Position::start().into(), &rules, no_capture_limit, &mut random)
    };
    let games = parallel(py, |stop| -> PyResult<_> {
        let mut games = RandomGames::new(count)?;
        chunks(count, GAME_BYTES, stop, play, |played| games.add(played))?;
        Ok(games)
    })?;
    let RandomGames { actions, masks, offsets, ends, winners } = games?;
    let arrays = PyDict::new(py);
    arrays.set_item("actions", PyArray1::from_vec(py, actions))?;
    arrays.set_item("masks", PyArray1::from_vec(py, masks))?;
    arrays.set_item("offsets", PyArray1::from_vec(py, offsets))?;
    arrays.set_item("ends", PyArray1::from_vec(py, ends))?;
    arrays.set_item("winners", PyArray1::from_vec(py, winners))?;
    Ok(arrays)
}

/// Packed random positions in which the game is not over, each with the same probability: of a number of pieces, or of a
/// material such as 'EPvLR'.
#[pyfunction]
#[pyo3(
    signature = (count, pieces, *, seed = 0, rules = RulesArgument::default()),
    text_signature = "(count, pieces, *, seed=0, rules='paper')"
)]
pub(crate) fn random_positions<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = whole)] count: usize,
    pieces: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = whole)] seed: u64,
    rules: RulesArgument,
) -> PyResult<Bound<'py, PyArray2<i8>>> {
    check(count)?;
    let rules = crate::rules::rules(rules.0);
    let wanted = Wanted::extract(pieces)?;
    if let Wanted::Material(pieces) = &wanted {
        // The same test for every row: a material without a position has none for any seed.
        let first = Random::new(seed).placement(pieces, &rules);
        first
            .ok_or_else(|| PyValueError::new_err("no position of this material was found in which the game goes on"))?;
    }
    let one = |i| {
        let mut random = Random::numbered(seed, i as u64);
        match &wanted {
            Wanted::Pieces(pieces) => Some(random.position(*pieces, &rules)),
            Wanted::Material(pieces) => random.placement(pieces, &rules),
        }
        .map(|position| pack_position(&position))
    };
    let rows = parallel(py, |stop| -> PyResult<_> {
        let mut rows: Vec<[i8; BYTES]> = memory::reserved(count)?;
        chunks(count, POSITION_BYTES, stop, one, |made| {
            rows.extend(made.iter().flatten());
            Ok(())
        })?;
        Ok(rows)
    })?;
    let rows = rows?;
    let len = rows.len();
    PyArray1::from_vec(py, rows.into_flattened()).reshape([len, BYTES])
}

/// The pieces of random positions.
enum Wanted {
    Pieces(usize),
    Material(Vec<Piece>),
}

impl Wanted {
    fn extract(object: &Bound<'_, PyAny>) -> PyResult<Wanted> {
        if let Ok(text) = object.extract::<String>() {
            return Ok(Wanted::Material(arguments::material(&text)?.pieces().collect()));
        }
        let pieces: usize = whole(object)?;
        if !(2..=2 * Animal::COUNT).contains(&pieces) {
            return Err(PyValueError::new_err(format!("a position has 2 to 16 pieces, not {pieces}")));
        }
        Ok(Wanted::Pieces(pieces))
    }
}
