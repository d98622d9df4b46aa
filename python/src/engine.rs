//! `Engine`: the search, with limits as in python-chess.

use crate::analysis::{Background, Borrowed, Home, PyAnalysis, Task};
use crate::board::PyBoard;
use crate::errors::{self, IllegalMoveError, TablesError};
use crate::info::PyInfo;
use crate::interrupt::{abandonable, interruptible, parallel};
use crate::limit::PyLimit;
use crate::moves::PyMove;
use crate::pickle::Keywords;
use crate::rules::RulesArgument;
use doushouqi::game::Game;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Limits, SearchResult, Tables};
use doushouqi::tablebase::Probe;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The engine. It keeps its transposition table from one search to the next, and makes one search at a time: a second one
/// raises RuntimeError, whichever thread asks for it. A context manager.
///
/// `tables` are a directory of endgame tables for `rules`, or a number of pieces (2 to 4) whose tables are solved in
/// memory. Boards under other rules then raise TablesError. A copy has the same options and an empty transposition table.
/// `Engine.popen` starts an engine in another process that speaks UCI.
#[pyclass(frozen, name = "Engine", module = "doushouqi")]
pub(crate) struct PyEngine {
    home: Home,
    tables: Option<Arc<Tables>>,
    /// Ends the last search.
    stop: Mutex<Arc<AtomicBool>>,
    /// The search on the answer that is expected.
    pondering: Mutex<Option<Background>>,
    /// The keywords that made it.
    keywords: Py<PyDict>,
}

/// Endgame tables from a directory, or solved up to a number of pieces.
fn tables(py: Python<'_>, tables: &Bound<'_, PyAny>, rules: &RulesArgument) -> PyResult<Arc<Tables>> {
    let rules = rules.0;
    if let Ok(pieces) = tables.extract::<usize>() {
        if !(2..=4).contains(&pieces) {
            return Err(PyValueError::new_err(format!("tables of 2 to 4 pieces can be solved here, not {pieces}")));
        }
        return Ok(Arc::new(abandonable(py, move || Tables::solve(&rules, pieces))?.map_err(errors::solve)?));
    }
    let wrong = |_| PyTypeError::new_err("tables are a directory, or the number of pieces to solve");
    let dir: PathBuf = tables.extract().map_err(wrong)?;
    Ok(Arc::new(abandonable(py, move || Tables::open(&dir, &rules))?.map_err(errors::tables)?))
}

#[pymethods]
impl PyEngine {
    #[new]
    #[pyo3(signature = (*, hash_mib = 16, threads = 1, evaluation = "default", tables = None, rules = RulesArgument::default()))]
    fn new(
        py: Python<'_>,
        hash_mib: usize,
        threads: usize,
        evaluation: &str,
        tables: Option<&Bound<'_, PyAny>>,
        rules: RulesArgument,
    ) -> PyResult<PyEngine> {
        if !(1..=1 << 20).contains(&hash_mib) || !(1..=256).contains(&threads) {
            return Err(PyValueError::new_err("hash_mib is 1 to 1048576, threads 1 to 256"));
        }
        let keywords = PyDict::new(py);
        keywords.set_item("hash_mib", hash_mib)?;
        keywords.set_item("threads", threads)?;
        keywords.set_item("evaluation", evaluation)?;
        keywords.set_item("tables", tables)?;
        keywords.set_item("rules", rules.0.to_string())?;
        let evaluation = match evaluation {
            "default" => Evaluation::default(),
            "burnett" => Evaluation::Burnett,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "the evaluation is 'default' or 'burnett', not {evaluation:?}"
                )));
            }
        };
        let tables = tables.map(|wanted| self::tables(py, wanted, &rules)).transpose()?;
        let options =
            EngineOptions::default().hash_mib(hash_mib).threads(threads).evaluation(evaluation).tables(tables.clone());
        let engine = py.detach(|| Engine::new(options));
        Ok(PyEngine {
            home: Arc::new(Mutex::new(Some(engine))),
            tables,
            stop: Mutex::default(),
            pondering: Mutex::default(),
            keywords: keywords.unbind(),
        })
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
            let background =
                Background::start(engine, Task { game, limits: Limits::default(), moves: None }, self.flag())?;
            *self.pondering.lock().unwrap_or_else(PoisonError::into_inner) = Some(background);
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
        multipv: usize,
        root_moves: Option<Vec<PyMove>>,
    ) -> PyResult<Vec<PyInfo>> {
        let found = self.search(py, &task(board, Some(limit), root_moves)?, checked(multipv)?)?;
        Ok(found.lines.iter().map(PyInfo::of).collect())
    }

    /// Begins a search in the background and returns an `Analysis`, whose lines are read while it runs. Without a limit it
    /// runs until it is stopped.
    #[pyo3(signature = (board, limit = None, *, multipv = 1, root_moves = None))]
    fn analysis(
        &self,
        py: Python<'_>,
        board: PyRef<'_, PyBoard>,
        limit: Option<PyLimit>,
        multipv: usize,
        root_moves: Option<Vec<PyMove>>,
    ) -> PyResult<PyAnalysis> {
        let (task, multipv) = (task(board, limit, root_moves)?, checked(multipv)?);
        let mut engine = self.idle(py, &task.game)?;
        engine.get().set_multipv(multipv);
        Ok(PyAnalysis { background: Background::start(engine, task, self.flag())? })
    }

    /// Clears everything learned, for another game.
    fn new_game(&self, py: Python<'_>) -> PyResult<()> {
        let mut engine = self.take(py)?;
        py.detach(|| engine.get().new_game());
        Ok(())
    }

    /// For pickle.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> Keywords<'py> {
        (PyTuple::empty(py), self.keywords.bind(py).clone())
    }

    /// Ends the search that another thread has begun; it returns the best lines found so far.
    fn stop(&self) {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).store(true, Ordering::Relaxed);
    }

    /// Ends the search, and does not wait. An engine in another process also ends.
    fn quit(&self) {
        self.stop();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_arguments))]
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
    /// The engine, unless it searches. Pondering ends.
    fn take(&self, py: Python<'_>) -> PyResult<Borrowed> {
        let pondering = self.pondering.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(background) = pondering {
            background.stop();
            background.wait(py)?;
        }
        Borrowed::take(&self.home)
            .ok_or_else(|| PyRuntimeError::new_err("the engine is searching: stop that search, or use another Engine"))
    }

    /// The engine, ready to search a game.
    fn idle(&self, py: Python<'_>, game: &Game) -> PyResult<Borrowed> {
        let engine = self.take(py)?;
        self.prepare(py, game)?;
        Ok(engine)
    }

    /// A new flag, by which `stop` ends the search that now begins.
    fn flag(&self) -> Arc<AtomicBool> {
        let flag = Arc::new(AtomicBool::new(false));
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&flag);
        flag
    }

    /// Searches until the limit, `stop` or Ctrl-C.
    fn search(&self, py: Python<'_>, task: &Task, multipv: usize) -> PyResult<SearchResult> {
        let (mut engine, stop) = (self.idle(py, &task.game)?, self.flag());
        engine.get().set_multipv(multipv);
        interruptible(py, &stop, || task.run(engine.get(), &stop, |_| ()))
    }

    /// Checks the rules of the tables, and solves the material on the shared threads if its distances are not known yet.
    fn prepare(&self, py: Python<'_>, game: &Game) -> PyResult<()> {
        let Some(tables) = &self.tables else { return Ok(()) };
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
