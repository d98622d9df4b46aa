use crate::arguments::{LevelArgs, NoCaptureArg, clock};
use crate::failure::failure_of_match;
use crate::games::Archive;
use clap::Args;
use cli::arguments::{JsonArg, RulesArg, at_least_one};
use cli::failure::{Failure, Outcome};
use cli::input::read_text;
use cli::output::{print, print_json};
use cli::progress::{interrupt, progress_bar};
use doushouqi::board::{Color, Rules};
use doushouqi::search::TableCache;
use indicatif::ProgressBar;
use matches::{
    Adjudication, Conditions, Decision, DrawRule, Match, MatchGame, Openings, PlayerSpec, ResignRule, Side, Sprt,
    Standing, TimeControl,
};
use report::text::grouped;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Play games between two engines and estimate the Elo difference.
///
/// A player is the command line of a UCI program; gtp:COMMAND or gtp2:COMMAND for a GTP program whose moves are one or
/// two commands (`dsq help gtp`); or a built-in player: builtin:default, builtin:burnett (Burnett's evaluation),
/// builtin:burnett-alphabeta (the papers' engine), builtin:random (any legal move). Options of a built-in player follow
/// after commas: hash=SIZE, threads=N, contempt=CP, tables=PATH, table-probe-depth=PLIES, network=FILE; seed=N for
/// builtin:random. An option that a player does not use is an error. To measure a change of the search, play builds
/// with and without it against each other.
///
/// The players play every opening twice, with colours exchanged. A game ends by the rules, by a late, illegal or
/// missing move, or by adjudication (--draw, --resign, --max-moves, --adjudicate-tables). With --nodes or --depth and
/// one thread per player, the same command plays the same games for every --concurrency. With --out, it continues a match
/// that was stopped.
///
/// Programs receive the rules and the no-capture limit (UCI options Rules and NoCaptureLimit, GTP commands
/// kata-set-rules and kata-set-rule). The match does not start if a program refuses the rules or lacks a command; GTP
/// has no limit of depth.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq match builtin:default builtin:burnett-alphabeta --games 200 --movetime 100\n  \
                        dsq match 'new/dsq uci' 'old/dsq uci' --games 4064 --nodes 2000 --openings biased --concurrency 2 --sprt 0,10\n  \
                        dsq match builtin:default builtin:random --games 20 --nodes 1000 --concurrency 2 --out games.txt\n  \
                        dsq match builtin:default 'other-engine --uci' --b-option Hash=64 --tc 10+0.1 --rules chinese\n  \
                        dsq match builtin:default 'gtp:dsq gtp' --nodes 10000 --openings openings.epd\n  \
                        dsq match builtin:default builtin:burnett --resign move-count=3,score=600 --draw move-number=30,move-count=6,score=10\n  \
                        dsq match 'dsq uci' 'old/dsq uci' --games 2000 --tc 2+0.02 --sprt 0,10"
)]
pub struct MatchCommand {
    /// The first player. The result is from its point of view.
    #[arg(value_name = "A")]
    first: PlayerSpec,
    /// The second player.
    #[arg(value_name = "B")]
    second: PlayerSpec,
    /// Number of games; with --sprt, the maximum number.
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    games: u64,
    #[command(flatten)]
    level: LevelArgs,
    /// Time control: seconds for the whole game, and the increment in seconds per move.
    #[arg(long, value_name = "SECONDS+INCREMENT", value_parser = clock, conflicts_with = "LevelArgs")]
    tc: Option<TimeControl>,
    /// Milliseconds by which a move may exceed its time.
    #[arg(long, value_name = "MS", default_value = "20")]
    margin: u64,
    /// Seconds after which a program that does not answer counts as crashed: a command without a search, or a move
    /// without a time limit.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    patience: u64,
    /// The openings: start; random:PLIES:SEED, random moves that do not decide the game; biased, positions in which one
    /// side stands clearly better; without:ANIMALS:PLIES:SEED, random moves of the other animals, then a handicap: the first
    /// player lacks these animals, as in without:LR:8:1; or a file with one FEN per line, EPD, or saved games. The match uses the openings of
    /// biased or a file in order, and then again from the beginning.
    #[arg(long, value_name = "OPENINGS", default_value = "random:8:1")]
    openings: String,
    /// Plies to play from each saved game of --openings.
    #[arg(long, value_name = "N", default_value = "8")]
    opening_plies: usize,
    /// Adjudicate a draw, from move-number on, when both players' scores stay within `score` centipawns for move-count
    /// moves.
    #[arg(long, value_name = "move-number=N,move-count=N,score=CP")]
    draw: Option<DrawRule>,
    /// Adjudicate a loss when a player's score stays at -score or below for move-count moves; with two-sided=yes the
    /// opponent's score must also stay at `score` or above.
    #[arg(long, value_name = "move-count=N,score=CP")]
    resign: Option<ResignRule>,
    /// Adjudicate a draw after this many moves of each side.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>())]
    max_moves: Option<u32>,
    /// Adjudicate a game by these endgame tables as soon as they contain its position, unless the no-capture limit
    /// would make a won game a draw.
    #[arg(long, value_name = "DIR")]
    adjudicate_tables: Option<PathBuf>,
    /// Number of games to play at the same time.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    no_capture: NoCaptureArg,
    /// Do not send the rules and the no-capture limit to programs, which play by them already.
    #[arg(long)]
    assume_rules: bool,
    /// Append each game to this file when it ends. Games of this match that are in the file already count and are not
    /// played again, so the same command continues a match.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Stop when a sequential probability ratio test accepts one of two normalised Elo differences (error rates of 5 %):
    /// 0,4 if no value follows, which tests for a gain; -4,0 tests for a simplification.
    #[arg(long, value_name = "NELO0,NELO1", num_args = 0..=1, default_missing_value = "0,4", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// An option of the first player, if it is a program.
    #[arg(long, value_name = "NAME=VALUE", value_parser = option)]
    a_option: Vec<(String, String)>,
    /// An option of the second player, if it is a program.
    #[arg(long, value_name = "NAME=VALUE", value_parser = option)]
    b_option: Vec<(String, String)>,
    #[command(flatten)]
    json: JsonArg,
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("{text:?} is not NAME=VALUE"))?;
    if text.contains(['\n', '\r']) {
        return Err("an option must be a single line".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Reports that a test will count games more than once: without time limits, a pair of games from the same opening is the
/// same pair, no further evidence.
fn warn_of_repeated_games(competition: &Match) {
    let timed = matches!(competition.conditions.control, TimeControl::MoveTime(_) | TimeControl::Clock { .. });
    if let Some(count) = competition.openings.count().filter(|&count| count < competition.games.div_ceil(2))
        && competition.sprt.is_some()
        && !timed
    {
        eprintln!("note: after {} games the {count} openings repeat, and with them the games", 2 * count);
    }
}

/// The openings that `text` describes, or the openings in the file of that name.
fn openings(text: &str, plies: usize) -> Result<Openings, Failure> {
    let path = Path::new(text);
    match text.parse::<Openings>() {
        Ok(openings) => Ok(openings),
        Err(_) if path.exists() => {
            let book = read_text(path)?;
            Openings::book(text, &book, plies).map_err(|e| Failure::Input(format!("{text}: {e}")))
        }
        Err(error) => Err(Failure::Input(format!("{error}, or the name of a file; there is no file {text:?}"))),
    }
}

#[derive(Serialize)]
struct GameReport<'a> {
    game: u64,
    white: &'a str,
    black: &'a str,
    result: &'static str,
    termination: &'static str,
    plies: usize,
    detail: Option<&'a str>,
    llr: Option<f64>,
}

#[derive(Serialize)]
struct Report<'a> {
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    score: Option<f64>,
    elo: Option<f64>,
    elo_error: Option<f64>,
    nelo: Option<f64>,
    nelo_error: Option<f64>,
    los: Option<f64>,
    pairs: [u64; 5],
    sprt: Option<SprtReport>,
    terminations: &'a BTreeMap<&'static str, u64>,
    plies: u64,
    players: [SideReport<'a>; 2],
    openings: String,
    complete: bool,
    seconds: f64,
}

#[derive(Serialize)]
struct SprtReport {
    nelo0: f64,
    nelo1: f64,
    llr: f64,
    decision: Option<&'static str>,
}

#[derive(Serialize)]
struct SideReport<'a> {
    player: &'a str,
    moves: u64,
    depth: Option<f64>,
    nodes_per_second: Option<f64>,
    milliseconds_per_move: f64,
    longest_milliseconds: f64,
    time_losses: u64,
    illegal_moves: u64,
    crashes: u64,
}

