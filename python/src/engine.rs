//! `Engine`: the search, with limits as in python-chess.

use crate::board::{PyBoard, PyMove};
use crate::errors::{self, IllegalMoveError, TablesError};
use crate::interrupt::{abandonable, interruptible, parallel};
use crate::rules::RulesArgument;
use doushouqi::board::Move;
use doushouqi::game::Game;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Info, Limits, SearchResult, Tables};
use doushouqi::tablebase::Probe;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// Longer times, infinity among them, count as this many seconds: 30 years.
const LONGEST: f64 = 1e9;

/// The limits of a search, which stops at the first of `time` in seconds, `depth` in plies and `nodes`.
#[pyclass(frozen, name = "Limit", module = "doushouqi", from_py_object)]
#[derive(Copy, Clone)]
pub(crate) struct PyLimit {
    /// Seconds for the search, or None.
    #[pyo3(get)]
    time: Option<f64>,
    /// Plies of the last iteration, or None.
    #[pyo3(get)]
    depth: Option<u32>,
    /// Nodes of all threads together, or None.
    #[pyo3(get)]
    nodes: Option<u64>,
    limits: Limits,
}

#[pymethods]
impl PyLimit {
    #[new]
    #[pyo3(signature = (time = None, *, depth = None, nodes = None))]
    fn new(time: Option<f64>, depth: Option<u32>, nodes: Option<u64>) -> PyResult<PyLimit> {
        if time.is_none() && depth.is_none() && nodes.is_none() {
            return Err(PyValueError::new_err("a limit needs a time, a depth or a number of nodes"));
        }
        if time.is_some_and(|time| time.is_nan() || time < 0.0) {
            return Err(PyValueError::new_err("the time is a number of seconds that is not negative"));
        }
        let movetime = time.map(|time| Duration::from_secs_f64(time.min(LONGEST)));
        if depth == Some(0) || nodes == Some(0) {
            return Err(PyValueError::new_err("the depth and the number of nodes are at least 1"));
        }
        let limits = Limits::default().depth(depth).nodes(nodes).movetime(movetime);
        Ok(PyLimit { time, depth, nodes, limits })
    }

    /// For pickle.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Option<f64>,), Bound<'py, PyDict>)> {
        let keywords = PyDict::new(py);
        keywords.set_item("depth", self.depth)?;
        keywords.set_item("nodes", self.nodes)?;
        Ok(((self.time,), keywords))
    }

    fn __repr__(&self) -> String {
        let number = |number: Option<String>| number.unwrap_or_else(|| "None".to_owned());
        format!(
            "Limit(time={}, depth={}, nodes={})",
            number(self.time.map(|n| n.to_string())),
            number(self.depth.map(|n| n.to_string())),
            number(self.nodes.map(|n| n.to_string()))
        )
    }
}

/// The result of a search: one line of best play.
#[pyclass(frozen, name = "Info", module = "doushouqi")]
#[derive(Clone)]
pub(crate) struct PyInfo {
    /// The line; its first move is the best.
    #[pyo3(get)]
    pv: Vec<PyMove>,
    /// The score for the side to move: cp, where 100 cp are the value of a cat; beyond 990,000 a certain win, below
    /// -990,000 a certain loss.
    #[pyo3(get)]
    score: i32,
    /// The score as text.
    text: String,
    /// Plies to a certain win, or None.
    #[pyo3(get)]
    win_in: Option<u32>,
    /// Plies to a certain loss, or None.
    #[pyo3(get)]
    loss_in: Option<u32>,
    /// Plies searched in full.
    #[pyo3(get)]
    depth: u32,
    /// Positions searched.
    #[pyo3(get)]
    nodes: u64,
    /// Seconds since the search began.
    #[pyo3(get)]
    time: f64,
    /// Positions looked up in endgame tables.
    #[pyo3(get)]
    tbhits: u64,
}

/// The fields of an [`PyInfo`] in their order.
type InfoFields = (Vec<PyMove>, i32, String, Option<u32>, Option<u32>, u32, u64, f64, u64);

impl PyInfo {
    fn of(info: Info) -> PyInfo {
        PyInfo {
            pv: info.pv.iter().map(|&mv| PyMove::of(mv)).collect(),
            score: info.score.value(),
            text: info.score.to_string(),
            win_in: info.score.win_in(),
            loss_in: info.score.loss_in(),
            depth: info.depth,
            nodes: info.nodes,
            time: info.time.as_secs_f64(),
            tbhits: info.tbhits,
        }
    }
}

