use clap::Args;
use cli::arguments::{JsonArg, RulesArg, SeedArg, ThreadsArg, at_least_one};
use cli::continued::ContinuedFile;
use cli::failure::{Failure, Outcome};
use cli::output::{check_output, parse_json_lines, print, print_json, to_json};
use cli::progress::{interrupt, progress_bar};
use doushouqi::board::{Animal, Color, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::tablebase::AnimalSet;
use matches::{Adjudication, Conditions, Match, MatchGame, Openings, PlayerSpec, Tally, TimeControl};
use report::text::Table;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Both players. A small table suffices for short searches, and is soon cleared for the next game.
const PLAYER: &str = "builtin:default,hash=4MiB";

/// What is an animal worth at the start? Games of the engine against itself in which one side lacks some of its animals.
///
/// A pair of games has the same opening, random moves of the other animals that capture nothing; White lacks the animals in
/// one game, Black in the other. The games are those of `dsq match --openings without:ANIMALS:PLIES:SEED`. The file of --out
/// contains a line for each handicap, with all finished pairs; the same command continues it, also for more games. The same
/// seed gives the same games on any number of threads.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq-lab handicaps --out handicaps.jsonl\n  \
                        dsq-lab handicaps --missing R,C,LT --games 100 --nodes 2000 --out some.jsonl --json")]
pub struct Handicaps {
    /// The file of the results, to write or to continue
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The animals that one side lacks, as letters: R,EL. By default nothing, each animal, and each two animals
    #[arg(long, value_name = "TEAMS", value_delimiter = ',', value_parser = team)]
    missing: Vec<AnimalSet>,
    /// Games for each handicap
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    games: u64,
    /// Nodes for each move
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = at_least_one::<u64>())]
    nodes: u64,
    /// Random plies before each game
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(..=40))]
    plies: u32,
    #[command(flatten)]
    seed: SeedArg,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
}

fn team(text: &str) -> Result<AnimalSet, String> {
    let set: AnimalSet = text.parse().map_err(|error: doushouqi::tablebase::ParseMaterialError| error.to_string())?;
    if set.len() < Animal::COUNT { Ok(set) } else { Err("a side needs an animal".to_owned()) }
}

/// The rules in as few words as possible.
pub(super) fn rules_name(rules: &RuleOptions) -> String {
    rules.preset_name().map_or_else(|| rules.to_string(), str::to_owned)
}

/// The games of a handicap so far, from the view of the side that lacks the animals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Handicap {
    missing: String,
    rules: String,
    openings: String,
    nodes: u64,
    games: u64,
    /// Points a game, and half the width of its 95 % interval.
    score: f64,
    error: Option<f64>,
    /// Won, drawn and lost as White, and as Black.
    white: [u64; 3],
    black: [u64; 3],
    /// The pairs of games with 0, 1/2, 1, 3/2 and 2 points.
    pairs: [u64; 5],
    /// The plies after the opening of all games that were won, drawn and lost.
    plies: [u64; 3],
    /// The games by their end, as the tag `Termination`.
    ends: BTreeMap<String, u64>,
}

impl Handicap {
    fn new(missing: AnimalSet, options: &Handicaps) -> Handicap {
        Handicap {
            missing: missing.to_string(),
            rules: rules_name(&options.rules.rules),
            openings: options.openings(missing).to_string(),
            nodes: options.nodes,
            games: 0,
            score: 0.0,
            error: None,
            white: [0; 3],
            black: [0; 3],
            pairs: [0; 5],
            plies: [0; 3],
            ends: BTreeMap::new(),
        }
    }

    /// Won, drawn and lost.
    fn wdl(&self) -> [u64; 3] {
        std::array::from_fn(|i| self.white[i] + self.black[i])
    }

    fn tally(&self) -> Tally {
        let [wins, draws, losses] = self.wdl();
        Tally { wins, draws, losses, pairs: self.pairs }
    }

