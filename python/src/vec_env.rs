//! `VecEnv`: a batch of games that step together, on Rust threads, in NumPy buffers that are reused.

use crate::actions::{ACTIONS, OBSERVATION, PLANES};
use crate::batch::{self, Env, Row, Setup};
use crate::board::PyBoard;
use crate::errors::{self, IllegalMoveError};
use crate::interrupt::{SHARED, Threads};
use crate::rules::{PyRules, RulesArgument};
use doushouqi::board::{Fen, Position, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Fewer games than this are one task.
const TASK: usize = 128;
/// The most games of a batch: about 3 KB each.
const MOST: usize = 1 << 22;

/// A buffer that Rust writes, and the read-only view of it that Python sees.
struct Buffer<T> {
    array: Py<PyArrayDyn<T>>,
    view: Py<PyAny>,
}

impl<T: Element + Copy> Buffer<T> {
    fn new(py: Python<'_>, shape: &[usize]) -> PyResult<Buffer<T>> {
        // NumPy's own function raises MemoryError.
        let array = py.import("numpy")?.call_method1("zeros", (shape, numpy::dtype::<T>(py)))?;
        let array = array.cast_into::<PyArrayDyn<T>>()?;
        let view = array.call_method0("view")?;
        view.call_method1("setflags", (false,))?;
        Ok(Buffer { array: array.unbind(), view: view.unbind() })
    }

    fn view<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.view.bind(py).clone()
    }
}

/// The buffers that a step writes.
struct Buffers {
    observations: Buffer<i8>,
    masks: Buffer<bool>,
    rewards: Buffer<f32>,
    dones: Buffer<bool>,
    ends: Buffer<i8>,
    turns: Buffer<i8>,
    clocks: Buffer<i32>,
    occurrences: Buffer<i32>,
    samples: Buffer<i64>,
}

impl Buffers {
    fn new(py: Python<'_>, n: usize) -> PyResult<Buffers> {
        Ok(Buffers {
            observations: Buffer::new(py, &[n, PLANES, 9, 7])?,
            masks: Buffer::new(py, &[n, ACTIONS])?,
            rewards: Buffer::new(py, &[n])?,
            dones: Buffer::new(py, &[n])?,
            ends: Buffer::new(py, &[n])?,
            turns: Buffer::new(py, &[n])?,
            clocks: Buffer::new(py, &[n])?,
            occurrences: Buffer::new(py, &[n])?,
            samples: Buffer::new(py, &[n])?,
        })
    }
}

/// A list of known length. Raises MemoryError instead of ending the process.
fn collect<T>(items: impl ExactSizeIterator<Item = T>) -> PyResult<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(items.len()).map_err(|e| PyMemoryError::new_err(format!("not enough memory: {e}")))?;
    list.extend(items);
    Ok(list)
}

/// The games, and separately the data that checking and choosing actions reads.
struct Games {
    envs: Vec<Env>,
    /// The legal actions of each game, as bits.
    legal: Vec<u32>,
    randoms: Vec<Random>,
}

impl Games {
    fn new(setup: &Setup, n: usize, seed: u64) -> PyResult<Games> {
        Ok(Games {
            envs: collect((0..n).map(|_| Env::new(setup)))?,
            legal: collect(std::iter::repeat_n(0, n))?,
            randoms: collect((0..n).map(|i| Random::numbered(seed, i as u64)))?,
        })
    }

    fn accepts(&self, i: usize, action: i64) -> bool {
        (0..ACTIONS as i64).contains(&action) && self.legal[i] >> action & 1 != 0
    }
}

/// Many games that step together, on Rust threads. Both sides are played by the caller.
///
/// Observations, masks and the other arrays are read-only views of buffers that every step overwrites: copy values that
/// must last. A game that ends begins again in the same step, unless `auto_reset` is False; then its mask is all true
/// and its actions have no effect. `threads` is 0 for one thread per core, shared by all batches.
#[pyclass(name = "VecEnv", module = "doushouqi")]
pub(crate) struct PyVecEnv {
    /// In a box, because Python aligns an object to 16 bytes only, and a position needs 64.
    setup: Box<Setup>,
    games: Games,
    seed: u64,
    buffers: Buffers,
    /// The threads of this batch; `None` for the threads that all batches share.
    threads: Option<Threads>,
}

