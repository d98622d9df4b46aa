//! Text from files and standard input. A byte order mark at the beginning, which editors on Windows write, is skipped.
//! Data that gzip has compressed is decompressed.

use crate::failure::Failure;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The first bytes of data that gzip has compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|e| Failure::reading(path.display(), &e))?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned).unwrap_or(text))
}

/// Opens a file.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    let file = File::open(path).and_then(|file| decompressed(BufReader::new(file)));
    file.map_err(|e| Failure::reading(path.display(), &e))
}

/// Data as it is, or decompressed.
pub fn decompressed(mut data: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    if data.fill_buf()?.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::new(Gzip(MultiGzDecoder::new(data)))));
    }
    Ok(Box::new(data))
}

/// Decompresses, with errors that say what is wrong with the data.
struct Gzip<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrong = |text| io::Error::new(io::ErrorKind::InvalidData, text);
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => wrong("the compressed data (gzip) is cut"),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => wrong("the compressed data (gzip) is damaged"),
            _ => error,
        })
    }
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
    fn compressed_data_is_read_and_cut_data_is_named() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        io::Write::write_all(&mut packed, b"a\nb\n").unwrap();
        let packed = packed.finish().unwrap();
        let read = |data: Vec<u8>| lines(decompressed(io::Cursor::new(data)).unwrap()).collect::<Result<Vec<_>, _>>();
        assert_eq!(read(packed.clone()).unwrap(), ["a", "b"]);
        assert_eq!(read(packed.repeat(2)).unwrap(), ["a", "b", "a", "b"], "files in one");
        assert_eq!(read(b"a\nb\n".to_vec()).unwrap(), ["a", "b"]);
        for len in [3, packed.len() / 2, packed.len() - 1] {
            assert!(read(packed[..len].to_vec()).unwrap_err().to_string().contains("is cut"), "{len}");
        }
        let mut damaged = packed;
        damaged[12] ^= 0xff;
        assert!(read(damaged).unwrap_err().to_string().contains("gzip"));
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