impl MatchCommand {
    pub fn run(self) -> Outcome {
        let first = self.first.with_program_options(self.a_option).map_err(failure_of_match)?;
        let second = self.second.with_program_options(self.b_option).map_err(failure_of_match)?;
        let control = self.tc.or(self.level.get()).unwrap_or(TimeControl::MoveTime(Duration::from_millis(100)));
        let tables = match &self.adjudicate_tables {
            Some(dir) => Some(TableCache::default().get(dir, &self.rules.rules)?),
            None => None,
        };
        let adjudication = Adjudication { draw: self.draw, resign: self.resign, max_moves: self.max_moves, tables };
        let competition = Match {
            players: [first, second],
            games: self.games,
            first_pair: 0,
            conditions: Conditions {
                control,
                margin: Duration::from_millis(self.margin),
                patience: Duration::from_secs(self.patience),
            },
            openings: openings(&self.openings, self.opening_plies)?,
            adjudication,
            concurrency: self.concurrency.into(),
            rules: Rules::new(self.rules.rules),
            no_capture_limit: self.no_capture.get(),
            assume_rules: self.assume_rules,
            sprt: self.sprt,
        };
        warn_of_repeated_games(&competition);
        let stop = interrupt();
        let mut file = self.out.as_deref().map(Archive::open).transpose()?;
        let earlier = file.as_mut().map_or(Ok(Vec::new()), Archive::hold)?;
        let earlier = competition.games_of(earlier);
        let known: BTreeSet<u64> = earlier.keys().copied().collect();
        if let Some(path) = self.out.as_ref().filter(|_| !known.is_empty()) {
            eprintln!("{} of {} games of this match are in {}", known.len(), self.games, path.display());
        }
        let bar = progress_bar(self.games, "games");
        let begin = Instant::now();
        let mut failure = Ok(());
        let result = competition.resume(earlier, stop, &mut |game, standing| {
            if known.contains(&game.number) {
                bar.inc(1);
                return ControlFlow::Continue(());
            }
            let done = file.as_mut().map_or(Ok(()), |file| file.append(&game.played.record));
            let done = done.and_then(|()| {
                if self.json.on { bar.suspend(|| print_game(&competition, game, standing)) } else { Ok(()) }
            });
            show(&bar, &competition, game, standing);
            match done {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Err(error);
                    ControlFlow::Break(())
                }
            }
        });
        bar.finish_and_clear();
        let standing = result.map_err(failure_of_match)?;
        if failure.is_ok()
            && let Some(error) = &standing.opening_error
        {
            failure = Err(Failure::Input(error.to_string()));
        }
        let stopped = stop.load(Ordering::Relaxed);
        let report = report(&competition, &standing, failure.is_ok() && !stopped, begin.elapsed());
        let printed = if self.json.on { print_json(&report) } else { print_text(&report) };
        failure.and(printed)?;
        if !stopped {
            return Ok(());
        }
        Err(Failure::Interrupted(format!(
            "stopped after {} of {} games; the result counts them",
            report.games, self.games
        )))
    }
}