/// Calls `f` for every game with its rows.
fn each(
    py: Python<'_>,
    threads: Option<&Threads>,
    games: &mut Games,
    buffers: &Buffers,
    f: impl Fn(usize, &mut Env, &mut Row<'_>) + Sync + Send,
) -> PyResult<()> {
    /// The values of a buffer, while nothing else in Rust borrows it.
    macro_rules! borrow {
        ($($name:ident),+) => {$(
            let mut $name = buffers.$name.array.bind(py).try_readwrite().map_err(changed)?;
            let $name = $name.as_slice_mut().map_err(changed)?;
        )+};
    }
    borrow!(observations, masks, rewards, dones, ends, turns, clocks, occurrences);
    let pool = threads.unwrap_or(&SHARED).get(py)?;
    py.detach(|| {
        let rows = (
            games.envs.par_iter_mut(),
            games.legal.par_iter_mut(),
            observations.par_chunks_mut(OBSERVATION),
            masks.par_chunks_mut(ACTIONS),
            rewards.par_iter_mut(),
            dones.par_iter_mut(),
            ends.par_iter_mut(),
            turns.par_iter_mut(),
            clocks.par_iter_mut(),
            occurrences.par_iter_mut(),
        );
        pool.install(|| {
            rows.into_par_iter().with_min_len(TASK).enumerate().for_each(
                |(i, (env, legal, observation, mask, reward, done, end, turn, clock, occurrences))| {
                    f(i, env, &mut Row { legal, observation, mask, reward, done, end, turn, clock, occurrences });
                },
            );
        });
    });
    Ok(())
}

/// The error for a buffer that other code has made unusable.
fn changed(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("a buffer of the environment cannot be written: {error}"))
}

/// The actions of all games as integers: a copy, since other Python threads may write to the array during a step.
fn extract_actions(actions: &Bound<'_, PyAny>, n: usize) -> PyResult<Vec<i64>> {
    let array = match actions.cast::<PyArray1<i64>>() {
        Ok(array) if array.len() == n => array.clone(),
        _ => convert_actions(actions, n)?,
    };
    Ok(array.try_readonly()?.as_array().to_vec())
}

/// Actions of other integer types, including lists.
fn convert_actions<'py>(actions: &Bound<'py, PyAny>, n: usize) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let array = actions.py().import("numpy")?.call_method1("asarray", (actions,))?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    if !matches!(kind, 'i' | 'u') || shape != [n] {
        let dtype = array.getattr("dtype")?;
        let what = format!("actions are an array of {n} integers, not {dtype} of shape {shape:?}");
        return Err(PyValueError::new_err(what));
    }
    Ok(array.call_method1("astype", ("int64",))?.cast_into::<PyArray1<i64>>()?)
}

