use clap::Args;
use cli::arguments::{JsonArg, RulesArg, SeedArg, ThreadsArg, at_least_one, positive};
use cli::failure::{Failure, Outcome};
use cli::input::read_text;
use cli::output::{check_output, print, print_json, to_json, write_file};
use cli::progress::{interrupt, progress_bar};
use doushouqi::board::Rules;
use doushouqi::game::Game;
use doushouqi::search::{Parameter, ParameterError};
use matches::{Adjudication, Conditions, Match, Openings, PlayerSpec, Spsa, Tally, TimeControl, Trial, Tuned};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The step of the last trial is the range of a parameter divided by this.
const STEPS: f64 = 20.0;
/// The time after which a player counts as crashed. Built-in players do not crash.
const PATIENCE: Duration = Duration::from_secs(60);

/// Tune the parameters of the search by games of the engine against itself (SPSA).
///
/// A trial is a few games between two sets of values, each parameter moved up or down at random from its value so far. The
/// result moves all values a little. The file of --out contains the state after each trial; the same command continues it.
/// The same seed gives the same values on any number of threads. The command needs a build with variable parameters:
/// `cargo build --release -p dsq-lab --features tune`.
///
/// Test the values that it prints at the end by `dsq match --sprt`, before they become defaults.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq-lab tune --games 20000 --out tuning.json --json > tuning.jsonl\n  \
                        dsq-lab tune --parameters rfp_margin,rfp_improving --games 5000 --out margins.json")]
pub struct Tune {
    /// The file of the state, to write or to continue
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The parameters; all of them if not given
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    parameters: Vec<String>,
    /// Number of games
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    games: u64,
    /// Nodes for each move
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = at_least_one::<u64>())]
    nodes: u64,
    /// Pairs of games for each trial
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = at_least_one::<u32>())]
    pairs: u32,
    /// The share of its step by which a won game moves a parameter at the end of the run
    #[arg(long, value_name = "SHARE", default_value_t = 0.005, value_parser = positive)]
    rate: f64,
    /// The openings, as for `dsq match`, without files
    #[arg(long, value_name = "OPENINGS", default_value = "biased")]
    openings: Openings,
    #[command(flatten)]
    seed: SeedArg,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
}

/// The state of a run. All of it but the values and the number of finished pairs comes from the options.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    nodes: u64,
    pairs_per_trial: u32,
    openings: String,
    rules: String,
    spsa: Spsa,
}

#[derive(Serialize)]
struct TrialReport<'a> {
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    parameters: BTreeMap<&'a str, f64>,
}

impl Tune {
    pub fn run(self) -> Outcome {
        let mut state = self.state()?;
        if !Parameter::TUNABLE {
            let text = "build dsq-lab with --features tune";
            return Err(Failure::Input(format!("{}: {text}", ParameterError::Constant)));
        }
        check_output(&self.out, &[])?;
        let stop = interrupt();
        let games = 2 * state.spsa.pairs;
        let bar = progress_bar(games, "games");
        bar.set_position(2 * state.spsa.done);
        bar.reset_eta();
        while state.spsa.done < state.spsa.pairs {
            let pairs = u64::from(self.pairs).min(state.spsa.pairs - state.spsa.done);
            let trial = state.spsa.trial(pairs);
            let tally = self.play(&state.spsa, &trial, pairs, stop)?;
            if stop.load(Ordering::Relaxed) {
                bar.finish_and_clear();
                let (done, out) = (2 * state.spsa.done, self.out.display());
                let text = format!("stopped after {done} of {games} games; the same command continues {out}");
                return Err(Failure::Interrupted(text));
            }
            state.spsa.update(&trial, tally.wins as i64 - tally.losses as i64);
            write_file(&self.out, &to_json(&state))?;
            bar.set_position(2 * state.spsa.done);
            if self.json.on {
                bar.suspend(|| print_json(&report(&state.spsa, &tally)))?;
            }
        }
        bar.finish_and_clear();
        if self.json.on { Ok(()) } else { print_values(&state) }
    }

    /// The state of a new run, or the one in the file.
    fn state(&self) -> Result<State, Failure> {
        let new = State {
            nodes: self.nodes,
            pairs_per_trial: self.pairs,
            openings: self.openings.to_string(),
            rules: self.rules.rules.to_string(),
            spsa: Spsa {
                seed: self.seed.seed,
                pairs: self.games.div_ceil(2),
                done: 0,
                rate: self.rate,
                parameters: self.tuned()?,
            },
        };
        let wrong = |text: String| Failure::Input(format!("{}: {text}", self.out.display()));
        new.spsa.check().map_err(|error| Failure::Input(error.to_string()))?;
        if !self.out.exists() {
            return Ok(new);
        }
        let text = read_text(&self.out)?;
        let state: State = serde_json::from_str(&text).map_err(|error| wrong(format!("is no state: {error}")))?;
        state.spsa.check().map_err(|error| wrong(error.to_string()))?;
        match difference(&state, &new) {
            Some(key) => Err(wrong(format!("is the state of a run with other {key}; use its options or another file"))),
            None => Ok(state),
        }
    }