    /// Whether the numbers of games agree.
    fn is_sound(&self) -> bool {
        let sum = |numbers: &[u64]| numbers.iter().fold(0u64, |sum, &number| sum.saturating_add(number));
        let ends = self.ends.values().fold(0u64, |sum, &number| sum.saturating_add(number));
        let half = self.games / 2;
        self.games.is_multiple_of(2)
            && ends == self.games
            && [sum(&self.white), sum(&self.black), sum(&self.pairs)].iter().all(|&games| games == half)
    }

    /// Adds the two games of a pair.
    fn add(&mut self, pair: [&MatchGame; 2]) {
        let mut tally = self.tally();
        let halves = pair.map(MatchGame::halves);
        for (game, halves) in pair.into_iter().zip(halves) {
            let is_white = game.players[Color::White] == 0;
            let side = if is_white { &mut self.white } else { &mut self.black };
            side[2 - halves] += 1;
            let record = &game.played.record;
            self.plies[2 - halves] += record.game.moves().len() as u64;
            *self.ends.entry(record.conclusion().termination().to_owned()).or_default() += 1;
            tally.add_game(halves);
        }
        tally.add_pair(halves[0], halves[1]);
        self.pairs = tally.pairs;
        self.games = tally.games();
        self.score = rounded(tally.score().unwrap_or(0.0));
        self.error = tally.score_error().map(rounded);
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

impl Handicaps {
    pub fn run(self) -> Outcome {
        let mut results = self.results()?;
        let teams = self.teams();
        let games = self.games.next_multiple_of(2);
        let stop = interrupt();
        let bar = progress_bar(games * teams.len() as u64, "games");
        let played = |all: &[Handicap]| -> u64 { all.iter().map(|handicap| handicap.games.min(games)).sum() };
        for &team in &teams {
            let at = self.place(&mut results.all, team);
            bar.set_message(if team.is_empty() { "nothing missing".to_owned() } else { format!("without {team}") });
            bar.set_position(played(&results.all));
            bar.reset_eta();
            self.play(team, games, &mut results, at, stop, &|| bar.inc(2))?;
            if stop.load(Ordering::Relaxed) {
                bar.finish_and_clear();
                let (done, out) = (played(&results.all), self.out.display());
                let text = format!(
                    "stopped after {done} of {} games; the same command continues {out}",
                    bar.length().unwrap_or(0)
                );
                return Err(Failure::Interrupted(text));
            }
        }
        bar.finish_and_clear();
        let asked: Vec<&Handicap> =
            teams.iter().filter_map(|team| results.all.iter().find(|it| it.missing == team.to_string())).collect();
        if self.json.on { asked.into_iter().try_for_each(print_json) } else { print_table(&asked) }
    }

    /// The teams that are asked for.
    fn teams(&self) -> Vec<AnimalSet> {
        if !self.missing.is_empty() {
            let named = self.missing.iter().enumerate();
            return named.filter(|(i, team)| !self.missing[..*i].contains(team)).map(|(_, &team)| team).collect();
        }
        let one = |animal| AnimalSet::EMPTY.with(animal);
        let strongest_first = || Animal::ALL.into_iter().rev();
        let pairs =
            strongest_first().flat_map(|a| strongest_first().filter(move |&b| b < a).map(move |b| one(a).with(b)));
        [AnimalSet::EMPTY].into_iter().chain(strongest_first().map(one)).chain(pairs).collect()
    }

    fn openings(&self, animals: AnimalSet) -> Openings {
        Openings::Without { animals, plies: self.plies, seed: self.seed.seed }
    }

    /// The place of a handicap in the list, which has it from now on.
    fn place(&self, all: &mut Vec<Handicap>, team: AnimalSet) -> usize {
        let missing = team.to_string();
        all.iter().position(|handicap| handicap.missing == missing).unwrap_or_else(|| {
            all.push(Handicap::new(team, self));
            all.len() - 1
        })
    }

    /// The file, and the handicaps in it.
    fn results(&self) -> Result<Results, Failure> {
        check_output(&self.out, &[])?;
        let (file, text) = ContinuedFile::open(&self.out, "{\"missing\":")?;
        let all: Vec<Handicap> = parse_json_lines(&self.out, &text)?;
        for (i, handicap) in all.iter().enumerate() {
            let wrong = |text: &str| Err(Failure::Input(format!("{}, line {}: {text}", self.out.display(), i + 1)));
            let Ok(team) = team(&handicap.missing) else { return wrong("one side lacks no such animals") };
            let new = Handicap::new(team, self);
            let checks = [
                (handicap.nodes == new.nodes, "nodes"),
                (handicap.openings == new.openings, "openings (--plies or --seed)"),
                (handicap.rules == new.rules, "rules"),
            ];
            if let Some((_, key)) = checks.into_iter().find(|(same, _)| !same) {
                return wrong(&format!("games with other {key}; use their options or another file"));
            }
            if !handicap.is_sound() || all[..i].iter().any(|other| other.missing == handicap.missing) {
                return wrong("the numbers of games do not agree, or the handicap is there twice");
            }
        }
        Ok(Results { file, all })
    }

    /// Plays the games that are missing, and writes the file after each pair.
    fn play(
        &self,
        team: AnimalSet,
        games: u64,
        Results { file, all }: &mut Results,
        at: usize,
        stop: &AtomicBool,
        pair_done: &dyn Fn(),
    ) -> Outcome {
        let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
        let player: PlayerSpec = PLAYER.parse().map_err(|error| input(&error))?;
        let before = all[at].games;
        let games = Match {
            players: [player.clone(), player],
            games: games.saturating_sub(before),
            first_pair: before / 2,
            conditions: Conditions {
                control: TimeControl::Nodes(self.nodes),
                margin: Duration::ZERO,
                patience: Duration::from_secs(60),
            },
            openings: self.openings(team),
            adjudication: Adjudication::default(),
            concurrency: self.threads.count(),
            rules: Rules::new(self.rules.rules),
            no_capture_limit: Some(Game::NO_CAPTURE_LIMIT),
            assume_rules: false,
            sprt: None,
        };
        if games.games == 0 {
            return Ok(());
        }
        let mut first: Option<MatchGame> = None;
        let mut written = Ok(());
        let standing = games.run(stop, &mut |game, _| {
            // After a stop games may be missing, and a later one is played again.
            match first.take() {
                None if game.number == all[at].games - before => first = Some(game.clone()),
                Some(half) if game.number == half.number + 1 => {
                    all[at].add([&half, game]);
                    written = file.replace(&lines(all));
                    pair_done();
                }
                _ => return ControlFlow::Break(()),
            }
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        standing.map_err(|error| input(&error))?.opening_error.map_or(Ok(()), |error| Err(input(&error)))
    }
}

/// The handicaps so far, and the file that keeps them.
struct Results {
    file: ContinuedFile,
    all: Vec<Handicap>,
}

/// The lines of the file.
fn lines(all: &[Handicap]) -> String {
    all.iter().filter(|it| it.games > 0).map(|it| to_json(it) + "\n").collect()
}

fn print_table(handicaps: &[&Handicap]) -> Outcome {
    let mut table =
        Table::new(&["missing", "games", "score", "+-", "won", "drawn", "lost", "White", "Black", "plies", "ends"]);
    for it in handicaps {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let score = |[won, drawn, lost]: [u64; 3]| {
            Tally { wins: won, draws: drawn, losses: lost, pairs: [0; 5] }.score().map_or_else(String::new, percent)
        };
        let ends: Vec<String> = it.ends.iter().map(|(end, games)| format!("{end} {games}")).collect();
        let [won, drawn, lost] = it.wdl().map(|games| games.to_string());
        let plies = it.plies.iter().sum::<u64>() / it.games.max(1);
        table.row([
            if it.missing.is_empty() { "-".to_owned() } else { it.missing.clone() },
            it.games.to_string(),
            percent(it.score),
            it.error.map_or_else(String::new, percent),
            won,
            drawn,
            lost,
            score(it.white),
            score(it.black),
            plies.to_string(),
            ends.join(", "),
        ]);
    }
    print(table.aligned().trim_end())
}
