//! `Engine`: the search, with limits as in python-chess.

use crate::board::{PyBoard, PyMove};
use crate::errors;
use crate::interrupt::interruptible;
use crate::rules::RulesArgument;
use doushouqi::board::Move;
use doushouqi::game::Game;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Info, Limits, SearchResult, Tables};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
        let wrong = |_| PyValueError::new_err("the time is a number of seconds that is not negative");
        let movetime = time.map(Duration::try_from_secs_f64).transpose().map_err(wrong)?;
        if depth == Some(0) || nodes == Some(0) {
            return Err(PyValueError::new_err("the depth and the number of nodes are at least 1"));
        }
        let limits = Limits::default().depth(depth).nodes(nodes).movetime(movetime);
        Ok(PyLimit { time, depth, nodes, limits })
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
    info: Info,
}

#[pymethods]
impl PyInfo {
    /// The line; its first move is the best.
    #[getter]
    fn pv(&self) -> Vec<PyMove> {
        self.info.pv.iter().map(|&mv| PyMove::of(mv)).collect()
    }

    /// The score for the side to move: cp, where 100 cp are the value of a cat; beyond 990,000 a certain win, below
    /// -990,000 a certain loss.
    #[getter]
    fn score(&self) -> i32 {
        self.info.score.value()
    }

    /// Plies to a certain win, or None.
    #[getter]
    fn win_in(&self) -> Option<u32> {
        self.info.score.win_in()
    }

    /// Plies to a certain loss, or None.
    #[getter]
    fn loss_in(&self) -> Option<u32> {
        self.info.score.loss_in()
    }

    /// Plies searched in full.
    #[getter]
    fn depth(&self) -> u32 {
        self.info.depth
    }

    /// Positions searched.
    #[getter]
    fn nodes(&self) -> u64 {
        self.info.nodes
    }

    /// Seconds since the search began.
    #[getter]
    fn time(&self) -> f64 {
        self.info.time.as_secs_f64()
    }

    /// Positions looked up in endgame tables.
    #[getter]
    fn tbhits(&self) -> u64 {
        self.info.tbhits
    }

    fn __repr__(&self) -> String {
        let pv: Vec<String> = self.info.pv.iter().map(ToString::to_string).collect();
        format!(
            "Info(score='{}', depth={}, nodes={}, pv='{}')",
            self.info.score,
            self.info.depth,
            self.info.nodes,
            pv.join(" ")
        )
    }
}

/// The engine. It keeps its transposition table from one search to the next.
///
/// `tables` are a directory of endgame tables for `rules`, or a number of pieces (2 to 4) whose tables are solved in
/// memory.
#[pyclass(name = "Engine", module = "doushouqi")]
pub(crate) struct PyEngine {
    /// Python borrows the whole object, so only one thread searches at a time and the lock never blocks.
    engine: Mutex<Engine>,
}

/// Endgame tables from a directory, or solved up to a number of pieces.
fn tables(py: Python<'_>, tables: &Bound<'_, PyAny>, rules: &RulesArgument) -> PyResult<Arc<Tables>> {
    if let Ok(pieces) = tables.extract::<usize>() {
        if !(2..=4).contains(&pieces) {
            return Err(PyValueError::new_err(format!("tables of 2 to 4 pieces can be solved here, not {pieces}")));
        }
        return Ok(Arc::new(py.detach(|| Tables::solve(&rules.0, pieces)).map_err(errors::solve)?));
    }
    let wrong = |_| PyTypeError::new_err("tables are a directory, or the number of pieces to solve");
    let dir: PathBuf = tables.extract().map_err(wrong)?;
    Ok(Arc::new(py.detach(|| Tables::open(&dir, &rules.0)).map_err(errors::tables)?))
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
        let evaluation = match evaluation {
            "default" => Evaluation::default(),
            "hand-crafted" => Evaluation::HandCrafted,
            "burnett" => Evaluation::Burnett,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "the evaluation is 'default', 'hand-crafted' or 'burnett', not {evaluation:?}"
                )));
            }
        };
        let tables = tables.map(|wanted| self::tables(py, wanted, &rules)).transpose()?;
        let options =
            EngineOptions::default().hash_mib(hash_mib).threads(threads).evaluation(evaluation).tables(tables);
        Ok(PyEngine { engine: Mutex::new(py.detach(|| Engine::new(options))) })
    }

    /// The best move found within the limit; None if the game is over.
    fn play(&mut self, py: Python<'_>, board: PyRef<'_, PyBoard>, limit: PyLimit) -> PyResult<Option<PyMove>> {
        let found = self.search(py, &board.game, limit, 1, None)?;
        Ok(found.best().map(PyMove::of))
    }

    /// The best lines found within the limit, the best first; `root_moves` restricts the first move.
    #[pyo3(signature = (board, limit, *, multipv = 1, root_moves = None))]
    fn analyse(
        &mut self,
        py: Python<'_>,
        board: PyRef<'_, PyBoard>,
        limit: PyLimit,
        multipv: usize,
        root_moves: Option<Vec<PyMove>>,
    ) -> PyResult<Vec<PyInfo>> {
        if !(1..=32).contains(&multipv) {
            return Err(PyValueError::new_err(format!("multipv is 1 to 32, not {multipv}")));
        }
        let legal = board.game.legal_moves();
        let moves = root_moves
            .map(|wanted| legal.iter().copied().filter(|&mv| wanted.contains(&PyMove::of(mv))).collect::<Vec<Move>>());
        let found = self.search(py, &board.game, limit, multipv, moves.as_deref())?;
        Ok(found.lines.into_iter().map(|info| PyInfo { info }).collect())
    }

    /// Clears everything learned, for another game.
    fn new_game(&mut self) {
        self.engine.get_mut().unwrap_or_else(PoisonError::into_inner).new_game();
    }
}

impl PyEngine {
    /// Searches until the limit or Ctrl-C.
    fn search(
        &mut self,
        py: Python<'_>,
        game: &Game,
        limit: PyLimit,
        multipv: usize,
        moves: Option<&[Move]>,
    ) -> PyResult<SearchResult> {
        let engine = self.engine.get_mut().unwrap_or_else(PoisonError::into_inner);
        engine.set_multipv(multipv);
        interruptible(py, |stop| {
            let search = engine.search(game, &limit.limits).stop(stop);
            match moves {
                Some(moves) => search.moves(moves).run(),
                None => search.run(),
            }
        })
    }
}
