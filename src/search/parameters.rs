//! The margins, depths and reductions of the search. Values are in cp and multiplied by the scale of the evaluation;
//! depths are in plies. They are constants, except in builds with the feature `tune`.

use super::score::Value;
use thiserror::Error;

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident: $default:literal, $least:literal..=$most:literal;)+) => {
        /// A value for each parameter.
        #[derive(Clone, Debug)]
        pub(super) struct Parameters { $($(#[$doc])* pub(super) $name: Value),+ }

        impl Parameters {
            /// The defaults.
            pub(super) const DEFAULT: Parameters = Parameters { $($name: $default),+ };

            /// Sets the parameter of this name, if there is one.
            #[cfg(feature = "tune")]
            pub(super) fn set(&mut self, name: &str, value: Value) {
                match name {
                    $(stringify!($name) => self.$name = value,)+
                    _ => {}
                }
            }
        }

        impl Parameter {
            /// All parameters.
            pub const ALL: &[Parameter] =
                &[$(Parameter { name: stringify!($name), default: $default, least: $least, most: $most }),+];
        }
    };
}

parameters! {
    /// Iterative deepening: the depth from which on aspiration windows are used.
    aspiration_depth: 5, 1..=12;
    /// The distance of an aspiration window's bounds from the last value. It doubles with each search that fails.
    aspiration_delta: 34, 5..=100;
    /// The distance above which the window is opened.
    aspiration_max: 600, 100..=2000;

    /// Reverse futility pruning (RFP): the greatest depth.
    rfp_depth: 7, 2..=14;
    /// The margin for each ply.
    rfp_margin: 68, 20..=200;
    /// The part of the margin that improving positions are spared.
    rfp_improving: 45, 0..=200;

    /// Internal iterative reductions (IIR): the least depth.
    iir_depth: 4, 2..=10;

    /// Late move pruning (LMP): the greatest depth.
    lmp_depth: 8, 2..=14;
    /// The moves that are searched at depth 0. The square of the depth is added to it; half of the sum counts if the
    /// position is not improving.
    lmp_moves: 5, 1..=16;

    /// Singular extensions: the least depth.
    singular_depth: 6, 4..=14;
    /// By how much the table's search may be less deep.
    singular_tt_depth: 3, 1..=6;
    /// The margin for each ply below the table's value.
    singular_margin: 2, 0..=8;

    /// Late move reductions (LMR): the reduction is `lmr_base` plus the product of the logarithms of depth and number of
    /// the move, divided by `lmr_divisor`, both in hundredths.
    lmr_base: 84, 0..=200;
    /// See `lmr_base`.
    lmr_divisor: 189, 120..=400;
    /// The least depth.
    lmr_depth: 2, 1..=5;
    /// At the root, the least depth.
    lmr_root_depth: 3, 2..=6;
    /// At the root, the first move that is reduced.
    lmr_root_moves: 3, 1..=8;
    /// The history score that is worth one ply.
    lmr_history: 7725, 2000..=20000;
    /// The most plies for the history.
    lmr_history_max: 2, 0..=4;

    /// Delta pruning in the quiescence search: the margin above the value of the captured piece.
    delta_margin: 165, 0..=500;

    /// History: the bonus of a move that causes a cutoff, for the square of the depth.
    history_square: 21, 0..=60;
    /// The bonus for the depth.
    history_linear: 54, 0..=300;
    /// The greatest bonus.
    history_max: 1744, 400..=4000;
    /// The bound of the scores, at least the greatest bonus.
    history_limit: 8598, 4096..=16384;
    /// The bonus of a quiet move for each cp by which it raised the static evaluation, in quarters.
    history_gain: 8, 0..=32;
    /// The greatest such bonus.
    history_gain_max: 649, 100..=2000;

    /// Correction history: the bound of each of the two parts of a correction, in sixteenths of a cp.
    correction_limit: 1096, 256..=4096;
    /// The divisor of an error times the depth of the search that found it.
    correction_divisor: 8, 2..=32;
}

/// Endgame tables: the plies by which a stored table value is worth more than a search.
pub(super) const TB_DEPTH: i32 = 6;

/// Time management: the factor of the time for which an iteration may begin, by the number of consecutive iterations
/// with the same best move.
pub(super) const STABILITY: [f64; 6] = [1.6, 1.3, 1.1, 1.0, 0.9, 0.8];

/// Late move reductions by depth and number of the move.
pub(super) type Reductions = [[i8; 64]; 64];

impl Parameters {
    /// The late move reductions.
    pub(super) fn reductions(&self) -> Box<Reductions> {
        let (base, divisor) = (f64::from(self.lmr_base) / 100.0, f64::from(self.lmr_divisor) / 100.0);
        let logarithms: [f64; 64] = std::array::from_fn(|i| (i as f64).ln());
        let mut reductions = Box::new([[0; 64]; 64]);
        for depth in 1..64 {
            for number in 1..64 {
                reductions[depth][number] = (base + logarithms[depth] * logarithms[number] / divisor) as i8;
            }
        }
        reductions
    }
}

/// A parameter of the search.
///
/// ```
/// use doushouqi::search::{EngineOptions, Parameter};
///
/// let margin = Parameter::find("rfp_margin").unwrap();
/// assert!((margin.least..=margin.most).contains(&margin.default));
/// let set = EngineOptions::default().set_parameter("rfp_margin", "71");
/// assert_eq!(set.is_ok(), Parameter::TUNABLE);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// The value of builds without the feature `tune`.
    pub default: i32,
    /// The least value.
    pub least: i32,
    /// The greatest value.
    pub most: i32,
}

/// Why a parameter cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// There is no such parameter.
    #[error("no parameter is called {name:?}; there are {}", names())]
    Unknown {
        /// The name.
        name: String,
    },
    /// The parameter cannot have this value.
    #[error("{} is a number from {} to {}, not {value:?}", parameter.name, parameter.least, parameter.most)]
    Value {
        /// The parameter.
        parameter: &'static Parameter,
        /// The value.
        value: String,
    },
    /// The parameters of this build are constants.
    #[error("the parameters of the search are constants; a build with the feature `tune` can change them")]
    Constant,
}

