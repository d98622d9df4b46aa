//! `Info`: one line of best play.

use crate::moves::PyMove;
use doushouqi::search::Info;
use pyo3::prelude::*;

/// The result of a search: one line of best play.
#[pyclass(frozen, eq, get_all, name = "Info", module = "doushouqi")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyInfo {
    /// The line; its first move is the best.
    pub pv: Vec<PyMove>,
    /// The score for the side to move: cp, where 100 cp are the value of a cat; beyond 880,000 a certain win, below
    /// -880,000 a certain loss.
    score: i32,
    /// The score in UCI's words, such as 'cp 13' or 'mate 3'.
    score_text: String,
    /// Plies to a certain win, or None.
    win_in: Option<u32>,
    /// Plies to a certain loss, or None.
    loss_in: Option<u32>,
    /// Plies searched in full.
    depth: u32,
    /// Plies of the longest line searched.
    seldepth: u32,
    /// The rank of the line among the best lines, from 1.
    pub multipv: usize,
    /// Positions searched.
    nodes: u64,
    /// Seconds since the search began.
    time: f64,
    /// Positions looked up in endgame tables.
    tbhits: u64,
    /// The entries of the transposition table in use, in permille.
    hashfull: u32,
}

/// The fields of a [`PyInfo`] in their order.
type InfoFields = (Vec<PyMove>, i32, String, Option<u32>, Option<u32>, u32, u32, usize, u64, f64, u64, u32);

impl PyInfo {
    pub fn of(info: &Info) -> PyInfo {
        PyInfo {
            pv: info.pv.iter().map(|&mv| PyMove::of(mv)).collect(),
            score: info.score.value(),
            score_text: info.score.to_string(),
            win_in: info.score.win_in(),
            loss_in: info.score.loss_in(),
            depth: info.depth,
            seldepth: info.seldepth,
            multipv: info.multipv,
            nodes: info.nodes,
            time: info.time.as_secs_f64(),
            tbhits: info.tbhits,
            hashfull: info.hashfull,
        }
    }

    /// Whether two lines say the same, whatever the time.
    pub fn is_like(&self, other: &PyInfo) -> bool {
        (self.depth, self.score, &self.pv) == (other.depth, other.score, &other.pv)
    }
}

#[pymethods]
impl PyInfo {
    fn __repr__(&self) -> String {
        let pv: Vec<String> = self.pv.iter().map(PyMove::uci).collect();
        format!("Info(score='{}', depth={}, nodes={}, pv='{}')", self.score_text, self.depth, self.nodes, pv.join(" "))
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> crate::pickle::Reduced<'py, (InfoFields,)> {
        let PyInfo { pv, score, score_text, win_in, loss_in, depth, seldepth, multipv, nodes, time, tbhits, hashfull } =
            self.clone();
        let restore = py.get_type::<PyInfo>().getattr("_restore")?;
        let fields = (pv, score, score_text, win_in, loss_in, depth, seldepth, multipv, nodes, time, tbhits, hashfull);
        Ok((restore, (fields,)))
    }

    /// For pickle, and for engines in other processes.
    #[staticmethod]
    fn _restore(fields: InfoFields) -> PyInfo {
        let (pv, score, score_text, win_in, loss_in, depth, seldepth, multipv, nodes, time, tbhits, hashfull) = fields;
        PyInfo { pv, score, score_text, win_in, loss_in, depth, seldepth, multipv, nodes, time, tbhits, hashfull }
    }
}
