use crate::arguments::OptionalRulesArg;
use crate::on_demand::OnDemandArgs;
use clap::Args;
use cli::arguments::{JsonArg, ThreadsArg};
use cli::failure::{Failure, Outcome};
use cli::input::lines_as_they_arrive;
use cli::output::{print, print_json};
use cli::progress::{exit_on_interrupt, interrupt, progress_bar};
use doushouqi::board::{Fen, Move, Position};
use doushouqi::tablebase::{
    AnswerSource, Content, CountPhase, CountProgress, DtzProber, Follow, Material, OnDemandAnswer, OnDemandError,
    Probe as _, ProbeDtz as _, ProbeWdl as _, TablePath, TableProber, TableSet, Value, ValueAtClock, ValueWithMoves,
    Wdl, WdlProber,
};
use serde::Serialize;
use std::cmp::Reverse;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Look up positions in endgame tables: win, draw or loss, the distance in plies, and the value of each move.
///
/// Tables of `dsq generate --metric dtz` know a no-capture limit: the number behind the side to move, the plies since the
/// last capture, then counts, and results are exact at this clock.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq probe --tables tables '7/7/3e3/7/7/7/3E3/7/7 w' --line\n  \
                        dsq probe --tables tables --json - < positions.fen\n  \
                        dsq probe --tables limited '7/7/3e3/7/7/7/3E3/7/7 w 90'\n  \
                        dsq probe --tables tables --on-demand '7/2P4/3d3/1T5/7/7/4E2/2l4/3t3 w'")]
pub struct Probe {
    /// The directory of the tables, as `dsq generate` writes it; or two, separated by `:` (on Windows `;`): distances to the end
    /// and values under a no-capture limit.
    #[arg(long, value_name = "PATH")]
    tables: PathBuf,
    /// Positions; `-` reads one per line from standard input.
    #[arg(value_name = "FEN", required = true)]
    fens: Vec<String>,
    #[command(flatten)]
    rules: OptionalRulesArg,
    /// Also show a line of best play to the end.
    #[arg(long)]
    line: bool,
    #[command(flatten)]
    json: JsonArg,
    #[command(flatten)]
    on_demand: OnDemandArgs,
    /// Also count if a search has found the value of the position, but not the values of all its moves.
    #[arg(long, requires = "on_demand")]
    all_moves: bool,
    #[command(flatten)]
    threads: ThreadsArg,
}

#[derive(Serialize)]
struct Report {
    fen: String,
    wdl: Wdl,
    dtw: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<AnswerSource>,
    moves: Vec<MoveReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Vec<String>>,
}

#[derive(Serialize)]
struct MoveReport {
    r#move: String,
    /// `None` if a search did not find the value of the move.
    wdl: Option<Wdl>,
    dtw: Option<u16>,
}

/// A position of tables that know a no-capture limit.
#[derive(Serialize)]
struct DtzReport {
    fen: String,
    limit: u16,
    #[serde(flatten)]
    value: ValueAtClock,
    /// Without the limit, if there are tables of distances.
    #[serde(skip_serializing_if = "Option::is_none")]
    dtw: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<AnswerSource>,
    moves: Vec<DtzMove>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Vec<String>>,
}

#[derive(Serialize)]
struct DtzMove {
    r#move: String,
    #[serde(flatten)]
    value: ValueAtClock,
}

/// The way out if a position has more pieces than the tables.
const ONE_MORE: &str = " (--on-demand answers one more)";

/// A value at a clock in words.
fn clock_text(ValueAtClock { category, dtz, .. }: &ValueAtClock) -> String {
    let result = match *category {
        "cursed-win" => "draw: the limit spoils the win",
        "blessed-loss" => "draw: the limit saves the loss",
        category => category,
    };
    dtz.map_or_else(|| result.to_owned(), |plies| format!("{result}, {plies} plies to a capture or den"))
}

/// The values of a position and of its moves, and best play if it is requested.
struct Answer {
    values: OnDemandAnswer,
    line: Option<Vec<(Move, Position)>>,
}

impl Probe {
    pub fn run(self) -> Outcome {
        let TablePath { distances, results, limited } = TablePath::open(&self.tables)?;
        let rules_of = |set: &TableSet| self.rules.rules.unwrap_or(set.rules().options().within(None));
        let (set, rules) = match (limited, distances.or(results)) {
            (Some(limited), others) => {
                let rules = rules_of(&limited);
                let prober = limited.dtz_prober(&rules)?;
                let distances = others.map(|set| set.prober(&rules)).transpose()?;
                let prober = self.on_demand.open(prober)?;
                let each = |fen: &String| self.probe_dtz(&prober, distances.as_ref(), fen);
                return self.threads.run(|| self.each(&|fens| fens.iter().try_for_each(each)))?;
            }
            (None, Some(set)) => {
                let rules = rules_of(&set);
                (set, rules)
            }
            (None, None) => return Ok(()),
        };
        if set.content() == Content::Wdl && !self.line && !self.on_demand.on_demand {
            let prober = set.wdl_prober(&rules)?;
            let probe = |fens: &[String]| fens.iter().try_for_each(|fen| self.probe_results(&prober, fen));
            return self.threads.run(|| self.each(&probe))?;
        }
        let prober = self.on_demand.open(set.prober(&rules)?)?;
        self.threads.run(|| self.each(&|fens| self.probe_group(&prober, fens)))?
    }

