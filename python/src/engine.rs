//! `Engine`: the search, with limits as in python-chess.

use crate::analysis::{Background, Borrowed, PyAnalysis, Seat, Task};
use crate::board::PyBoard;
use crate::errors::{self, IllegalMoveError, TablesError};
use crate::info::PyInfo;
use crate::interrupt::{abandonable, interruptible, parallel};
use crate::limit::PyLimit;
use crate::memory;
use crate::moves::PyMove;
use crate::pickle::Keywords;
use crate::rules::RulesArgument;
use crate::tables::{OPENING_BYTES, check_memory};
use crate::whole::whole;
use doushouqi::board::{RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Limits, SearchResult, Tables};
use doushouqi::tablebase::{Classes, Probe};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// The bytes that a thread of a search takes beside its stack, about.
const THREAD_BYTES: usize = 8 << 20;

/// The engine. It keeps its transposition table from one search to the next, and makes one search at a time: while one
/// runs that was not told to stop, a second one raises RuntimeError, whichever thread asks for it. A search that was told
/// to stop, or that ponders, ends first. A context manager.
///
/// `tables` are a directory of endgame tables for `rules`, or a number of pieces (2 to 4) whose tables are solved in
/// memory. Boards under other rules then raise TablesError. A copy has the same options and an empty transposition table.
/// `Engine.popen` starts an engine in another process that speaks UCI.
#[pyclass(frozen, name = "Engine", module = "doushouqi")]
pub(crate) struct PyEngine {
    made_by: Arguments,
    /// Locked with the GIL only, so that a forked process finds it open.
    seat: Mutex<Arc<Seat>>,
    /// Whether the last search is about the answer that is expected.
    ponders: AtomicBool,
}

/// The arguments of the constructor.
struct Arguments {
    hash_mib: usize,
    threads: usize,
    evaluation: Evaluation,
    tables: Option<TablesArgument>,
    rules: RuleOptions,
}

#[derive(Clone)]
enum TablesArgument {
    Directory(PathBuf),
    Pieces(usize),
}

impl TablesArgument {
    fn extract(tables: &Bound<'_, PyAny>) -> PyResult<TablesArgument> {
        if let Ok(pieces) = tables.extract::<usize>() {
            if !(2..=4).contains(&pieces) {
                let what = format!("tables of 2 to 4 pieces can be solved here, not {pieces}");
                return Err(PyValueError::new_err(what));
            }
            return Ok(TablesArgument::Pieces(pieces));
        }
        let wrong = |_| PyTypeError::new_err("tables are a directory, or the number of pieces to solve");
        let path: PathBuf = tables.extract().map_err(wrong)?;
        Ok(TablesArgument::Directory(crate::tables::directories(path)?))
    }
}

impl Arguments {
    /// A new engine in its seat.
    fn make(&self, py: Python<'_>) -> PyResult<Seat> {
        prepare_networks()?;
        let tables = match self.tables.clone() {
            None => None,
            Some(TablesArgument::Pieces(pieces)) => {
                let rules = self.rules;
                memory::need(OPENING_BYTES)?;
                let classes = py.detach(|| Classes::new(&rules, pieces));
                check_memory((2..=pieces).flat_map(|pieces| classes.level(pieces)).map(|(_, class)| class))?;
                Some(abandonable(py, move || Tables::solve(&rules, pieces))?.map_err(errors::solve)?)
            }
            Some(TablesArgument::Directory(dir)) => {
                let rules = self.rules;
                Some(abandonable(py, move || Tables::open(&dir, &rules))?.map_err(errors::tables)?)
            }
        };
        let tables = tables.map(Arc::new);
        // Otherwise the transposition table would be smaller than was asked for.
        memory::need((self.hash_mib << 20).saturating_add(self.threads * (THREAD_BYTES + Engine::STACK)))?;
        let options = EngineOptions::default().hash_mib(self.hash_mib).threads(self.threads);
        let options = options.evaluation(self.evaluation.clone()).tables(tables.clone());
        Ok(Seat::new(py.detach(|| Engine::new(options)), tables))
    }
}

/// Reads the networks with the GIL, at the first call: a process that was forked while another thread reads them would
/// wait for ever.
pub(crate) fn prepare_networks() -> PyResult<()> {
    static PREPARED: Once = Once::new();
    memory::need(THREAD_BYTES)?;
    PREPARED.call_once(|| Engine::new(EngineOptions::default().hash_mib(1)).prepare(&Rules::default()));
    Ok(())
}

