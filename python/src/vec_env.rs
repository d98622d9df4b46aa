//! `VecEnv`: a batch of games that step together, on Rust threads, in NumPy buffers that are reused.

use crate::actions::{self, ACTIONS, OBSERVATION, PLANES};
use crate::arguments::Positions;
use crate::batch::{self, Env, HISTORY_PLANES, Row, Setup};
use crate::board::PyBoard;
use crate::engine::prepare_networks;
use crate::errors::{self, IllegalMoveError};
use crate::interrupt::{SHARED, Threads, parallel};
use crate::memory::{self, collect};
use crate::rules::{PyRules, RulesArgument, rules};
use crate::states::{PyStates, StatesArgument};
use crate::tables::PyTables;
use crate::whole::whole;
use doushouqi::board::{Fen, Position, Square};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Limits};
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::available_parallelism;

/// Fewer games than this are one task.
const TASK: usize = 128;
/// The most positions of a history.
const MOST_HISTORY: usize = 64;
/// The most games of a batch: about 3 KB each.
const MOST: usize = 1 << 22;

/// The bytes of a game beside the buffers, about.
const GAME_BYTES: usize = 2048;
/// The bytes of a small engine, about.
const ENGINE_BYTES: usize = 10 << 20;

/// A buffer that Rust writes, and the read-only view of it that Python sees.
struct Buffer<T> {
    array: Py<PyArrayDyn<T>>,
    view: Py<PyAny>,
}

impl<T: Element + Copy> Buffer<T> {
    fn new(py: Python<'_>, shape: &[usize]) -> PyResult<Buffer<T>> {
        let array = zeros(py, shape)?;
        let view = array.call_method0("view")?;
        view.call_method1("setflags", (false,))?;
        Ok(Buffer { array: array.unbind(), view: view.unbind() })
    }

    fn view<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.view.bind(py).clone()
    }
}

/// A new array of zeros. Raises MemoryError.
fn zeros<'py, T: Element>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    // NumPy's own function raises MemoryError.
    let array = py.import("numpy")?.call_method1("zeros", (shape, numpy::dtype::<T>(py)))?;
    Ok(array.cast_into()?)
}

/// The buffers that a step writes.
struct Buffers {
    observations: Buffer<i8>,
    masks: Buffer<bool>,
    rewards: Buffer<f32>,
    side_rewards: Buffer<f32>,
    final_observations: Buffer<i8>,
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
            side_rewards: Buffer::new(py, &[n, 2])?,
            final_observations: Buffer::new(py, &[n, PLANES, 9, 7])?,
            dones: Buffer::new(py, &[n])?,
            ends: Buffer::new(py, &[n])?,
            turns: Buffer::new(py, &[n])?,
            clocks: Buffer::new(py, &[n])?,
            occurrences: Buffer::new(py, &[n])?,
            samples: Buffer::new(py, &[n])?,
        })
    }
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
        memory::need(n * GAME_BYTES)?;
        Ok(Games {
            envs: collect((0..n).map(|i| Env::new(setup.first(i))))?,
            legal: collect(std::iter::repeat_n(0, n))?,
            randoms: Games::randoms(n, seed)?,
        })
    }

    fn randoms(n: usize, seed: u64) -> PyResult<Vec<Random>> {
        collect((0..n).map(|i| Random::numbered(seed, i as u64)))
    }

    fn accepts(&self, i: usize, action: i64) -> bool {
        (0..ACTIONS as i64).contains(&action) && self.legal[i] >> action & 1 != 0
    }
}

/// Many games that step together, on Rust threads. Both sides are played by the caller.
///
/// The games begin in the position `fen`, the initial one by default, or each in a position of its own: `starts` are
/// boards and FENs, or an array of packed positions, one for each game.
///
/// Observations, masks and the other arrays are read-only views of buffers that every step overwrites: copy values that
/// must last. A game that ends begins again in the same step, unless `auto_reset` is False; then its mask is all true
/// and its actions have no effect. `threads` is 0 for one thread per core, shared by all batches.
#[pyclass(frozen, name = "VecEnv", module = "doushouqi")]
pub(crate) struct PyVecEnv {
    batch: Mutex<Batch>,
}

