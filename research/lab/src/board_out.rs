//! The option `--out` of commands that draw a board.

use clap::Args;
use cli::failure::{Failure, Outcome};
use cli::output::write_file;
use hardness::general::{self, GeneralPosition};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct BoardOut {
    /// Write the board into this file instead of printing: an SVG picture if the name ends in .svg, else text.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl BoardOut {
    /// Writes the board if a file is given, and returns whether one is.
    pub fn write(&self, position: &GeneralPosition) -> Result<bool, Failure> {
        self.out.as_deref().map_or(Ok(false), |path| write_board(path, position).map(|()| true))
    }
}

/// Writes a board as an SVG picture or as text.
pub fn write_board(path: &Path, position: &GeneralPosition) -> Outcome {
    let is_picture = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    write_file(path, &if is_picture { general::svg(position) } else { position.to_text() })
}