    /// Calls `probe` with all FENs, in groups.
    fn each(&self, probe: &dyn Fn(&[String]) -> Outcome) -> Outcome {
        for fens in self.fens.split_inclusive(|fen| fen == "-") {
            let is_input = fens.last().is_some_and(|fen| fen == "-");
            probe(&fens[..fens.len() - usize::from(is_input)])?;
            if !is_input {
                continue;
            }
            for lines in lines_as_they_arrive(io::stdin()) {
                let mut lines = lines.map_err(|e| Failure::reading("standard input", &e))?;
                lines.retain(|line| !line.trim().is_empty());
                probe(&lines)?;
            }
        }
        Ok(())
    }

    /// Prints the results of a position and its moves, from tables without distances.
    fn probe_results(&self, prober: &WdlProber, fen: &str) -> Outcome {
        let position = parse(fen)?;
        let Some(wdl) = prober.wdl(&position)? else {
            return Err(self.too_many(fen, &position, prober.set(), ""));
        };
        let mut moves = Vec::new();
        for &mv in &position.moves(prober.set().rules()) {
            let after = prober.wdl(&position.make(mv))?;
            moves.push((mv, after.map(Wdl::before)));
        }
        moves.sort_by_key(|&(_, wdl)| Reverse(wdl));
        if self.json.on {
            let moves = moves.iter().map(|&(mv, wdl)| MoveReport { r#move: mv.notation(&position), wdl, dtw: None });
            let (fen, moves) = (position.to_fen(), moves.collect());
            return print_json(&Report { fen, wdl, dtw: None, source: None, moves, line: None });
        }
        print(format_args!("{}{}: {}", position.to_picture(), position.to_fen(), result(wdl)))?;
        for (mv, wdl) in moves {
            print(format_args!("  {:5} {}", mv.notation(&position), wdl.map_or("not in the tables", result)))?;
        }
        Ok(())
    }

    /// Prints the value of a position and its moves at the clock of the FEN, from tables that know a no-capture limit.
    fn probe_dtz(&self, prober: &DtzProber, distances: Option<&TableProber>, text: &str) -> Outcome {
        let fen: Fen = text.parse().map_err(|e| Failure::Input(format!("{text:?}: {e}")))?;
        let position = &fen.position;
        let limit = prober.limit();
        let too_late = || Failure::Input(format!("{text:?}: the clock is beyond the limit of {limit} plies"));
        let left = u32::from(limit).checked_sub(fen.halfmove_clock).ok_or_else(too_late)?;
        let source = match prober.counter() {
            Some(counter) => {
                counting(|follow| counter.count(position, follow)).map(|()| Some(prober.source(position)))?
            }
            None => None,
        };
        let (Some(value), Some(moves)) = (prober.dtz(position)?, prober.dtz_moves(position, left)?) else {
            return Err(self.too_many(text, position, prober.set(), ONE_MORE));
        };
        let to_end = distances.map(|tables| tables.value(position)).transpose()?.flatten();
        let dtw = to_end.and_then(|value| value.dtw);
        let moves =
            moves.into_iter().map(|(mv, value)| DtzMove { r#move: mv.notation(position), value: value.at(left) });
        let line = if self.line { Some(prober.dtz_line(position, left)?) } else { None };
        let line = line.map(|line| line.iter().map(|(mv, position)| mv.notation(position)).collect());
        let (fen, value, moves) = (fen.to_string(), value.at(left), moves.collect());
        let report = DtzReport { fen, limit, value, dtw, source, moves, line };
        if self.json.on {
            return print_json(&report);
        }
        print(format_args!("{}{}: {}", position.to_picture(), report.fen, clock_text(&report.value)))?;
        if let Some(plies) = dtw {
            print(format_args!("  without the limit, {plies} plies to the end"))?;
        }
        for DtzMove { r#move, value } in &report.moves {
            print(format_args!("  {:5} {}", r#move, clock_text(value)))?;
        }
        match report.line {
            Some(line) if !line.is_empty() => print(format_args!("  line  {}", line.join(" "))),
            _ => Ok(()),
        }
    }

    fn too_many(&self, fen: &str, position: &Position, set: &TableSet, hint: &str) -> Failure {
        let pieces = Material::of(position).map_or(0, Material::len);
        let (tables, most) = (self.tables.display(), set.classes().pieces());
        Failure::Input(format!("{fen:?} has {pieces} pieces; the tables in {tables} go to {most}{hint}"))
    }

    /// The answer for a position, given its values if they are known; `None` if the tables do not cover it.
    fn answer(
        &self,
        prober: &TableProber,
        position: &Position,
        known: Option<ValueWithMoves>,
    ) -> Result<Option<Answer>, Failure> {
        if prober.counter().is_some() {
            let answer = counting(|follow| {
                let line = if self.line { Some(prober.probe_line(position, follow)?) } else { None };
                Ok(Answer { values: prober.probe(position, self.all_moves, follow)?, line })
            });
            return answer.map(Some);
        }
        let (value, moves) = match known {
            Some(known) => known,
            None => (prober.value(position)?, prober.moves(position)?),
        };
        let (Some(value), Some(moves)) = (value, moves) else { return Ok(None) };
        let moves = moves.into_iter().map(|(mv, value)| (mv, Some(value))).collect();
        let values = OnDemandAnswer { value, moves, source: AnswerSource::Tables };
        let line = if self.line { Some(prober.line(position)?) } else { None };
        Ok(Some(Answer { values, line }))
    }

    /// Prints the values of positions, which it reads from the tables together. After an error of the tables it reads
    /// them one by one, so that those before the damaged block are printed.
    fn probe_group(&self, prober: &TableProber, fens: &[String]) -> Outcome {
        let positions = || fens.iter().map_while(|fen| parse(fen).ok()).collect::<Vec<_>>();
        let known = match fens.len() > 1 && prober.counter().is_none() {
            true => prober.values_with_moves(&positions()).unwrap_or_default(),
            false => Vec::new(),
        };
        let mut known = known.into_iter();
        fens.iter().try_for_each(|fen| self.probe(prober, fen, known.next()))
    }

    fn probe(&self, prober: &TableProber, fen: &str, known: Option<ValueWithMoves>) -> Outcome {
        let position = parse(fen)?;
        let Some(Answer { values, line }) = self.answer(prober, &position, known)? else {
            return Err(self.too_many(fen, &position, prober.set(), ONE_MORE));
        };
        let OnDemandAnswer { value, moves, source } = values;
        let name = |(mv, position): &(Move, Position)| mv.notation(position);
        let report = Report {
            fen: position.to_fen(),
            wdl: value.wdl,
            dtw: value.dtw,
            source: self.on_demand.on_demand.then_some(source),
            moves: moves
                .iter()
                .map(|(mv, v)| MoveReport {
                    r#move: mv.notation(&position),
                    wdl: v.map(|v| v.wdl),
                    dtw: v.and_then(|v| v.dtw),
                })
                .collect(),
            line: line.map(|line| line.iter().map(name).collect()),
        };
        if self.json.on {
            return print_json(&report);
        }
        print(format_args!("{}{}: {}", position.to_picture(), report.fen, value_text(Some(value))))?;
        for (mv, value) in moves {
            print(format_args!("  {:5} {}", mv.notation(&position), value_text(value)))?;
        }
        match report.line {
            Some(line) if !line.is_empty() => print(format_args!("  line  {}", line.join(" "))),
            _ => Ok(()),
        }
    }
}

/// Runs what may count positions, and shows the progress. Ctrl-C ends it.
fn counting<T>(run: impl FnOnce(Follow<'_>) -> Result<T, OnDemandError>) -> Result<T, Failure> {
    let stop = interrupt();
    let bar = progress_bar(1000, "%");
    let follow = |progress: CountProgress| {
        bar.set_message(match progress.phase {
            CountPhase::Waiting => "waiting",
            CountPhase::Reading => "reading tables",
            CountPhase::Conversions => "captures",
            CountPhase::Passes => "passes",
            CountPhase::Writing => "writing the table",
        });
        bar.set_position((1000.0 * progress.fraction) as u64);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let done = run(&follow);
    exit_on_interrupt(&bar, "the positions printed so far are complete");
    bar.finish_and_clear();
    let done = done?;
    if stop.load(Ordering::Relaxed) { Err(OnDemandError::Cancelled.into()) } else { Ok(done) }
}

fn parse(fen: &str) -> Result<Position, Failure> {
    Position::from_fen(fen).map_err(|e| Failure::Input(format!("{fen:?}: {e}")))
}

fn result(wdl: Wdl) -> &'static str {
    match wdl {
        Wdl::Win => "win",
        Wdl::Draw => "draw",
        Wdl::Loss => "loss",
    }
}

fn value_text(value: Option<Value>) -> String {
    match value {
        Some(Value { wdl: Wdl::Win, dtw: Some(plies) }) => format!("win in {plies} plies"),
        Some(Value { wdl: Wdl::Loss, dtw: Some(plies) }) => format!("loss in {plies} plies"),
        Some(_) => "draw".to_owned(),
        None => "not found by the search; --all-moves counts".to_owned(),
    }
}
