use crate::arguments::OptionalRulesArg;
use clap::{Args, ValueEnum};
use cli::arguments::open_tables;
use cli::failure::{Failure, Outcome};
use doushouqi::tablebase::{Material, MaterialTable, Probe, Solver};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use study::export::{DataError, DataFormat, write_data, write_text};

/// Write all positions of a material with White to move, and their winners, to standard output.
///
/// The formats csv, arff and parquet have the columns and codes of the published data set (OpenML 41027): for each
/// piece its strength (0 rat, 1 cat, 2 wolf, 3 dog, 4 panther, 5 tiger, 6 lion, 7 elephant), file (0 to 6 for a to g)
/// and rank (0 to 8 for 1 to 9), then the winner: w, b, or d for a draw. The format text has one line for each
/// position: the FEN, the winner, a best move and the plies to the end. With --with-features, the features of `dsq-lab mine`
/// come before the winner; `dsq-lab mine features` explains them.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq export --material EvL --format csv > EvL.csv\n  \
                        dsq export --material EPvL --format csv --with-features > EPvL.csv\n  \
                        dsq export --tables tables --material EvL --format parquet > EvL.parquet\n  \
                        dsq export --tables tables --material EvL --format text > EvL.txt\n\n\
                        parquet is there if the program was built with --features parquet.")]
pub struct Export {
    /// A directory written by `dsq generate`; without it the material is solved in memory.
    #[arg(long, value_name = "DIR", required_if_eq("format", "text"))]
    tables: Option<PathBuf>,
    /// The material, such as EvL.
    #[arg(long)]
    material: Material,
    /// The output format.
    #[arg(long, value_enum)]
    format: Format,
    /// Also write the features of each position.
    #[arg(long)]
    with_features: bool,
    #[command(flatten)]
    rules: OptionalRulesArg,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Csv,
    Arff,
    Parquet,
}

impl Export {
    pub fn run(self) -> Outcome {
        // The Parquet writer may use other threads, so stdout is not locked.
        let out = BufWriter::new(io::stdout());
        let written = match self.format {
            Format::Text if self.with_features => {
                return Err(Failure::Input(
                    "--with-features: text has no columns; take csv, arff or parquet".to_owned(),
                ));
            }
            Format::Text => {
                let Some(dir) = &self.tables else { return Err(Failure::Input("text needs --tables".to_owned())) };
                Some(write_text(&open_tables(dir, self.rules.rules)?, self.material, out))
            }
            Format::Csv => self.write_data(DataFormat::Csv, out)?,
            Format::Arff => self.write_data(DataFormat::Arff, out)?,
            Format::Parquet => self.write_data(DataFormat::Parquet, out)?,
        };
        match written.unwrap_or(Ok(0)) {
            Ok(_) => Ok(()),
            Err(DataError::Output(error)) => Err(Failure::Output(error)),
            Err(DataError::Tables(error)) => Err(error.into()),
            Err(error) => Err(Failure::Environment(error.to_string())),
        }
    }

    /// Writes a table of numbers; `None` if the material is no material of these tables.
    fn write_data(
        &self,
        format: DataFormat,
        out: impl Write + Send,
    ) -> Result<Option<Result<u64, DataError>>, Failure> {
        let with_features = self.with_features;
        if let Some(dir) = &self.tables {
            let tables = open_tables(dir, self.rules.rules)?;
            let table = tables.load(self.material)?;
            let table = MaterialTable::new(tables.set().classes(), &table, self.material);
            return Ok(table.map(|table| write_data(&table, tables.rules().options(), with_features, format, out)));
        }
        let tables = Solver::solved_material(&self.rules.rules.unwrap_or_default(), self.material)?;
        let table = tables.material_table(self.material);
        Ok(table.map(|table| write_data(&table, tables.classes().options(), with_features, format, out)))
    }
}