fn print_game(competition: &Match, game: &MatchGame, standing: &Standing) -> Outcome {
    let record = &game.played.record;
    let conclusion = record.conclusion();
    print_json(&GameReport {
        game: game.number + 1,
        white: &record.white,
        black: &record.black,
        result: conclusion.result(),
        termination: conclusion.termination(),
        plies: record.game.moves().len(),
        detail: game.played.detail.as_deref(),
        llr: competition.sprt.map(|sprt| sprt.llr(&standing.tally)),
    })
}

/// Updates the progress bar, and reports a forfeit on stderr.
fn show(bar: &ProgressBar, competition: &Match, game: &MatchGame, standing: &Standing) {
    if let Some(detail) = &game.played.detail {
        let record = &game.played.record;
        let loser = record.forfeit.map_or("", |forfeit| match forfeit.loser {
            Color::White => &record.white,
            Color::Black => &record.black,
        });
        let word = record.conclusion().termination();
        bar.suspend(|| eprintln!("game {}: {loser} loses by {word}: {detail}", game.number + 1));
    }
    let tally = &standing.tally;
    let llr = competition.sprt.map(|sprt| format!(", LLR {:.2}", sprt.llr(tally)));
    bar.set_message(format!("+{} ={} -{}{}", tally.wins, tally.draws, tally.losses, llr.unwrap_or_default()));
    bar.inc(1);
}

