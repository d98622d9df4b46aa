//! `Rules`: the rule options as one immutable object.

use crate::errors;
use doushouqi::board::{RuleOption, RuleOptions, Rules};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The rule options. `Rules('chinese')` is a preset, `Rules('paper,shore=none')` a preset with changes; `paper` is the
/// default.
///
/// Rules are immutable and compare by their options.
#[pyclass(frozen, eq, hash, name = "Rules", module = "doushouqi")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyRules {
    pub options: RuleOptions,
}

#[pymethods]
impl PyRules {
    #[new]
    #[pyo3(signature = (text = "paper"))]
    fn new(text: &str) -> PyResult<PyRules> {
        Ok(PyRules { options: text.parse().map_err(errors::rules)? })
    }

    /// The names of the presets.
    #[staticmethod]
    fn presets() -> Vec<&'static str> {
        RuleOptions::PRESETS.iter().map(|(name, _)| *name).collect()
    }

    /// Every option with its values, the default first; docs/rules.md explains them.
    #[staticmethod]
    fn options() -> BTreeMap<String, Vec<&'static str>> {
        RuleOptions::OPTIONS.iter().map(|option| (attribute(option), option.values.to_vec())).collect()
    }

    /// The name of the preset with these options, or None.
    #[getter]
    fn name(&self) -> Option<&'static str> {
        self.options.preset_name()
    }

    /// The value of an option: `rules.shore`.
    fn __getattr__(&self, name: &str) -> PyResult<&'static str> {
        let found = self.options.values().find(|(option, _)| attribute(option) == name);
        found
            .map(|(_, value)| value)
            .ok_or_else(|| PyAttributeError::new_err(format!("no rule option is called {name:?}")))
    }

    fn __str__(&self) -> String {
        self.options.to_string()
    }

    fn __repr__(&self) -> String {
        match self.options.preset_name() {
            Some(name) => format!("Rules('{name}')"),
            None => format!("Rules('{}')", self.options),
        }
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.options.to_string(),)
    }
}

/// The name of an option as an attribute: `own_rat_blocks`.
fn attribute(option: &RuleOption) -> String {
    option.key.replace('-', "_")
}

/// An argument that is a `Rules` or its text.
pub(crate) struct RulesArgument(pub RuleOptions);

impl Default for RulesArgument {
    fn default() -> RulesArgument {
        RulesArgument(RuleOptions::PAPER)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for RulesArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<RulesArgument> {
        if let Ok(rules) = object.cast::<PyRules>() {
            return Ok(RulesArgument(rules.get().options));
        }
        let Ok(text) = object.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("rules are Rules or a str, not {}", object.get_type().name()?)));
        };
        Ok(RulesArgument(text.parse().map_err(errors::rules)?))
    }
}

/// The rules of these options. Their masks take a hundred times longer to make than a game, so those of the last options
/// are kept. Callers hold the GIL, as those of [`Threads::get`](crate::interrupt::Threads::get).
pub(crate) fn rules(options: RuleOptions) -> Rules {
    const MOST: usize = 64;
    static RECENT: Mutex<Vec<Rules>> = Mutex::new(Vec::new());
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = recent.iter().find(|known| *known.options() == options) {
        return known.clone();
    }
    if recent.len() == MOST {
        recent.clear();
    }
    recent.push(Rules::new(options));
    recent[recent.len() - 1].clone()
}
