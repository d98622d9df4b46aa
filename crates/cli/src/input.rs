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
    let mut lines = Lines::new(input);
    std::iter::from_fn(move || lines.next().transpose())
}

/// The lines of a text in groups of all lines that have arrived: a caller may wait for the answer to a line before it
/// writes the next one.
pub fn lines_as_they_arrive(input: impl Read) -> impl Iterator<Item = io::Result<Vec<String>>> {
    let mut lines = Lines::new(BufReader::with_capacity(1 << 20, input));
    let (mut error, mut ended) = (None, false);
    std::iter::from_fn(move || {
        let mut group = Vec::new();
        while !ended && error.is_none() {
            match lines.next() {
                Ok(Some(line)) => group.push(line),
                Ok(None) => ended = true,
                Err(problem) => error = Some(problem),
            }
            if !lines.input.buffer().contains(&b'\n') {
                break;
            }
        }
        if group.is_empty() { error.take().inspect(|_| ended = true).map(Err) } else { Some(Ok(group)) }
    })
}

/// Reads lines.
struct Lines<R> {
    input: R,
    is_first: bool,
}

impl<R: BufRead> Lines<R> {
    fn new(input: R) -> Lines<R> {
        Lines { input, is_first: true }
    }

    /// The next line without its end; `None` at the end of the text.
    fn next(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let text = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.is_first).unwrap_or(&line);
        self.is_first = false;
        Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
    }
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
