//! The description of a training run.

use super::error::TrainingError;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A training run, as a TOML file describes it. Paths are relative to the file.
///
/// ```toml
/// data = ["generation-0.data"]
/// network = "generation-0.nnue"
/// checkpoint = "generation-0.ckpt"
/// hidden = 128
/// epochs = 20
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Recipe {
    /// Files of `dsq-lab datagen`.
    pub data: Vec<PathBuf>,
    /// The network to write.
    pub network: PathBuf,
    /// The checkpoint to write.
    pub checkpoint: PathBuf,
    /// The checkpoint to begin with; random parameters if absent.
    pub start: Option<PathBuf>,
    /// The units of an accumulator: a multiple of 32 up to 256.
    #[serde(default = "hidden")]
    pub hidden: usize,
    /// Whether the network sees pairs of animals ([`doushouqi::search::network`]).
    #[serde(default = "pairs")]
    pub pairs: bool,
    /// The number of passes over the data.
    #[serde(default = "epochs")]
    pub epochs: usize,
    /// The number of samples in a step.
    #[serde(default = "batch")]
    pub batch: usize,
    /// The learning rates of the first and the last step. Between them the rate follows a cosine.
    #[serde(default = "rates")]
    pub rates: [f32; 2],
    /// The steps in which the rate rises to that of the cosine. The first steps of AdamW are as large as the rate whatever the
    /// slope, which spoils the parameters of a checkpoint.
    #[serde(default)]
    pub warm_up: usize,
    /// The weight decay of AdamW.
    #[serde(default = "decay")]
    pub decay: f32,
    /// The share of the game's result in the target; the rest is the score of the search.
    #[serde(default = "result")]
    pub result: f32,
    /// The score in cp for which the winner is expected to get 73 %; fitted to the data if absent.
    pub scale: Option<f32>,
    /// One in this many games is held out to measure the loss.
    #[serde(default = "held_out")]
    pub held_out: u32,
    /// The seed of the first parameters and of the order of the data.
    #[serde(default)]
    pub seed: u64,
}

fn hidden() -> usize {
    128
}

fn pairs() -> bool {
    true
}

fn epochs() -> usize {
    20
}

fn batch() -> usize {
    16_384
}

fn rates() -> [f32; 2] {
    [1e-3, 1e-5]
}

fn decay() -> f32 {
    0.01
}

fn result() -> f32 {
    0.3
}

fn held_out() -> u32 {
    50
}

/// The error on one line, with the number of the line in the recipe.
fn syntax(text: &str, error: &toml::de::Error) -> TrainingError {
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    let before = error.span().and_then(|span| text.get(..span.start));
    TrainingError::Syntax(match before {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message,
    })
}

impl Recipe {
    /// Parses a recipe. `directory` is the directory of its file.
    ///
    /// # Errors
    /// If the text is not a recipe, or a value is out of range.
    pub fn parse(text: &str, directory: &Path) -> Result<Recipe, TrainingError> {
        let mut recipe: Recipe = toml::from_str(text).map_err(|error| syntax(text, &error))?;
        let Recipe { hidden, epochs, batch, rates, warm_up, decay, result, scale, held_out, .. } = recipe;
        let checks = [
            (!recipe.data.is_empty(), "data", "a list of at least one file"),
            ((32..=256).contains(&hidden) && hidden.is_multiple_of(32), "hidden", "a multiple of 32 from 32 to 256"),
            ((1..=100_000).contains(&epochs), "epochs", "a number from 1 to 100000"),
            ((1..=1 << 22).contains(&batch), "batch", "a number from 1 to 4194304"),
            (rates.iter().all(|rate| (0.0..=1.0).contains(rate)), "rates", "two numbers from 0 to 1"),
            (warm_up <= 1_000_000, "warm_up", "a number up to 1000000"),
            ((0.0..=1.0).contains(&decay), "decay", "a number from 0 to 1"),
            ((0.0..=1.0).contains(&result), "result", "a number from 0 to 1"),
            (scale.is_none_or(|scale| (1.0..=10_000.0).contains(&scale)), "scale", "a number from 1 to 10000"),
            (held_out >= 2, "held_out", "a number of at least 2"),
        ];
        for (is_right, key, expected) in checks {
            if !is_right {
                return Err(TrainingError::Range { key, expected });
            }
        }
        let paths =
            recipe.data.iter_mut().chain([&mut recipe.network, &mut recipe.checkpoint]).chain(&mut recipe.start);
        for path in paths {
            *path = directory.join(&*path);
        }
        Ok(recipe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_have_defaults_and_are_checked() {
        let text = "data = ['a.data']\nnetwork = 'a.nnue'\ncheckpoint = '/tmp/a.ckpt'\n";
        let parse = |more: &str| Recipe::parse(&format!("{text}{more}"), Path::new("/runs"));
        let recipe = parse("").unwrap();
        assert_eq!((recipe.hidden, recipe.pairs, recipe.batch, recipe.scale), (128, true, 16_384, None));
        assert_eq!(recipe.data, [Path::new("/runs/a.data")]);
        assert_eq!(recipe.checkpoint, Path::new("/tmp/a.ckpt"));
        for (more, error) in [
            ("hidden = 33", "hidden is a multiple of 32"),
            ("result = 2.0", "result is a number from 0 to 1"),
            ("epoch = 3", "unknown field `epoch`"),
            ("hidden = 'x'", "line 4: invalid type"),
            ("\nhidden = 32\nhidden = 64", "line 6: duplicate key"),
            ("hidden = ", "line 4: "),
        ] {
            let found = parse(more).unwrap_err().to_string();
            assert!(found.contains(error) && found.lines().count() == 1, "{more}: {found}");
        }
        // The ends of each range, and numbers beyond them.
        for (key, ends, beyond) in [
            ("hidden", ["32", "256"], ["0", "288"]),
            ("epochs", ["1", "100000"], ["0", "100001"]),
            ("batch", ["1", "4194304"], ["0", "4194305"]),
            ("rates", ["[0.0, 1.0]", "[1.0, 0.0]"], ["[-0.1, 0.5]", "[0.5, 1.1]"]),
            ("warm_up", ["0", "1000000"], ["-1", "1000001"]),
            ("decay", ["0.0", "1.0"], ["-0.1", "1.1"]),
            ("result", ["0.0", "1.0"], ["-0.1", "1.1"]),
            ("scale", ["1.0", "10000.0"], ["0.9", "10001.0"]),
            ("held_out", ["2", "4294967295"], ["0", "1"]),
        ] {
            assert!(ends.iter().all(|end| parse(&format!("{key} = {end}")).is_ok()), "{key}");
            assert!(beyond.iter().all(|number| parse(&format!("{key} = {number}")).is_err()), "{key}");
        }
        assert!(Recipe::parse("network = 'a'", Path::new("")).unwrap_err().to_string().contains("missing field"));
    }
}