fn report<'a>(competition: &'a Match, standing: &'a Standing, complete: bool, time: Duration) -> Report<'a> {
    let tally = &standing.tally;
    let side = |i: usize| {
        let Side { time_losses, illegal_moves, crashes, usage } = standing.players[i];
        SideReport {
            player: competition.players[i].name(),
            moves: usage.moves,
            depth: usage.depth(),
            nodes_per_second: usage.speed().map(f64::round),
            milliseconds_per_move: usage.time.as_secs_f64() * 1e3 / usage.moves.max(1) as f64,
            longest_milliseconds: usage.longest.as_secs_f64() * 1e3,
            time_losses,
            illegal_moves,
            crashes,
        }
    };
    let sprt = competition.sprt.map(|sprt| SprtReport {
        nelo0: sprt.nelo0(),
        nelo1: sprt.nelo1(),
        llr: sprt.llr(tally),
        decision: sprt.decision(tally).map(|decision| match decision {
            Decision::Lower => "nelo0",
            Decision::Higher => "nelo1",
        }),
    });
    Report {
        games: tally.games(),
        wins: tally.wins,
        draws: tally.draws,
        losses: tally.losses,
        score: tally.score(),
        elo: tally.elo(),
        elo_error: tally.elo_error(),
        nelo: tally.nelo().map(|(nelo, _)| nelo),
        nelo_error: tally.nelo().map(|(_, error)| error),
        los: tally.los(),
        pairs: tally.pairs,
        sprt,
        terminations: &standing.terminations,
        plies: standing.plies,
        players: [side(0), side(1)],
        openings: competition.openings.to_string(),
        complete,
        seconds: time.as_secs_f64(),
    }
}

fn print_text(report: &Report<'_>) -> Outcome {
    let [first, second] = &report.players;
    print(format_args!("{} against {}: {} games, {:.1} s", first.player, second.player, report.games, report.seconds))?;
    let Some(score) = report.score else { return Ok(()) };
    print(format_args!("won {}, drawn {}, lost {}: {:.1} %", report.wins, report.draws, report.losses, score * 100.0))?;
    let number = |elo: Option<f64>, sign: f64| {
        elo.map_or_else(
            || (if sign > 0.0 { "infinite" } else { "minus infinite" }).to_owned(),
            |elo| format!("{elo:+.1}"),
        )
    };
    let error = report.elo_error.map_or_else(|| "unknown".to_owned(), |error| format!("{error:.1}"));
    let los = report.los.map_or_else(|| "unknown".to_owned(), |los| format!("{:.1} %", los * 100.0));
    print(format_args!(
        "Elo difference {}, error {error} (95 %); likelihood of superiority {los}",
        number(report.elo, score - 0.5)
    ))?;
    if let (Some(nelo), Some(error)) = (report.nelo, report.nelo_error) {
        print(format_args!("normalised Elo difference {nelo:+.1}, error {error:.1} (95 %)"))?;
    }
    let [a, b, c, d, e] = report.pairs;
    print(format_args!("pairs of 0, 1/2, 1, 3/2, 2 points: {a}, {b}, {c}, {d}, {e}; openings {}", report.openings))?;
    if let Some(sprt) = &report.sprt {
        let SprtReport { nelo0, nelo1, llr, decision } = sprt;
        let decision = match decision {
            Some("nelo1") => format!("the difference is {nelo1} or more"),
            Some(_) => format!("the difference is {nelo0} or less"),
            None => "not decided".to_owned(),
        };
        let bound = Sprt::BOUND;
        print(format_args!(
            "SPRT {nelo0},{nelo1} (normalised Elo): log-likelihood ratio {llr:.2} of {bound:.2}: {decision}"
        ))?;
    }
    let ends: Vec<String> = report.terminations.iter().map(|(word, count)| format!("{word} {count}")).collect();
    print(format_args!("ends: {}; {:.1} plies per game", ends.join(", "), report.plies as f64 / report.games as f64))?;
    let width = report.players.iter().map(|side| side.player.chars().count()).max().unwrap_or(0);
    print(format_args!(
        "{:width$} {:>9} {:>6} {:>11} {:>9} {:>9} {:>5} {:>8} {:>8}",
        "", "moves", "depth", "nodes/s", "ms/move", "longest", "late", "illegal", "crashes"
    ))?;
    for side in &report.players {
        let depth = side.depth.map_or_else(|| "-".to_owned(), |depth| format!("{depth:.1}"));
        let speed = side.nodes_per_second.map_or_else(|| "-".to_owned(), |speed| grouped(speed as u64));
        print(format_args!(
            "{:width$} {:>9} {depth:>6} {speed:>11} {:>9.1} {:>9.1} {:>5} {:>8} {:>8}",
            side.player,
            side.moves,
            side.milliseconds_per_move,
            side.longest_milliseconds,
            side.time_losses,
            side.illegal_moves,
            side.crashes
        ))?;
    }
    Ok(())
}
