//! `Rules`: the rule options as one immutable object.

use crate::errors;
use doushouqi::board::RuleOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The rule options. `Rules('chinese')` is a preset, `Rules('paper,shore=none')` a preset with changes; `paper` is the
/// default.
///
/// Rules are immutable and compare by their options.
#[pyclass(frozen, eq, hash, name = "Rules", module = "doushouqi")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyRules {
    pub options: RuleOptions,
}

/// Declares a getter for each rule option.
macro_rules! rules_class {
    ($($option:ident),+) => {
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

            /// The name of the preset with these options, or None.
            #[getter]
            fn name(&self) -> Option<&'static str> {
                self.options.preset_name()
            }

            $(
                /// The value of this option; docs/rules.md explains each option.
                #[getter]
                fn $option(&self) -> &'static str {
                    self.options.$option.as_str()
                }
            )+

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
    };
}

rules_class!(elephant_takes_rat, shore, traps, dog_over_wolf, tiger_leap, own_rat_blocks, no_move, repetition);

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
