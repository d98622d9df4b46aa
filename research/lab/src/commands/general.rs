use crate::board_out::BoardOut;
use clap::{Args, Subcommand};
use cli::arguments::{JsonArg, Memory, MemoryArg, RulesArg};
use cli::failure::{Failure, FailureKind, Outcome};
use cli::output::{make_dir, print, print_json, write_file};
use doushouqi::board::{Color, Position};
use hardness::general::{
    self, Board, GeneralCounts, GeneralPosition, GeneralSolveError, GeneralValue, SMALL, Solution, solve,
};
use report::text::grouped;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Analyse boards of any size: perft, moves, exact values, pictures.
///
/// A board is a file with one line for each rank, from the top: `.` land, `~` water, `^` a white trap, `v` a black
/// trap, `#` the white den, `%` the black den, letters for pieces (RCWDPTLE White's, rcwdptle Black's, any number of
/// each). Optional lines after it are `turn: b`, and `under: b3=^ c4=~` for the terrain under pieces that do not stand
/// on land; a line that starts with `;` is a comment. Instead of a file: `-` reads stdin, `start` is the initial
/// position, and a FEN with sizes is a position, as in "3x3 1v%/3/#^1 3/E1e/3 w".
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq-lab general perft start 4\n  dsq-lab general moves board.txt --rules chinese\n  \
                        dsq-lab general solve '3x3 1%1/3/1#1 2e/3/E2 w'\n  dsq-lab general show board.txt --out board.svg\n  \
                        dsq-lab general small --out results\n\n\
                        Exit code 3 if a board is too large for --memory; `small` prints and writes the others."
)]
pub struct General {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Count the lines of N plies.
    Perft {
        /// The board: a file, `-`, `start` or a FEN with sizes.
        board: String,
        /// Length of the lines in plies.
        #[arg(value_parser = clap::value_parser!(u32).range(0..=20))]
        depth: u32,
        /// Also print the count after each move.
        #[arg(long)]
        divide: bool,
        #[command(flatten)]
        common: Common,
    },
    /// List the legal moves.
    Moves {
        /// The board: a file, `-`, `start` or a FEN with sizes.
        board: String,
        #[command(flatten)]
        common: Common,
    },
    /// Find the exact value of a position by retrograde analysis of all positions reachable from it.
    Solve {
        /// The board: a file, `-`, `start` or a FEN with sizes.
        board: String,
        #[command(flatten)]
        memory: MemoryArg,
        #[command(flatten)]
        common: Common,
    },
    /// Draw a board.
    Show {
        /// The board: a file, `-`, `start` or a FEN with sizes.
        board: String,
        #[command(flatten)]
        out: BoardOut,
        #[command(flatten)]
        common: Common,
    },
    /// Solve small variants of Jungle from their initial positions.
    Small {
        #[command(flatten)]
        memory: MemoryArg,
        /// Write small-jungles.md into this directory.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Args)]
struct Common {
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    json: JsonArg,
}

/// The longest accepted text in bytes: enough for the largest board with terrain under all pieces.
const MAX_TEXT: u64 = 8 << 20;

#[derive(Serialize)]
struct PerftReport {
    depth: u32,
    nodes: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<MoveReport>>,
}

#[derive(Serialize)]
struct MoveReport {
    r#move: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
}

#[derive(Serialize)]
struct SolveReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    fen: String,
    /// The value for the side to move; null if the position was too large to solve.
    value: Option<&'static str>,
    plies: Option<u32>,
    winner: Option<Winner>,
    states: Option<u64>,
    white_to_move: Option<Counts>,
    black_to_move: Option<Counts>,
    seconds: f64,
    states_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Copy, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
enum Winner {
    White,
    Black,
}

#[derive(Copy, Clone, Serialize)]
struct Counts {
    positions: u64,
    white: u64,
    draws: u64,
    black: u64,
    longest: u32,
}

impl From<GeneralCounts> for Counts {
    fn from(c: GeneralCounts) -> Counts {
        Counts { positions: c.positions, white: c.white, draws: c.draws, black: c.black, longest: c.longest }
    }
}

impl General {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Perft { board, depth, divide, common } => perft(&read(&board)?, depth, divide, &common),
            Command::Moves { board, common } => moves(&read(&board)?, &common),
            Command::Solve { board, memory, common } => solve_one(&read(&board)?, memory.get(), &common),
            Command::Show { board, out, common } => show(&read(&board)?, &out, &common),
            Command::Small { memory, out, common } => small(memory.get(), out.as_deref(), &common),
        }
    }
}