#[pymethods]
impl PyEngine {
    #[new]
    #[pyo3(
        signature = (*, hash_mib = 16, threads = 1, evaluation = "default", tables = None, rules = RulesArgument::default()),
        text_signature = "(*, hash_mib=16, threads=1, evaluation='default', tables=None, rules='paper')"
    )]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] hash_mib: usize,
        #[pyo3(from_py_with = whole)] threads: usize,
        evaluation: &str,
        tables: Option<&Bound<'_, PyAny>>,
        rules: RulesArgument,
    ) -> PyResult<PyEngine> {
        if !(1..=1 << 20).contains(&hash_mib) || !(1..=256).contains(&threads) {
            return Err(PyValueError::new_err("hash_mib is 1 to 1048576, threads 1 to 256"));
        }
        let evaluation = match evaluation {
            "default" => Evaluation::default(),
            "burnett" => Evaluation::Burnett,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "the evaluation is 'default' or 'burnett', not {evaluation:?}"
                )));
            }
        };
        let tables = tables.map(TablesArgument::extract).transpose()?;
        let made_by = Arguments { hash_mib, threads, evaluation, tables, rules: rules.0 };
        let seat = Mutex::new(Arc::new(made_by.make(py)?));
        Ok(PyEngine { made_by, seat, ponders: AtomicBool::new(false) })
    }

    /// Starts an engine that speaks UCI, and returns a `doushouqi.uci.UciEngine`, which has the methods of this class.
    ///
    /// `command` is a command line or a list of its words, `options` are set at once, and `timeout` limits the seconds that
    /// the engine may take to answer outside of a search. Raises EngineError.
    #[staticmethod]
    #[pyo3(signature = (command, *, options = None, timeout = 60.0))]
    fn popen<'py>(
        py: Python<'py>,
        command: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyAny>>,
        timeout: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keywords = PyDict::new(py);
        keywords.set_item("options", options)?;
        keywords.set_item("timeout", timeout)?;
        py.import("doushouqi.uci")?.getattr("UciEngine")?.call((command,), Some(&keywords))
    }

    /// The best move found within the limit; None if the game is over. `root_moves` restricts the choice.
    ///
    /// With `ponder` the engine goes on in the background with the answer that it expects, until its next call.
    #[pyo3(signature = (board, limit, *, ponder = false, root_moves = None))]
    fn play(
        &self,
        py: Python<'_>,
        board: PyRef<'_, PyBoard>,
        limit: PyLimit,
        ponder: bool,
        root_moves: Option<Vec<PyMove>>,
    ) -> PyResult<Option<PyMove>> {
        let task = task(board, Some(limit), root_moves)?;
        let found = self.search(py, &task, 1)?;
        if ponder && let Some(game) = expected(&task.game, &found) {
            let engine = self.idle(py, &game)?;
            Background::start(engine, Task { game, limits: Limits::default(), moves: None })?;
            self.ponders.store(true, Ordering::Relaxed);
        }
        Ok(found.best().map(PyMove::of))
    }

    /// The best lines found within the limit, the best first; `root_moves` restricts the first move. Raises
    /// IllegalMoveError if one of them is not legal.
    #[pyo3(signature = (board, limit, *, multipv = 1, root_moves = None))]
    fn analyse(
        &self,
        py: Python<'_>,
        board: PyRef<'_, PyBoard>,
        limit: PyLimit,
        #[pyo3(from_py_with = whole)] multipv: usize,
        root_moves: Option<Vec<PyMove>>,
    ) -> PyResult<Vec<PyInfo>> {
        let found = self.search(py, &task(board, Some(limit), root_moves)?, checked(multipv)?)?;
        Ok(found.lines.iter().map(PyInfo::of).collect())
    }

    /// Begins a search in the background and returns an `Analysis`, whose lines are read while it runs. Without a limit it
    /// runs until it is stopped.
    #[pyo3(signature = (board, limit = None, *, multipv = 1, root_moves = None))]
    fn analysis(
        slf: &Bound<'_, Self>,
        board: PyRef<'_, PyBoard>,
        limit: Option<PyLimit>,
        #[pyo3(from_py_with = whole)] multipv: usize,
        root_moves: Option<Vec<PyMove>>,
    ) -> PyResult<PyAnalysis> {
        let (task, multipv) = (task(board, limit, root_moves)?, checked(multipv)?);
        let mut engine = slf.get().idle(slf.py(), &task.game)?;
        engine.get().set_multipv(multipv);
        Ok(PyAnalysis::new(Background::start(engine, task)?, slf.clone().into_any().unbind()))
    }

    /// Clears everything learned, for another game.
    fn new_game(&self, py: Python<'_>) -> PyResult<()> {
        let mut engine = self.take(py)?;
        py.detach(|| engine.get().new_game());
        Ok(())
    }

    /// For pickle.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Keywords<'py>> {
        let Arguments { hash_mib, threads, evaluation, tables, rules } = &self.made_by;
        let keywords = PyDict::new(py);
        keywords.set_item("hash_mib", hash_mib)?;
        keywords.set_item("threads", threads)?;
        keywords
            .set_item("evaluation", if matches!(evaluation, Evaluation::Burnett) { "burnett" } else { "default" })?;
        match tables {
            None => {}
            Some(TablesArgument::Directory(path)) => keywords.set_item("tables", path)?,
            Some(TablesArgument::Pieces(pieces)) => keywords.set_item("tables", pieces)?,
        }
        keywords.set_item("rules", rules.to_string())?;
        Ok((PyTuple::empty(py), keywords))
    }

    /// Ends the search that another thread has begun; it returns the best lines found so far.
    fn stop(&self) {
        self.seat_here().stop();
    }

    /// Ends the search, and does not wait. An engine in another process also ends.
    fn quit(&self) {
        self.stop();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_arguments), text_signature = "($self, *arguments)")]
    fn __exit__(&self, _arguments: &Bound<'_, PyTuple>) {
        self.quit();
    }
}