fn names() -> String {
    Parameter::ALL.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
}

impl Parameter {
    /// Whether this build can change parameters: it has the feature `tune`.
    pub const TUNABLE: bool = cfg!(feature = "tune");

    /// The parameter of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(name: &str) -> Result<&'static Parameter, ParameterError> {
        let found = Parameter::ALL.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| ParameterError::Unknown { name: name.to_owned() })
    }

    /// The number that a text writes.
    ///
    /// # Errors
    /// If it is no number or out of range.
    pub fn parse(&'static self, text: &str) -> Result<i32, ParameterError> {
        let value = text.parse().ok().filter(|value| (self.least..=self.most).contains(value));
        value.ok_or_else(|| ParameterError::Value { parameter: self, value: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::EngineOptions;

    /// The reductions are those of the published formula, 0.75 + ln(depth) ln(number) / 2.1.
    #[test]
    fn reductions_follow_the_formula() {
        let published = Parameters { lmr_base: 75, lmr_divisor: 210, ..Parameters::DEFAULT };
        let reductions = published.reductions();
        for (depth, number, expected) in [(0, 9, 0), (9, 0, 0), (1, 1, 0), (3, 3, 1), (8, 20, 3), (63, 63, 8)] {
            assert_eq!(reductions[depth][number], expected, "{depth} {number}");
        }
    }

    #[test]
    fn parameters_are_checked() {
        let mut options = EngineOptions::default().hash_mib(1);
        for parameter in Parameter::ALL {
            assert!((parameter.least..=parameter.most).contains(&parameter.default), "{parameter:?}");
            for value in [parameter.least - 1, parameter.most + 1].map(|value| value.to_string()) {
                let error = options.set_parameter(parameter.name, &value);
                assert_eq!(error, Err(ParameterError::Value { parameter, value }));
            }
        }
        let text = |error: Result<(), ParameterError>| error.unwrap_err().to_string();
        assert!(text(options.set_parameter("rfp", "1")).contains("rfp_margin"));
        assert_eq!(text(options.set_parameter("rfp_margin", "x")), "rfp_margin is a number from 20 to 200, not \"x\"");
        let set = options.set_parameter("RFP_Margin", "71");
        assert_eq!(set, if Parameter::TUNABLE { Ok(()) } else { Err(ParameterError::Constant) });
    }
}
