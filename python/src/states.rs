//! `States`: the states of games of a batch, and the arguments that are states.

use crate::batch::{Env, Setup};
use crate::board::PyBoard;
use crate::pickle::Reduced;
use crate::rules::{PyRules, RulesArgument, rules};
use crate::whole::whole;
use doushouqi::board::Rules;
use doushouqi::game::Game;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// States of games of a `VecEnv`: their positions and what has happened since the last capture. They can be pickled, and
/// copied to any games of any batch under the same rules.
#[pyclass(frozen, name = "States", module = "doushouqi")]
pub(crate) struct PyStates {
    envs: Vec<Env>,
    rules: Rules,
    no_capture_limit: Option<u32>,
}

impl PyStates {
    pub fn new(envs: Vec<Env>, setup: &Setup) -> PyStates {
        PyStates { envs, rules: setup.rules.clone(), no_capture_limit: setup.no_capture_limit }
    }

    fn game(&self, env: &Env) -> Game {
        env.game(&self.rules, self.no_capture_limit)
    }
}

#[pymethods]
impl PyStates {
    /// The rules of the games.
    #[getter]
    fn rules(&self) -> PyRules {
        PyRules { options: *self.rules.options() }
    }

    /// A state as a board with the moves since the last capture.
    fn board(&self, #[pyo3(from_py_with = whole)] index: usize) -> PyResult<PyBoard> {
        let env = self.envs.get(index).ok_or_else(|| PyIndexError::new_err(format!("there is no state {index}")))?;
        Ok(PyBoard::of(self.game(env)))
    }

    fn __len__(&self) -> usize {
        self.envs.len()
    }

    fn __repr__(&self) -> String {
        format!("<States of {} games>", self.envs.len())
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (String, Option<u32>, Vec<Played>)> {
        let played = |env: &Env| {
            let game = self.game(env);
            let moves = game.moves().iter().map(|mv| mv.to_string()).collect();
            (game.start_fen().to_string(), moves)
        };
        let restore = py.get_type::<PyStates>().getattr("_restore")?;
        let rules = self.rules.options().to_string();
        Ok((restore, (rules, self.no_capture_limit, self.envs.iter().map(played).collect())))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore(rules: RulesArgument, no_capture_limit: Option<u32>, games: Vec<Played>) -> PyResult<PyStates> {
        let setup = Setup::new(self::rules(rules.0), no_capture_limit, false);
        let mut envs = Vec::new();
        for (fen, moves) in games {
            let game = PyBoard::played(&fen, rules.0, no_capture_limit, &moves)?;
            envs.push(Env::of(&game, &setup));
        }
        Ok(PyStates::new(envs, &setup))
    }
}

/// The first position and the moves of a game.
type Played = (String, Vec<String>);

/// States, or a sequence of boards and FENs.
pub(crate) enum StatesArgument {
    States(Py<PyStates>),
    Games(Vec<GameArgument>),
}

/// A board, or the FEN of a game that begins there.
pub(crate) enum GameArgument {
    Board(Game),
    Fen(String),
}

impl<'a, 'py> FromPyObject<'a, 'py> for GameArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<GameArgument> {
        if let Ok(board) = object.cast::<PyBoard>() {
            return Ok(GameArgument::Board(board.try_borrow()?.game.clone()));
        }
        let wrong = || PyTypeError::new_err("states are `States`, or a sequence of boards and FENs");
        object.extract().map(GameArgument::Fen).map_err(|_| wrong())
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for StatesArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<StatesArgument> {
        match object.cast::<PyStates>() {
            Ok(states) => Ok(StatesArgument::States(states.to_owned().unbind())),
            Err(_) => Ok(StatesArgument::Games(object.extract()?)),
        }
    }
}

impl StatesArgument {
    /// The states for a batch.
    ///
    /// # Errors
    /// ValueError if they are under other rules, or a game is over and the batch resets.
    pub fn envs(self, setup: &Setup) -> PyResult<Vec<Env>> {
        let options = setup.rules.options();
        let other = |rules: &Rules| {
            PyValueError::new_err(format!("the states are for the rules {}, not {options}", rules.options()))
        };
        let envs: Vec<Env> = match self {
            StatesArgument::States(states) => {
                let states = states.get();
                if states.rules.options() != options {
                    return Err(other(&states.rules));
                }
                states.envs.iter().map(|env| env.clone().judged(setup)).collect()
            }
            StatesArgument::Games(games) => {
                let mut envs = Vec::new();
                for game in games {
                    let game = match game {
                        GameArgument::Board(game) => game,
                        GameArgument::Fen(fen) => PyBoard::from_fen(Some(&fen), *options, setup.no_capture_limit)?.game,
                    };
                    if game.rules().options() != options {
                        return Err(other(game.rules()));
                    }
                    envs.push(Env::of(&game, setup));
                }
                envs
            }
        };
        match envs.iter().position(|env| setup.auto_reset && env.is_over()) {
            Some(i) => {
                Err(PyValueError::new_err(format!("state {i}: the game is over, and the batch resets such games")))
            }
            None => Ok(envs),
        }
    }
}
