use crate::games::{read_each, text_of};
use clap::Args;
use cli::arguments::RulesArg;
use cli::failure::{Failure, Outcome};
use cli::input::{decompressed, lines, open};
use cli::output::print;
use doushouqi::board::{Move, Position, Rules};
use doushouqi::formats::{Dialect, DialectFen};
use doushouqi::game::{Record, format_moves, parse_moves};
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::str::FromStr;
use study::puzzles::Puzzle;

/// Convert positions, games and puzzles between the formats of Jungle programs.
///
/// Each line contains a position; a game, which is a position, the word `moves` and the moves; or a puzzle of `dsq
/// puzzles` as JSON. The command converts each line as soon as it has read it.
///
/// Formats: dsq, this program's notation; mistboard, for Mistboard and MistyJungle: mirrored, red (r) begins, two
/// counters; katago, for KataGomo's AnimalChess: J is the panther, squares are capitals; animalcraft: M is the mouse,
/// the board is rotated; saved, the games that `dsq match --out` writes, and games that sites export as text or JSON.
/// Input may be compressed by gzip. docs/files.md lists what is read, docs/notation.md describes the formats.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq convert --from mistboard --to dsq 't5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/1D3C1/L5T r 0 1'\n  \
                  dsq convert --from dsq --to katago --file positions.fen\n  \
                  dsq convert --from saved --to mistboard --file games.txt\n  \
                  dsq convert --from saved --to saved --file mistboard_jungle_2026-09.jsonl.gz > games.txt\n  \
                  dsq convert --from dsq --to mistboard < puzzles.jsonl"
)]
pub struct Convert {
    /// The format of the input.
    #[arg(long, value_name = "FORMAT")]
    from: Format,
    /// The format of the output.
    #[arg(long, value_name = "FORMAT")]
    to: Format,
    /// The file to read; by default standard input, unless the command line contains lines.
    #[arg(long, value_name = "FILE", conflicts_with = "lines")]
    file: Option<PathBuf>,
    /// Lines to convert.
    #[arg(value_name = "LINE")]
    lines: Vec<String>,
    #[command(flatten)]
    rules: RulesArg,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Format {
    Lines(Dialect),
    /// Saved games.
    Saved,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        match text {
            "saved" => Ok(Format::Saved),
            _ => text.parse().map(Format::Lines).map_err(|error| format!("{error}, or saved")),
        }
    }
}

impl Convert {
    pub fn run(self) -> Outcome {
        let rules = Rules::new(self.rules.rules);
        let input = || match &self.file {
            None => decompressed(BufReader::new(io::stdin())).map_err(|e| Failure::reading("standard input", &e)),
            Some(path) => open(path),
        };
        let name = self.file.as_ref().map_or_else(|| "standard input".to_owned(), |file| file.display().to_string());
        match self.from {
            Format::Saved => {
                let text = || Box::new(io::Cursor::new(self.lines.join("\n")));
                let text = if self.lines.is_empty() { input()? } else { text() };
                read_each(&name, text, |record| self.write(&record, 1))
            }
            Format::Lines(from) if !self.lines.is_empty() => {
                self.lines.iter().try_for_each(|line| self.line(from, line, &rules).map_err(Failure::Input)?)
            }
            Format::Lines(from) => {
                for (i, line) in lines(input()?).enumerate() {
                    let place = format!("{name}, line {}", i + 1);
                    let line = line.map_err(|e| Failure::reading(&place, &e))?;
                    if !line.trim().is_empty() {
                        let error = |text| Failure::Input(format!("{place}: {text}"));
                        self.line(from, &line, &rules).map_err(error)??;
                    }
                }
                Ok(())
            }
        }
    }

    /// Converts a line. The outer error describes a fault in the line, the inner one a failure to print.
    fn line(&self, from: Dialect, line: &str, rules: &Rules) -> Result<Outcome, String> {
        if line.trim_start().starts_with('{') {
            let Ok(puzzle) = serde_json::from_str::<Puzzle>(line) else {
                let records = Record::parse_all(line).map_err(|error| {
                    format!(
                        "this JSON is neither a puzzle of `dsq puzzles` nor a game of Mistboard ({})",
                        error.problem
                    )
                })?;
                return Ok(records.iter().try_for_each(|record| self.write(record, 1)));
            };
            let Format::Lines(to) = self.to else {
                return Err("a puzzle cannot be written as a saved game".to_owned());
            };
            return Ok(print(convert_puzzle(puzzle, from, to)?.to_json()));
        }
        let (game, number) = parse_moves(from, line, rules, None).map_err(|error| error.to_string())?;
        Ok(self.write(&Record::new(game), number))
    }

    fn write(&self, record: &Record, move_number: u32) -> Outcome {
        match self.to {
            Format::Saved => print(text_of(record)?),
            Format::Lines(to) => print(format_moves(to, &record.game, move_number)),
        }
    }
}

/// The same puzzle with its position and moves in another dialect.
fn convert_puzzle(puzzle: Puzzle, from: Dialect, to: Dialect) -> Result<Puzzle, String> {
    let position = |text: &str| -> Result<(Position, String), String> {
        let fen: DialectFen = from.parse_fen(text).map_err(|error| error.to_string())?;
        let text = to.format_fen(&fen);
        Ok((fen.fen.position, text))
    };
    let play = |position: &Position, text: &str| -> Result<(Move, Position), String> {
        let mv = from.parse_move(text).map_err(|error| error.to_string())?;
        let mv = mv.to_move(position).map_err(|_| format!("{text}: no piece moves"))?;
        let rules = puzzle.rules.parse().map(Rules::new).map_err(|error| format!("{error}"))?;
        Ok((mv, position.play(mv, &rules).map_err(|error| error.to_string())?))
    };
    let (mut current, fen) = position(&puzzle.fen)?;
    let (earlier, before) = position(&puzzle.before)?;
    let (last_move, _) = play(&earlier, &puzzle.last_move)?;
    let (mut solution, mut notation) = (Vec::new(), Vec::new());
    for text in &puzzle.solution {
        let (mv, next) = play(&current, text)?;
        solution.push(to.format_move(mv));
        notation.push(to.format_notation(mv, &current));
        current = next;
    }
    Ok(Puzzle { fen, before, solution, notation, last_move: to.format_move(last_move), ..puzzle })
}
