//! Builds whose search has variable parameters: `cargo test --features dsq-lab/tune --test tune`.

use doushouqi::board::Rules;
use doushouqi::search::bench::bench;
use doushouqi::search::{EngineOptions, Parameter};
use program::{folder, json, stdout};

#[path = "../../../tests/support/program.rs"]
mod program;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_dsq-lab");

/// The search works with the extreme values of each parameter. Nearly all of them change the nodes of a bench.
#[test]
fn parameters_change_the_search() {
    let nodes = |parameter: Option<(&Parameter, i32)>| {
        let mut options = EngineOptions::default().hash_mib(1);
        if let Some((parameter, value)) = parameter {
            options.set_parameter(parameter.name, &value.to_string()).unwrap();
        }
        bench(10, &options, &Rules::default()).nodes
    };
    let default = nodes(None);
    let changes = |parameter: &&Parameter| {
        assert_eq!(nodes(Some((parameter, parameter.default))), default, "{parameter:?}");
        [parameter.least, parameter.most].iter().any(|&value| nodes(Some((parameter, value))) != default)
    };
    let without_effect: Vec<_> = Parameter::ALL.iter().filter(|parameter| !changes(parameter)).collect();
    assert!(without_effect.len() <= 3, "{without_effect:?}");
}

/// A run has the same result on any number of threads, and a finished run stays as it is.
#[test]
fn tuning_is_repeatable() {
    let folder = folder("tuning");
    let run = |threads: &str| {
        let path = folder.join(threads);
        let arguments =
            ["tune", "--nodes", "50", "--games", "96", "--pairs", "2", "--openings", "random:16:1", "--rate", "0.5"];
        let more = ["--json", "--threads", threads, "--out", path.to_str().unwrap()];
        let lines = json(&[&arguments[..], &more].concat());
        let state = std::fs::read_to_string(&path).unwrap();
        assert_eq!(stdout(&[&arguments[..], &more].concat()), "");
        (lines, state)
    };
    let (lines, state) = run("1");
    assert_eq!(lines.len(), 24);
    assert!(lines.iter().zip(1..).all(|(line, trial)| line["games"] == 4 * trial));
    // Many trials are drawn and change nothing.
    assert!(lines.windows(2).any(|lines| lines[0]["parameters"] != lines[1]["parameters"]));
    assert_eq!(run("2"), (lines, state));
    std::fs::remove_dir_all(folder).unwrap();
}