#[pymethods]
impl PyVecEnv {
    #[new]
    #[pyo3(signature = (
        num_envs, *, rules = RulesArgument::default(), seed = 0, fen = None,
        no_capture_limit = Some(Game::NO_CAPTURE_LIMIT), auto_reset = true, threads = 0
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        num_envs: usize,
        rules: RulesArgument,
        seed: u64,
        fen: Option<&str>,
        no_capture_limit: Option<u32>,
        auto_reset: bool,
        threads: usize,
    ) -> PyResult<PyVecEnv> {
        if !(1..=MOST).contains(&num_envs) {
            return Err(PyValueError::new_err(format!("a batch has 1 to {MOST} games, not {num_envs}")));
        }
        if threads > 1024 {
            return Err(PyValueError::new_err(format!("at most 1024 threads, not {threads}")));
        }
        let start = match fen {
            Some(fen) => fen.parse().map_err(errors::fen)?,
            None => Fen::from(Position::start()),
        };
        let setup = Box::new(Setup::new(Rules::new(rules.0), start, no_capture_limit, auto_reset));
        if setup.is_over() {
            return Err(PyValueError::new_err("the game is over in the first position"));
        }
        let threads = (threads > 0).then(|| Threads::new(threads));
        let buffers = Buffers::new(py, num_envs)?;
        let games = Games::new(&setup, num_envs, seed)?;
        let mut env = PyVecEnv { setup, games, seed, buffers, threads };
        env.restart(py)?;
        Ok(env)
    }

    /// The number of games.
    #[getter]
    fn num_envs(&self) -> usize {
        self.games.envs.len()
    }

    /// The rules of the games.
    #[getter]
    fn rules(&self) -> PyRules {
        PyRules { options: *self.setup.rules.options() }
    }

    /// Begins all games again, with the stream of `seed` if it is given, and returns observations and masks.
    #[pyo3(signature = (*, seed = None))]
    fn reset<'py>(&mut self, py: Python<'py>, seed: Option<u64>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        if let Some(seed) = seed {
            self.games = Games::new(&self.setup, self.games.envs.len(), seed)?;
            self.seed = seed;
        }
        self.restart(py)?;
        Ok((self.buffers.observations.view(py), self.buffers.masks.view(py)))
    }

    /// Makes a move in every game and returns observations, masks, rewards and dones.
    ///
    /// A reward is 1.0 if the move won the game for the side that made it, else 0.0: no move loses, and the opponent's
    /// reward is the negative. Raises IllegalMoveError and changes nothing if an action is not legal.
    #[expect(clippy::type_complexity, reason = "a tuple of four arrays")]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let actions = extract_actions(actions, self.games.envs.len())?;
        if let Some(i) = (0..actions.len()).find(|&i| !self.games.accepts(i, actions[i])) {
            return Err(IllegalMoveError::new_err(format!("game {i}: action {} is not legal here", actions[i])));
        }
        let setup = &self.setup;
        each(py, self.threads.as_ref(), &mut self.games, &self.buffers, |i, env, row| {
            batch::step(env, setup, actions[i] as usize, row);
        })?;
        let Buffers { observations, masks, rewards, dones, .. } = &self.buffers;
        Ok((observations.view(py), masks.view(py), rewards.view(py), dones.view(py)))
    }

    /// A random legal action for every game, from the seed; the array is overwritten by the next call.
    fn sample_actions<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut samples = self.buffers.samples.array.bind(py).try_readwrite().map_err(changed)?;
        let slice = samples.as_slice_mut().map_err(changed)?;
        let (pool, Games { legal, randoms, .. }) = (self.threads.as_ref().unwrap_or(&SHARED).get(py)?, &mut self.games);
        py.detach(|| {
            pool.install(|| {
                let games = (legal.par_iter(), randoms.par_iter_mut(), slice.par_iter_mut());
                let sample =
                    |(&legal, random, action): (&u32, _, &mut i64)| *action = batch::sample(legal, random) as i64;
                games.into_par_iter().with_min_len(8 * TASK).for_each(sample);
            });
        });
        Ok(self.buffers.samples.view(py))
    }

    /// A game as a board with the moves since the last capture; earlier ones have no effect.
    fn board(&self, index: usize) -> PyResult<PyBoard> {
        let env =
            self.games.envs.get(index).ok_or_else(|| PyIndexError::new_err(format!("there is no game {index}")))?;
        Ok(PyBoard::of(env.game(&self.setup)))
    }

    /// The observations: int8 of shape (num_envs, 16, 9, 7), as `Board.observation`.
    #[getter]
    fn observations<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.buffers.observations.view(py)
    }

    /// The legal actions: bool of shape (num_envs, 32).
    #[getter]
    fn action_masks<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.buffers.masks.view(py)
    }

    /// How each game ended in the last step: 0 not, 1 den, 2 last piece captured, 3 no legal move, 4 repetition,
    /// 5 no-capture limit.
    #[getter]
    fn ends<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.buffers.ends.view(py)
    }

    /// The side to move: 0 White, 1 Black.
    #[getter]
    fn turns<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.buffers.turns.view(py)
    }

    /// The plies since the last capture.
    #[getter]
    fn halfmove_clocks<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.buffers.clocks.view(py)
    }

    /// How often the current position has occurred, this time included.
    #[getter]
    fn occurrences<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.buffers.occurrences.view(py)
    }

    fn __len__(&self) -> usize {
        self.games.envs.len()
    }

    fn __repr__(&self) -> String {
        format!("VecEnv({}, rules='{}', seed={})", self.games.envs.len(), self.setup.rules.options(), self.seed)
    }
}

impl PyVecEnv {
    /// All games from the first position.
    fn restart(&mut self, py: Python<'_>) -> PyResult<()> {
        let setup = &self.setup;
        each(py, self.threads.as_ref(), &mut self.games, &self.buffers, |_, env, row| env.reset(setup, row))
    }
}
