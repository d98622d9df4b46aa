//! The configuration of an engine.

use super::eval::Evaluation;
use super::parameters::{Parameter, ParameterError, Parameters};
use super::tables::Tables;
use std::sync::Arc;
use std::time::Duration;

/// The techniques of a search.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchPreset {
    /// All techniques that gained strength in self-play.
    #[default]
    Default,
    /// Alpha-beta with iterative deepening. Its values are those of minimax.
    AlphaBeta,
    /// The papers' search (van Rijn and Vis, 2013): alpha-beta with iterative deepening and a transposition table.
    Papers,
}

/// The techniques of a search, in groups.
#[derive(Copy, Clone)]
pub(super) struct Techniques {
    /// The transposition table.
    pub tt: bool,
    /// Those that change neither wins and losses nor their distances: quiescence search, den threats (the check evasions of
    /// this game), mate distance pruning, and the ordering of quiet moves by killers and history.
    pub sound: bool,
    /// Those that change results or have not been proven to keep them: aspiration windows, reductions, pruning, extensions,
    /// correction history.
    pub selective: bool,
}

impl Techniques {
    /// A search that finds every win within its depth.
    pub(super) const EXACT: Techniques = Techniques { tt: true, sound: true, selective: false };
}

impl SearchPreset {
    pub(super) fn techniques(self) -> Techniques {
        match self {
            SearchPreset::Default => Techniques { tt: true, sound: true, selective: true },
            SearchPreset::AlphaBeta => Techniques { tt: false, sound: false, selective: false },
            SearchPreset::Papers => Techniques { tt: true, sound: false, selective: false },
        }
    }
}

/// The configuration of an engine.
///
/// ```
/// use doushouqi::search::EngineOptions;
/// let options = EngineOptions::default().threads(2).hash_mib(256);
/// assert_eq!((options.threads, options.multipv), (2, 1));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EngineOptions {
    /// The size of the transposition table in MiB. [`Engine::new`](super::Engine::new) halves it until it can be
    /// allocated.
    pub hash_mib: usize,
    /// The number of search threads; 0 counts as 1.
    pub threads: usize,
    /// The static evaluation at the leaves of the search.
    pub evaluation: Evaluation,
    /// The number of best lines to report; 0 counts as 1.
    pub multipv: usize,
    /// The time that the engine leaves on the clock at each move for delays outside the search, at most a fifth of the
    /// clock.
    pub move_overhead: Duration,
    /// The cp that the engine gives up to avoid a draw, at most [`EngineOptions::MAX_CONTEMPT`]: more counts as that. Use
    /// more against weaker opponents, and 0 for analysis.
    pub contempt: u16,
    /// Endgame tables. The engine uses them in games under the rules that they were solved for, and ignores them in
    /// others.
    pub tables: Option<Arc<Tables>>,
    /// The least depth of a node, in plies, at which the search probes table files, after captures only. At 0 also the
    /// quiescence search does. Tables in memory are probed at every node.
    pub tb_probe_depth: u8,
    /// The techniques of the search.
    pub search: SearchPreset,
    /// See [`EngineOptions::set_parameter`].
    #[cfg(feature = "tune")]
    pub(super) parameters: Parameters,
}

macro_rules! setters {
    ($($name:ident: $type:ty),+ $(,)?) => {$(
        #[doc = concat!("Sets [`EngineOptions::", stringify!($name), "`].")]
        #[must_use]
        pub fn $name(self, $name: $type) -> EngineOptions {
            EngineOptions { $name: $name.into(), ..self }
        }
    )+};
}

impl EngineOptions {
    setters! {
        hash_mib: usize,
        threads: usize,
        evaluation: Evaluation,
        multipv: usize,
        move_overhead: Duration,
        contempt: u16,
        tables: impl Into<Option<Arc<Tables>>>,
        tb_probe_depth: u8,
        search: SearchPreset,
    }

    /// The default of [`EngineOptions::tb_probe_depth`].
    pub const TB_PROBE_DEPTH: u8 = 3;
    /// The highest [`EngineOptions::contempt`].
    pub const MAX_CONTEMPT: u16 = 1000;

    /// Sets a [`Parameter`] of the search, given its name and its value as text.
    ///
    /// # Errors
    /// If there is no such parameter, if it cannot have this value, or in builds without the feature `tune`.
    pub fn set_parameter(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let parameter = Parameter::find(name)?;
        let value = parameter.parse(value)?;
        #[cfg(feature = "tune")]
        self.parameters.set(parameter.name, value);
        // Without the feature there is nothing to set.
        let _ = value;
        if Parameter::TUNABLE { Ok(()) } else { Err(ParameterError::Constant) }
    }

    /// The parameters of the search.
    #[inline(always)]
    pub(super) fn parameters(&self) -> &Parameters {
        #[cfg(feature = "tune")]
        {
            &self.parameters
        }
        #[cfg(not(feature = "tune"))]
        {
            &Parameters::DEFAULT
        }
    }

    /// The papers' engine (van Rijn and Vis, 2013): [`SearchPreset::Papers`] with Burnett's evaluation.
    #[must_use]
    pub fn burnett_alphabeta() -> EngineOptions {
        EngineOptions::default().evaluation(Evaluation::Burnett).search(SearchPreset::Papers)
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            hash_mib: 64,
            threads: 1,
            evaluation: Evaluation::default(),
            multipv: 1,
            move_overhead: Duration::from_millis(10),
            contempt: 0,
            tables: None,
            tb_probe_depth: EngineOptions::TB_PROBE_DEPTH,
            search: SearchPreset::default(),
            #[cfg(feature = "tune")]
            parameters: Parameters::DEFAULT,
        }
    }
}