#[pymethods]
impl PyInfo {
    fn __repr__(&self) -> String {
        let pv: Vec<String> = self.pv.iter().map(PyMove::uci).collect();
        format!("Info(score='{}', depth={}, nodes={}, pv='{}')", self.text, self.depth, self.nodes, pv.join(" "))
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> crate::pickle::Reduced<'py, (InfoFields,)> {
        let PyInfo { pv, score, text, win_in, loss_in, depth, nodes, time, tbhits } = self.clone();
        let restore = py.get_type::<PyInfo>().getattr("_restore")?;
        Ok((restore, ((pv, score, text, win_in, loss_in, depth, nodes, time, tbhits),)))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore(fields: InfoFields) -> PyInfo {
        let (pv, score, text, win_in, loss_in, depth, nodes, time, tbhits) = fields;
        PyInfo { pv, score, text, win_in, loss_in, depth, nodes, time, tbhits }
    }
}

/// The engine. It keeps its transposition table from one search to the next, and makes one search at a time.
///
/// `tables` are a directory of endgame tables for `rules`, or a number of pieces (2 to 4) whose tables are solved in
/// memory. Boards under other rules then raise TablesError. A copy has the same options and an empty transposition table.
#[pyclass(frozen, name = "Engine", module = "doushouqi")]
pub(crate) struct PyEngine {
    engine: Mutex<Engine>,
    tables: Option<Arc<Tables>>,
    /// Ends the search.
    stop: AtomicBool,
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
        let engine = Mutex::new(py.detach(|| Engine::new(options)));
        Ok(PyEngine { engine, tables, stop: AtomicBool::new(false), keywords: keywords.unbind() })
    }

    /// The best move found within the limit; None if the game is over.
    fn play(&self, py: Python<'_>, board: PyRef<'_, PyBoard>, limit: PyLimit) -> PyResult<Option<PyMove>> {
        let game = board.game.clone();
        drop(board);
        let found = self.search(py, &game, limit, 1, None)?;
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
        if !(1..=32).contains(&multipv) {
            return Err(PyValueError::new_err(format!("multipv is 1 to 32, not {multipv}")));
        }
        let game = board.game.clone();
        drop(board);
        let legal = game.legal_moves();
        let find = |wanted: PyMove| {
            let found = legal.iter().copied().find(|&mv| PyMove::of(mv) == wanted);
            found.ok_or_else(|| IllegalMoveError::new_err(format!("{} is not legal here", wanted.uci())))
        };
        let moves: Option<Vec<Move>> = root_moves.map(|moves| moves.into_iter().map(find).collect()).transpose()?;
        let found = self.search(py, &game, limit, multipv, moves.as_deref())?;
        Ok(found.lines.into_iter().map(PyInfo::of).collect())
    }

    /// Clears everything learned, for another game.
    fn new_game(&self, py: Python<'_>) -> PyResult<()> {
        let mut engine = self.idle()?;
        let engine: &mut Engine = &mut engine;
        py.detach(|| engine.new_game());
        Ok(())
    }

    /// For pickle.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyTuple>, Bound<'py, PyDict>) {
        (PyTuple::empty(py), self.keywords.bind(py).clone())
    }

    /// Ends the search that another thread has begun; it returns the best lines found so far.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl PyEngine {
    /// The engine, unless it searches.
    fn idle(&self) -> PyResult<MutexGuard<'_, Engine>> {
        match self.engine.try_lock() {
            Ok(engine) => Ok(engine),
            // The engine clears nothing that a panic could leave half done.
            Err(TryLockError::Poisoned(engine)) => Ok(engine.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "the engine is searching for another thread: stop it, or use another Engine",
            )),
        }
    }

    /// Searches until the limit, `stop` or Ctrl-C.
    fn search(
        &self,
        py: Python<'_>,
        game: &Game,
        limit: PyLimit,
        multipv: usize,
        moves: Option<&[Move]>,
    ) -> PyResult<SearchResult> {
        let mut engine = self.idle()?;
        let engine: &mut Engine = &mut engine;
        self.stop.store(false, Ordering::Relaxed);
        self.prepare(py, game)?;
        engine.set_multipv(multipv);
        interruptible(py, &self.stop, || {
            let search = engine.search(game, &limit.limits).stop(&self.stop);
            match moves {
                Some(moves) => search.moves(moves).run(),
                None => search.run(),
            }
        })
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
