//! Text from files and standard input. A byte order mark at the beginning, which editors on Windows write, is skipped.

use crate::failure::Failure;
use std::fs;
use std::io::{self, BufRead};
use std::path::Path;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let text = fs::read_to_string(path).map_err(|e| Failure::reading(path.display(), &e))?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned).unwrap_or(text))
}

/// The lines of a text.
pub fn lines(input: impl BufRead) -> impl Iterator<Item = io::Result<String>> {
    input.lines().enumerate().map(|(i, line)| {
        let line = line?;
        let rest = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| i == 0).map(str::to_owned);
        Ok(rest.unwrap_or(line))
    })
}