    /// The parameters to tune, with their defaults.
    fn tuned(&self) -> Result<Vec<Tuned>, Failure> {
        let all = self.parameters.is_empty();
        let named = self.parameters.iter().map(|name| Parameter::find(name));
        let defaults = Parameter::ALL.iter().filter(|_| all).map(Ok);
        let mut tuned: Vec<Tuned> = Vec::new();
        for parameter in named.chain(defaults) {
            let &Parameter { name, default, least, most } =
                parameter.map_err(|error| Failure::Input(error.to_string()))?;
            if tuned.iter().any(|other| other.name == name) {
                return Err(Failure::Input(format!("--parameters names {name} twice")));
            }
            let step = f64::from(most - least) / STEPS;
            tuned.push(Tuned { name: name.to_owned(), value: default.into(), least, most, step });
        }
        Ok(tuned)
    }

    /// Plays a trial. Its openings follow those of the trial before.
    fn play(&self, spsa: &Spsa, trial: &Trial, pairs: u64, stop: &AtomicBool) -> Result<Tally, Failure> {
        let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
        let player = |values: &[i32]| player(spsa, values).parse::<PlayerSpec>().map_err(|error| input(&error));
        let games = Match {
            players: [player(&trial.plus)?, player(&trial.minus)?],
            games: 2 * pairs,
            first_pair: spsa.done,
            conditions: Conditions {
                control: TimeControl::Nodes(self.nodes),
                margin: Duration::ZERO,
                patience: PATIENCE,
            },
            openings: self.openings.clone(),
            adjudication: Adjudication::default(),
            concurrency: self.threads.count(),
            rules: Rules::new(self.rules.rules),
            no_capture_limit: Some(Game::NO_CAPTURE_LIMIT),
            assume_rules: false,
            sprt: None,
        };
        let standing = games.run(stop, &mut |_, _| ControlFlow::Continue(())).map_err(|error| input(&error))?;
        standing.opening_error.map_or(Ok(standing.tally), |error| Err(input(&error)))
    }
}

/// The engine with these values. A small table suffices for short searches, and is soon cleared for the next game.
fn player(spsa: &Spsa, values: &[i32]) -> String {
    let values = spsa.parameters.iter().zip(values).map(|(parameter, value)| format!(",{}={value}", parameter.name));
    format!("builtin:default,hash=4MiB{}", values.collect::<String>())
}

/// What is different about the options of two runs.
fn difference(a: &State, b: &State) -> Option<&'static str> {
    let names = |state: &State| state.spsa.parameters.iter().map(|tuned| tuned.name.clone()).collect::<Vec<_>>();
    let ranges = |state: &State| {
        let parameters = state.spsa.parameters.iter();
        parameters.map(|tuned| (tuned.least, tuned.most, tuned.step.to_bits())).collect::<Vec<_>>()
    };
    let checks = [
        (a.nodes == b.nodes, "nodes"),
        (a.pairs_per_trial == b.pairs_per_trial, "pairs of games for each trial"),
        (a.openings == b.openings, "openings"),
        (a.rules == b.rules, "rules"),
        (a.spsa.seed == b.spsa.seed, "random choices (seed)"),
        (a.spsa.pairs == b.spsa.pairs, "games"),
        (a.spsa.rate == b.spsa.rate, "rate"),
        (names(a) == names(b), "parameters"),
        (ranges(a) == ranges(b), "ranges of parameters"),
    ];
    checks.into_iter().find(|(same, _)| !same).map(|(_, key)| key)
}

fn report<'a>(spsa: &'a Spsa, tally: &Tally) -> TrialReport<'a> {
    let rounded = |tuned: &'a Tuned| (tuned.name.as_str(), (tuned.value * 1000.0).round() / 1000.0);
    TrialReport {
        games: 2 * spsa.done,
        wins: tally.wins,
        draws: tally.draws,
        losses: tally.losses,
        parameters: spsa.parameters.iter().map(rounded).collect(),
    }
}

/// Prints the values, and the command that tests them.
fn print_values(state: &State) -> Outcome {
    let spsa = &state.spsa;
    for tuned in &spsa.parameters {
        let default = Parameter::find(&tuned.name).map_or(0, |parameter| parameter.default);
        print(format_args!("{:20} {:>10.1}  (default {default})", tuned.name, tuned.value))?;
    }
    let values: Vec<i32> = spsa.parameters.iter().map(|tuned| tuned.value.round() as i32).collect();
    let nodes = state.nodes;
    print(format_args!(
        "dsq match {} builtin:default,hash=4MiB --nodes {nodes} --games 4064 --openings biased --sprt 0,10",
        player(spsa, &values)
    ))
}