impl Drop for PyEngine {
    fn drop(&mut self) {
        self.stop();
    }
}

fn checked(multipv: usize) -> PyResult<usize> {
    match multipv {
        1..=32 => Ok(multipv),
        _ => Err(PyValueError::new_err(format!("multipv is 1 to 32, not {multipv}"))),
    }
}

/// The search of a board's game; without a limit it is endless.
fn task(board: PyRef<'_, PyBoard>, limit: Option<PyLimit>, root_moves: Option<Vec<PyMove>>) -> PyResult<Task> {
    let game = board.game.clone();
    let limits = limit.map_or(Ok(Limits::default()), |limit| limit.limits(game.position().turn()))?;
    let legal = game.legal_moves();
    let find = |wanted: PyMove| {
        let found = legal.iter().copied().find(|&mv| PyMove::of(mv) == wanted);
        found.ok_or_else(|| IllegalMoveError::new_err(format!("{} is not legal here", wanted.uci())))
    };
    if root_moves.as_ref().is_some_and(Vec::is_empty) {
        return Err(PyValueError::new_err("root_moves names no move; None stands for all moves"));
    }
    let moves = root_moves.map(|moves| moves.into_iter().map(find).collect()).transpose()?;
    Ok(Task { game, limits, moves })
}

/// The game after the best move and the best answer, if it goes on there.
fn expected(game: &Game, found: &SearchResult) -> Option<Game> {
    let &[best, answer, ..] = &found.lines.first()?.pv[..] else { return None };
    let mut game = game.clone();
    game.play(best).ok()?;
    game.play(answer).ok()?;
    game.end().is_none().then_some(game)
}

impl PyEngine {
    fn seat_here(&self) -> MutexGuard<'_, Arc<Seat>> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seat in this process. After a fork the engine is taken over, or made again if a search had it.
    fn seat(&self, py: Python<'_>) -> PyResult<Arc<Seat>> {
        let seat = Arc::clone(&self.seat_here());
        if seat.process == std::process::id() {
            return Ok(seat);
        }
        let own = match seat.inherit() {
            Some(engine) => Seat::new(engine, seat.tables.clone()),
            None => self.made_by.make(py)?,
        };
        let own = Arc::new(own);
        *self.seat_here() = Arc::clone(&own);
        Ok(own)
    }

    /// The engine, unless it searches. Pondering ends.
    fn take(&self, py: Python<'_>) -> PyResult<Borrowed> {
        let seat = self.seat(py)?;
        if self.ponders.swap(false, Ordering::Relaxed) {
            seat.stop();
        }
        seat.take(py)
    }

    /// The engine, ready to search a game.
    fn idle(&self, py: Python<'_>, game: &Game) -> PyResult<Borrowed> {
        let engine = self.take(py)?;
        self.prepare(py, game)?;
        Ok(engine)
    }

    /// Searches until the limit, `stop` or Ctrl-C.
    fn search(&self, py: Python<'_>, task: &Task, multipv: usize) -> PyResult<SearchResult> {
        let mut engine = self.idle(py, &task.game)?;
        engine.get().set_multipv(multipv);
        let stop = Arc::clone(&engine.stop);
        interruptible(py, &stop, || task.run(engine.get(), &stop, |_| ()))
    }

    /// Checks the rules of the tables, and solves the material on the shared threads if its distances are not known yet.
    fn prepare(&self, py: Python<'_>, game: &Game) -> PyResult<()> {
        memory::need(Engine::STACK)?;
        let seat = Arc::clone(&self.seat_here());
        let Some(tables) = &seat.tables else { return Ok(()) };
        let (position, rules) = (game.position(), game.rules().options());
        if !tables.supports_rules(rules) {
            let found = tables.rules().options().table_spelling();
            return Err(TablesError::new_err(format!("the engine's tables are for the rules {found}, not {rules}")));
        }
        if position.occupied().len() <= tables.pieces() {
            parallel(py, |_| tables.moves(position).map(drop))?.unwrap_or_else(|never| match never {});
        }
        Ok(())
    }
}