/// The position of an argument: a file, `-`, `start` or a FEN.
fn read(argument: &str) -> Result<GeneralPosition, Failure> {
    let wrong = |error: hardness::general::BoardError| Failure::Input(format!("{argument}: {error}"));
    if argument == "start" {
        return Ok(GeneralPosition::from_standard(&Position::start()));
    }
    if argument.contains(' ') && !Path::new(argument).exists() {
        return GeneralPosition::from_fen(argument).map_err(|e| Failure::Input(e.to_string()));
    }
    let cannot = |error: std::io::Error| Failure::reading(argument, &error);
    let mut text = Vec::new();
    if argument == "-" {
        std::io::stdin().take(MAX_TEXT + 1).read_to_end(&mut text).map_err(cannot)?;
    } else {
        File::open(argument).and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut text)).map_err(cannot)?;
    }
    if text.len() as u64 > MAX_TEXT {
        return Err(Failure::Input(format!(
            "{argument}: longer than {MAX_TEXT} bytes; a board has at most {0} x {0} squares",
            Board::MAX_SIDE
        )));
    }
    let text = String::from_utf8(text).map_err(|_| Failure::Input(format!("{argument}: not UTF-8 text")))?;
    GeneralPosition::parse(&text).map_err(wrong)
}

fn perft(position: &GeneralPosition, depth: u32, divide: bool, common: &Common) -> Outcome {
    let start = Instant::now();
    let rules = &common.rules.rules;
    let divided = (divide && depth > 0).then(|| general::divide(position, rules, depth));
    let nodes = match &divided {
        Some(all) => all.iter().map(|(_, nodes)| nodes).sum(),
        None => general::perft(position, rules, depth),
    };
    let seconds = start.elapsed().as_secs_f64();
    let moves = divided.map(|all| {
        all.into_iter().map(|(mv, n)| MoveReport { r#move: position.notation(mv), nodes: Some(n) }).collect()
    });
    let report = PerftReport { depth, nodes, seconds, moves };
    if common.json.on {
        return print_json(&report);
    }
    for mv in report.moves.iter().flatten() {
        print(format_args!("{:12} {:>16}", mv.r#move, grouped(mv.nodes.unwrap_or(0))))?;
    }
    print(format_args!("perft {depth}: {} nodes in {seconds:.3} s", grouped(nodes)))
}

fn moves(position: &GeneralPosition, common: &Common) -> Outcome {
    let mut moves = position.moves(&common.rules.rules);
    moves.sort_unstable();
    for mv in moves {
        let report = MoveReport { r#move: position.notation(mv), nodes: None };
        if common.json.on { print_json(&report)? } else { print(&report.r#move)? }
    }
    Ok(())
}

fn show(position: &GeneralPosition, out: &BoardOut, common: &Common) -> Outcome {
    if out.write(position)? {
        return Ok(());
    }
    if common.json.on {
        #[derive(Serialize)]
        struct Shown {
            width: usize,
            height: usize,
            fen: String,
            text: String,
        }
        let board = position.board();
        let (width, height) = (board.width(), board.height());
        return print_json(&Shown { width, height, fen: position.to_fen(), text: position.to_text() });
    }
    print(format_args!("{}\n{}", position.to_picture(), position.to_fen()))
}

fn solve_one(position: &GeneralPosition, memory: Memory, common: &Common) -> Outcome {
    let (report, error) = solved(None, position, memory, common);
    if let Some(error) = error {
        return Err(kind(&error)(error.to_string()));
    }
    if common.json.on { print_json(&report) } else { print(line(&report)) }
}

/// The kind of failure of a position that is not solved.
fn kind(error: &GeneralSolveError) -> FailureKind {
    match error {
        GeneralSolveError::TooLarge { .. } => Failure::Environment,
        _ => Failure::Input,
    }
}

/// Solves a position. The report also contains an error, if any.
fn solved(
    name: Option<&'static str>,
    position: &GeneralPosition,
    memory: Memory,
    common: &Common,
) -> (SolveReport, Option<GeneralSolveError>) {
    let start = Instant::now();
    let result = solve(std::slice::from_ref(position), &common.rules.rules, memory.mib());
    let seconds = start.elapsed().as_secs_f64();
    let solution: Option<&Solution> = result.as_ref().ok();
    let value = solution.and_then(|s| s.value(position));
    let turn = position.turn();
    let (name_of_value, plies, winner) = match value {
        Some(GeneralValue::Win(n)) => (Some("win"), Some(n), Some(turn)),
        Some(GeneralValue::Loss(n)) => (Some("loss"), Some(n), Some(!turn)),
        Some(GeneralValue::Draw) => (Some("draw"), None, None),
        None => (None, None, None),
    };
    let counts = |turn| solution.map(|s| s.counts(turn).into());
    let states = solution.map(|s| s.len() as u64);
    let report = SolveReport {
        name,
        fen: position.to_fen(),
        value: name_of_value,
        plies,
        winner: winner.map(|c| if c == Color::White { Winner::White } else { Winner::Black }),
        states,
        white_to_move: counts(Color::White),
        black_to_move: counts(Color::Black),
        seconds,
        states_per_second: states.map(|n| (n as f64 / seconds.max(1e-9)).round()),
        error: result.as_ref().err().map(ToString::to_string),
    };
    (report, result.err())
}

fn line(report: &SolveReport) -> String {
    let value = match (report.value, report.winner, report.plies) {
        (Some("draw"), ..) => "draw".to_owned(),
        (Some(_), Some(Winner::White), Some(plies)) => format!("White wins in {plies} plies"),
        (Some(_), Some(Winner::Black), Some(plies)) => format!("Black wins in {plies} plies"),
        _ => report.error.clone().unwrap_or_default(),
    };
    let states =
        report.states.map_or(String::new(), |n| format!("; {} positions, {:.1} s", grouped(n), report.seconds));
    format!("{value}{states}")
}

fn small(memory: Memory, write: Option<&Path>, common: &Common) -> Outcome {
    let mut rows = String::new();
    let mut unsolved = Vec::new();
    for small in &SMALL {
        let position = GeneralPosition::parse(small.text).map_err(|e| Failure::Input(e.to_string()))?;
        let (report, error) = solved(Some(small.name), &position, memory, common);
        unsolved.extend(error);
        let share = |f: fn(Counts) -> u64| {
            let both = [report.white_to_move, report.black_to_move];
            both.into_iter().flatten().map(f).sum::<u64>()
        };
        let longest = report.white_to_move.iter().chain(&report.black_to_move).map(|c| c.longest).max();
        let cell = |n: u64| report.states.map_or("-".to_owned(), |_| grouped(n));
        let _ = writeln!(
            rows,
            "| {} | {} | {} | {} | {} | {} | {} |",
            small.name,
            line(&report).split(';').next().unwrap_or_default(),
            cell(report.states.unwrap_or(0)),
            cell(share(|c| c.white)),
            cell(share(|c| c.draws)),
            cell(share(|c| c.black)),
            longest.map_or("-".to_owned(), |n| n.to_string()),
        );
        if common.json.on { print_json(&report)? } else { print(format_args!("{:50} {}", small.name, line(&report)))? }
    }
    if let Some(dir) = write {
        let text = small_report(&rows, common);
        make_dir(dir)?;
        write_file(&dir.join("small-jungles.md"), &text)?;
    }
    match unsolved.first() {
        Some(error) => {
            Err(kind(error)(format!("{} of {} boards are not solved: {error}", unsolved.len(), SMALL.len())))
        }
        None => Ok(()),
    }
}

fn small_report(rows: &str, common: &Common) -> String {
    let mut text = format!(
        "# Small Jungles, solved\n\nWritten by `dsq-lab general small --out`, rules `{}`, on {}. White moves first. The value is \
         the value of the start under best play; the counts are over all positions that can be reached from the start, with \
         either side to move.\n\n| board | value of the start | positions | White wins | draws | Black wins | longest win, plies |\n\
         |---|---|---|---|---|---|---|\n{rows}",
        common.rules.rules,
        doushouqi::cpu::cpu_name(),
    );
    for small in &SMALL {
        let _ = write!(text, "\n{}:\n\n```text\n{}```\n", small.name, small.text);
    }
    text
}
