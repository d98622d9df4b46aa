use super::{Failure, Outcome};
use clap::{Args, ValueEnum};
use doushouqi::tablebase::{ExportError, ExportFormat, Material, TableSet, export};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Write all positions of a material, White to move, with who wins, to standard output.
///
/// csv and arff have the columns and codes of the published data set (OpenML 41027): of each piece its strength (0 rat, 1
/// cat, 2 wolf, 3 dog, 4 panther, 5 tiger, 6 lion, 7 elephant), file (0 to 6 for a to g) and rank (0 to 8 for 1 to 9), then
/// the winner: w, b, or d for a draw. text is a line a position: the FEN, the winner, a best move, plies to the end.
#[derive(Args)]
#[command(after_help = "Example:\n  dsq export --tables tables --material EvL --format csv > EvL.csv")]
pub struct Export {
    /// The directory that `dsq generate` made.
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    /// The material, such as EvL.
    #[arg(long)]
    material: Material,
    /// How to write it.
    #[arg(long, value_enum)]
    format: Format,
}

#[derive(Copy, Clone, ValueEnum)]
enum Format {
    Text,
    Csv,
    Arff,
}

impl Export {
    pub fn run(self) -> Outcome {
        let set = TableSet::open(&self.tables)?;
        let format = match self.format {
            Format::Text => ExportFormat::Text,
            Format::Csv => ExportFormat::Csv,
            Format::Arff => ExportFormat::Arff,
        };
        let mut out = BufWriter::new(io::stdout().lock());
        match export(&set, self.material, format, &mut out) {
            Ok(_) => out.flush().map_err(Failure::Output),
            Err(ExportError::Output(error)) => Err(Failure::Output(error)),
            Err(ExportError::Set(error)) => Err(error.into()),
        }
    }
}