/// The games, and what belongs to them.
struct Batch {
    setup: Setup,
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
    borrow!(observations, masks, rewards, side_rewards, final_observations, dones, ends, turns, clocks, occurrences);
    let pool = threads.unwrap_or(&SHARED).get(py)?;
    py.detach(|| {
        let rows = (
            games.envs.par_iter_mut(),
            games.legal.par_iter_mut(),
            observations.par_chunks_mut(OBSERVATION),
            masks.par_chunks_mut(ACTIONS),
            rewards.par_iter_mut(),
            side_rewards.par_chunks_mut(2),
            final_observations.par_chunks_mut(OBSERVATION),
            dones.par_iter_mut(),
            ends.par_iter_mut(),
            turns.par_iter_mut(),
            clocks.par_iter_mut(),
            occurrences.par_iter_mut(),
        );
        pool.install(|| {
            rows.into_par_iter().with_min_len(TASK).enumerate().for_each(
                |(
                    i,
                    (env, legal, observation, mask, reward, side_rewards, last, done, end, turn, clock, occurrences),
                )| {
                    let row = &mut Row {
                        legal,
                        observation,
                        mask,
                        reward,
                        side_rewards,
                        last,
                        done,
                        end,
                        turn,
                        clock,
                        occurrences,
                    };
                    f(i, env, row);
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

/// The games that take part, as an array of booleans; all without one.
fn extract_active(active: Option<&Bound<'_, PyAny>>, n: usize) -> PyResult<Option<Vec<bool>>> {
    let Some(active) = active else { return Ok(None) };
    let wrong = || PyValueError::new_err(format!("`active` is an array of {n} booleans"));
    let array = active.py().import("numpy")?.call_method1("asarray", (active,))?;
    let array = array.cast_into::<PyArray1<bool>>().map_err(|_| wrong())?;
    if array.len() != n {
        return Err(wrong());
    }
    Ok(Some(array.try_readonly()?.as_array().to_vec()))
}

/// The numbers of games; all games without them.
fn extract_indices(indices: Option<&Bound<'_, PyAny>>, n: usize) -> PyResult<Vec<usize>> {
    let Some(indices) = indices else { return Ok((0..n).collect()) };
    let array = indices.py().import("numpy")?.call_method1("asarray", (indices,))?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let wrong = || PyValueError::new_err("indices are a one-dimensional array of integers");
    if !matches!(kind, 'i' | 'u') {
        return Err(wrong());
    }
    let array = array.call_method1("astype", ("int64",))?.cast_into::<PyArray1<i64>>().map_err(|_| wrong())?;
    let index = |&index: &i64| {
        let found = usize::try_from(index).ok().filter(|&index| index < n);
        found.ok_or_else(|| PyIndexError::new_err(format!("there is no game {index}")))
    };
    array.try_readonly()?.as_array().iter().map(index).collect()
}

/// The first positions: boards and FENs, or packed positions.
fn extract_starts(starts: &Positions<'_>, n: usize, setup: &Setup) -> PyResult<Vec<Fen>> {
    let options = setup.rules.options();
    if let Some(rules) = starts.boards().iter().filter_map(|board| board.rules).find(|rules| rules != options) {
        return Err(PyValueError::new_err(format!("a start is under the rules {rules}, not {options}")));
    }
    if starts.len() != n {
        return Err(PyValueError::new_err(format!("{n} games need as many starts, not {}", starts.len())));
    }
    (0..n).map(|row| starts.view().fen(row).map_err(PyValueError::new_err)).collect()
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
    #[pyo3(
        signature = (
            num_envs, *, rules = RulesArgument::default(), seed = 0, fen = None, starts = None,
            no_capture_limit = Some(Game::NO_CAPTURE_LIMIT), auto_reset = true, threads = 0
        ),
        text_signature = "(num_envs, *, rules='paper', seed=0, fen=None, starts=None, no_capture_limit=100, auto_reset=True, threads=0)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] num_envs: usize,
        rules: RulesArgument,
        #[pyo3(from_py_with = whole)] seed: u64,
        fen: Option<&str>,
        starts: Option<Positions<'_>>,
        #[pyo3(from_py_with = whole)] no_capture_limit: Option<u32>,
        auto_reset: bool,
        #[pyo3(from_py_with = whole)] threads: usize,
    ) -> PyResult<PyVecEnv> {
        if !(1..=MOST).contains(&num_envs) {
            return Err(PyValueError::new_err(format!("a batch has 1 to {MOST} games, not {num_envs}")));
        }
        if threads > 1024 {
            return Err(PyValueError::new_err(format!("at most 1024 threads, not {threads}")));
        }
        let rules = self::rules(rules.0);
        if rules.options().has_competition_rule() {
            let what = "a batch does not play the rules loop, judge and move-limit; a Board does";
            return Err(PyValueError::new_err(what));
        }
        let mut setup = Setup::new(rules, no_capture_limit, auto_reset);
        let starts = match (fen, starts) {
            (Some(_), Some(_)) => return Err(PyValueError::new_err("either `fen` or `starts`")),
            (_, Some(starts)) => extract_starts(&starts, num_envs, &setup)?,
            (Some(fen), None) => vec![fen.parse().map_err(errors::fen)?],
            (None, None) => vec![Fen::from(Position::start())],
        };
        setup.set_starts(starts).map_err(over)?;
        let threads = (threads > 0).then(|| Threads::new(threads));
        let buffers = Buffers::new(py, num_envs)?;
        let games = Games::new(&setup, num_envs, seed)?;
        let mut batch = Batch { setup, games, seed, buffers, threads };
        batch.restart(py, None)?;
        Ok(PyVecEnv { batch: Mutex::new(batch) })
    }

    /// The number of games.
    #[getter]
    fn num_envs(&self) -> PyResult<usize> {
        Ok(self.lock()?.games.envs.len())
    }

    /// The rules of the games.
    #[getter]
    fn rules(&self) -> PyResult<PyRules> {
        Ok(PyRules { options: *self.lock()?.setup.rules.options() })
    }

    /// Begins all games again, with the stream of `seed` and from the positions of `starts` if they are given, and returns
    /// observations and masks. With an array of booleans `active` only these games begin again.
    #[pyo3(signature = (*, seed = None, starts = None, active = None))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] seed: Option<u64>,
        starts: Option<Positions<'py>>,
        active: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let this = &mut *self.lock()?;
        let n = this.games.envs.len();
        let starts = starts.map(|starts| extract_starts(&starts, n, &this.setup)).transpose()?;
        let active = extract_active(active, n)?;
        if let Some(seed) = seed {
            this.games.randoms = Games::randoms(n, seed)?;
            this.seed = seed;
        }
        if let Some(starts) = starts {
            this.setup.set_starts(starts).map_err(over)?;
        }
        this.restart(py, active.as_deref())?;
        Ok((this.buffers.observations.view(py), this.buffers.masks.view(py)))
    }

    /// Makes a move in every game and returns observations, masks, rewards and dones.
    ///
    /// A reward is 1.0 if the move won the game for the side that made it, else 0.0: no move loses, and the opponent's
    /// reward is the negative. Raises IllegalMoveError and changes nothing if an action is not legal. With an array of
    /// booleans `active` the other games rest, whatever their actions.
    #[pyo3(signature = (actions, *, active = None))]
    #[expect(clippy::type_complexity, reason = "a tuple of four arrays")]
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        active: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let this = &mut *self.lock()?;
        let actions = extract_actions(actions, this.games.envs.len())?;
        let active = extract_active(active, actions.len())?;
        let rests = |i: usize| active.as_ref().is_some_and(|active| !active[i]);
        if let Some(i) = (0..actions.len()).find(|&i| !rests(i) && !this.games.accepts(i, actions[i])) {
            return Err(IllegalMoveError::new_err(format!("game {i}: action {} is not legal here", actions[i])));
        }
        // The histories grow by some bytes a ply.
        memory::need(32 * actions.len())?;
        let setup = &this.setup;
        each(py, this.threads.as_ref(), &mut this.games, &this.buffers, |i, env, row| {
            if rests(i) {
                env.rest(row);
            } else {
                batch::step(env, setup, i, actions[i] as usize, row);
            }
        })?;
        let Buffers { observations, masks, rewards, dones, .. } = &this.buffers;
        Ok((observations.view(py), masks.view(py), rewards.view(py), dones.view(py)))
    }

    /// A random legal action for every game, from the seed; the array is overwritten by the next call.
    fn sample_actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &mut *self.lock()?;
        let mut samples = this.buffers.samples.array.bind(py).try_readwrite().map_err(changed)?;
        let slice = samples.as_slice_mut().map_err(changed)?;
        let (pool, Games { legal, randoms, .. }) = (this.threads.as_ref().unwrap_or(&SHARED).get(py)?, &mut this.games);
        py.detach(|| {
            pool.install(|| {
                let games = (legal.par_iter(), randoms.par_iter_mut(), slice.par_iter_mut());
                let sample =
                    |(&legal, random, action): (&u32, _, &mut i64)| *action = batch::sample(legal, random) as i64;
                games.into_par_iter().with_min_len(8 * TASK).for_each(sample);
            });
        });
        Ok(this.buffers.samples.view(py))
    }

    /// The action that an engine chooses in every game after `nodes` nodes, with an empty transposition table: the same for
    /// the same game. With an array of booleans `active` the other games get the action 0.
    #[pyo3(signature = (nodes = 1000, *, active = None))]
    fn engine_actions<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] nodes: u64,
        active: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let this = &mut *self.lock()?;
        if nodes == 0 {
            return Err(PyValueError::new_err("the number of nodes is at least 1"));
        }
        let active = extract_active(active, this.games.envs.len())?;
        let limits = Limits::default().nodes(nodes);
        prepare_networks()?;
        memory::need(ENGINE_BYTES * available_parallelism().map_or(1, NonZero::get))?;
        let actions = parallel(py, |stop| -> Vec<i64> {
            let engine = || Engine::new(EngineOptions::default().hash_mib(1));
            let choose = |engine: &mut Engine, (i, env): (usize, &Env)| {
                if env.is_over() || active.as_ref().is_some_and(|active| !active[i]) {
                    return 0;
                }
                let game = env.game(&this.setup.rules, this.setup.no_capture_limit);
                engine.new_game();
                let best = engine.search(&game, &limits).stop(stop).run().best();
                best.map_or(0, |mv| actions::action(mv, game.position().turn()) as i64)
            };
            this.games.envs.par_iter().enumerate().with_min_len(4).map_init(engine, choose).collect()
        })?;
        Ok(PyArray1::from_vec(py, actions))
    }

    /// A best action by endgame tables in every game, and a random one where the tables do not contain the position. With
    /// an array of booleans `active` the other games get the action 0.
    #[pyo3(signature = (tables, *, active = None))]
    fn table_actions<'py>(
        &self,
        py: Python<'py>,
        tables: PyRef<'py, PyTables>,
        active: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let this = &mut *self.lock()?;
        let active = extract_active(active, this.games.envs.len())?;
        let source = tables.source_under(this.setup.rules.options())?;
        let Games { envs, legal, randoms } = &mut this.games;
        let choose = |(i, (env, (&mut legal, random))): (usize, (&Env, (&mut u32, &mut Random)))| {
            if env.is_over() || active.as_ref().is_some_and(|active| !active[i]) {
                return Ok(0);
            }
            let turn = env.position().turn();
            let best = source.moves(env.position())?.unwrap_or_default().into_iter();
            let best = best.map(|(mv, _)| actions::action(mv, turn)).find(|action| legal >> action & 1 != 0);
            Ok(best.unwrap_or_else(|| batch::sample(legal, random)) as i64)
        };
        let actions = parallel(py, |_| {
            let games = envs.par_iter().zip(legal.par_iter_mut().zip(randoms.par_iter_mut()));
            games.enumerate().with_min_len(64).map(choose).collect::<PyResult<Vec<i64>>>()
        })??;
        Ok(PyArray1::from_vec(py, actions))
    }

