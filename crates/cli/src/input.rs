//! Text from files and standard input. A byte order mark at the beginning, which editors on Windows write, is skipped.

use crate::failure::Failure;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
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

/// The lines of a text in groups of all lines that have arrived: a caller may wait for the answer to a line before it
/// writes the next one.
pub fn lines_as_they_arrive(input: impl Read) -> impl Iterator<Item = io::Result<Vec<String>>> {
    let mut input = BufReader::with_capacity(1 << 20, input);
    let (mut is_first, mut error, mut ended) = (true, None, false);
    std::iter::from_fn(move || {
        let mut lines = Vec::new();
        while !ended && error.is_none() {
            let mut line = String::new();
            match input.read_line(&mut line) {
                Ok(0) => ended = true,
                Ok(_) => {
                    let text = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(&line);
                    lines.push(text.trim_end_matches(['\r', '\n']).to_owned());
                    is_first = false;
                }
                Err(problem) => error = Some(problem),
            }
            if !input.buffer().contains(&b'\n') {
                break;
            }
        }
        if lines.is_empty() { error.take().inspect(|_| ended = true).map(Err) } else { Some(Ok(lines)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each call of `read` returns one part.
    struct Parts(Vec<&'static [u8]>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let part = if self.0.is_empty() { &[] } else { self.0.remove(0) };
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn lines_come_in_the_groups_in_which_they_arrive() {
        let parts = ["\u{feff}a\r\nb\nc", "\nd\n", "\n", "e"].map(str::as_bytes);
        let groups: Vec<Vec<String>> = lines_as_they_arrive(Parts(parts.into())).map(Result::unwrap).collect();
        assert_eq!(groups, [vec!["a", "b"], vec!["c", "d"], vec![""], vec!["e"]]);
        let mut groups = lines_as_they_arrive(Parts(vec![b"a\n\xff\nb\n"]));
        assert_eq!(groups.next().unwrap().unwrap(), ["a"]);
        assert!(groups.next().unwrap().is_err() && groups.next().is_none());
    }
}