    /// The last positions of every game as a new int8 array of shape (num_envs, 17 * positions + 1, 9, 7).
    ///
    /// Planes 0 to 15 are the observation, plane 16 is 1 if the position has occurred before. The next 17 planes are the
    /// same for the position one ply earlier, and so on, all from the view of the side to move now; positions before the
    /// last capture, and before the first position, are 0. The last plane is the number of plies since the last capture,
    /// at most 127.
    #[pyo3(signature = (positions = 8))]
    fn history_planes<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] positions: usize,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        let this = &mut *self.lock()?;
        if !(1..=MOST_HISTORY).contains(&positions) {
            return Err(PyValueError::new_err(format!("a history has 1 to {MOST_HISTORY} positions, not {positions}")));
        }
        let planes = HISTORY_PLANES * positions + 1;
        let array = zeros(py, &[this.games.envs.len(), planes, 9, 7])?;
        let mut values = array.try_readwrite()?;
        let slice = values.as_slice_mut().map_err(changed)?;
        let pool = this.threads.as_ref().unwrap_or(&SHARED).get(py)?;
        py.detach(|| {
            pool.install(|| {
                let games = this.games.envs.par_iter().zip(slice.par_chunks_exact_mut(planes * Square::COUNT));
                games.with_min_len(TASK).for_each(|(env, out)| env.write_history(positions, out));
            });
        });
        drop(values);
        Ok(array)
    }

    /// The states of games, of all of them without `indices`; a game may be named several times.
    #[pyo3(signature = (indices = None))]
    fn get_states(&self, indices: Option<&Bound<'_, PyAny>>) -> PyResult<PyStates> {
        let this = &mut *self.lock()?;
        let indices = extract_indices(indices, this.games.envs.len())?;
        memory::need(indices.len().saturating_mul(GAME_BYTES))?;
        let envs = collect(indices.into_iter().map(|i| this.games.envs[i].clone()))?;
        Ok(PyStates::new(envs, &this.setup))
    }

    /// Goes on with other states: `States`, or a sequence of boards and FENs. The state of a number belongs to the game in
    /// `indices` at its place, or to the game of the same number. Observations, masks and the other arrays show them.
    #[pyo3(signature = (states, indices = None))]
    fn set_states(&self, py: Python<'_>, states: StatesArgument, indices: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let this = &mut *self.lock()?;
        let n = this.games.envs.len();
        let (envs, indices) = (states.envs(&this.setup)?, extract_indices(indices, n)?);
        if envs.len() != indices.len() {
            let what = format!("{} games need as many states, not {}", indices.len(), envs.len());
            return Err(PyValueError::new_err(what));
        }
        let mut new: Vec<Mutex<Option<Env>>> = collect((0..n).map(|_| Mutex::default()))?;
        for (env, i) in envs.into_iter().zip(indices) {
            new[i] = Mutex::new(Some(env));
        }
        let setup = &this.setup;
        each(py, this.threads.as_ref(), &mut this.games, &this.buffers, |i, env, row| {
            match new[i].lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(other) => env.replace(other, setup, row),
                None => env.rest(row),
            }
        })
    }

    /// A game as a board with the moves since the last capture; earlier ones have no effect.
    fn board(&self, #[pyo3(from_py_with = whole)] index: usize) -> PyResult<PyBoard> {
        let this = &mut *self.lock()?;
        let env =
            this.games.envs.get(index).ok_or_else(|| PyIndexError::new_err(format!("there is no game {index}")))?;
        Ok(PyBoard::of(env.game(&this.setup.rules, this.setup.no_capture_limit)))
    }

    /// The observations: int8 of shape (num_envs, 16, 9, 7), as `Board.observation`.
    #[getter]
    fn observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.lock()?.buffers.observations.view(py))
    }

    /// The legal actions: bool of shape (num_envs, 32).
    #[getter]
    fn action_masks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.lock()?.buffers.masks.view(py))
    }

    /// The rewards of both sides in the last step: float32 of shape (num_envs, 2), White's and Black's.
    #[getter]
    fn side_rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.lock()?.buffers.side_rewards.view(py))
    }

    /// The observation in which each game last ended, for the side to move there. It stays until the game ends again.
    #[getter]
    fn final_observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.lock()?.buffers.final_observations.view(py))
    }

    /// How each game ended in the last step: 0 not, 1 den, 2 last piece captured, 3 no legal move, 4 repetition,
    /// 5 no-capture limit. Without `auto_reset` it stays until the game begins again, as the dones of `step` do.
    #[getter]
    fn ends<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.lock()?.buffers.ends.view(py))
    }

    /// The side to move: 0 White, 1 Black.
    #[getter]
    fn turns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.lock()?.buffers.turns.view(py))
    }

    /// The plies since the last capture.
    #[getter]
    fn halfmove_clocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.lock()?.buffers.clocks.view(py))
    }

    /// How often the current position has occurred, this time included.
    #[getter]
    fn occurrences<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.lock()?.buffers.occurrences.view(py))
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.games.envs.len())
    }

    fn __repr__(&self) -> PyResult<String> {
        let this = &mut *self.lock()?;
        Ok(format!("VecEnv({}, rules='{}', seed={})", this.games.envs.len(), this.setup.rules.options(), this.seed))
    }
}

impl PyVecEnv {
    /// The batch, unless another thread uses it.
    fn lock(&self) -> PyResult<MutexGuard<'_, Batch>> {
        match self.batch.try_lock() {
            Ok(batch) => Ok(batch),
            Err(TryLockError::Poisoned(batch)) => Ok(batch.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let what = "another thread uses the environment, or did when this process was forked";
                Err(PyRuntimeError::new_err(what))
            }
        }
    }
}

impl Batch {
    /// All games, or the active ones, from the first position.
    fn restart(&mut self, py: Python<'_>, active: Option<&[bool]>) -> PyResult<()> {
        let setup = &self.setup;
        each(py, self.threads.as_ref(), &mut self.games, &self.buffers, |i, env, row| {
            if active.is_none_or(|active| active[i]) { env.reset(setup, i, row) } else { env.rest(row) }
        })
    }
}

/// The error for a first position, by its number, in which the game is over.
fn over(number: usize) -> PyErr {
    PyValueError::new_err(format!("the game is over in the first position (start {number})"))
}
