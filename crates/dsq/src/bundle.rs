//! A published directory of tables. `bundle.json` lists its files with sizes and SHA-256, and `SHA256SUMS` repeats the
//! checksums for `sha256sum --check`. The fingerprint of the publication is the SHA-256 of `SHA256SUMS`.

use cli::failure::Failure;
use cli::progress::progress_bar;
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Material, TableError, TableFile};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path};

/// The list of the files.
pub const LIST: &str = "bundle.json";
/// The checksums of the list and of the files.
pub const SUMS: &str = "SHA256SUMS";
/// Version of the list's format.
const FORMAT: u32 = 1;

/// The contents of `bundle.json`.
#[derive(Serialize, Deserialize)]
pub struct Bundle {
    format: u32,
    /// The program that wrote the list, and its version.
    program: String,
    /// All rule options of the tables except repetition, as text.
    rules: String,
    /// The largest number of pieces.
    pieces: usize,
    /// All files except the list and the checksums, sorted by name.
    files: Vec<Listed>,
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Listed {
    name: String,
    bytes: u64,
    sha256: String,
}

impl Listed {
    /// Reads a file of a directory.
    fn read(dir: &Path, name: &str) -> io::Result<Listed> {
        let (mut file, mut hash) = (File::open(dir.join(name))?, Sha256::new());
        let (mut buffer, mut bytes) = (vec![0; 1 << 20], 0);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(Listed { name: name.to_owned(), bytes, sha256: hex(&hash.finalize()) }),
                Ok(len) => {
                    hash.update(&buffer[..len]);
                    bytes += len as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Why the file of this name in a directory is not the listed file.
    fn fault(&self, dir: &Path, rules: &RuleOptions) -> Result<Option<String>, Failure> {
        let path = dir.join(&self.name);
        match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Some(format!("{} is missing", path.display())));
            }
            Ok(metadata) if !metadata.is_file() => return Ok(Some(format!("{} is not a file", path.display()))),
            _ => {}
        }
        let found = Listed::read(dir, &self.name).map_err(|error| Failure::reading(path.display(), &error))?;
        if found == *self {
            return Ok(None);
        }
        let table = self.name.strip_suffix(".dsq").and_then(|class| class.parse::<Material>().ok());
        let own = table.map(|class| TableFile::open(&path, rules, class).and_then(|file| file.check()));
        Ok(Some(match own {
            Some(Err(error @ (TableError::Io { .. } | TableError::OpenFiles { .. }))) => {
                return Err(Failure::Environment(error.to_string()));
            }
            Some(Err(error)) => error.to_string(),
            Some(Ok(())) => format!("{} is another version of the table: its own checksum is right", path.display()),
            None => format!("{} is damaged or another version", path.display()),
        }))
    }
}

/// The result of [`check`].
pub struct Checked {
    /// SHA-256 of `SHA256SUMS`; empty if that file is missing.
    pub fingerprint: String,
    /// The differences between the directory and its list.
    pub faults: Vec<String>,
}

impl Bundle {
    /// Lists the files of a directory that contains nothing else.
    pub fn of(dir: &Path, rules: String, pieces: usize) -> Result<Bundle, Failure> {
        let names: Vec<String> = names(dir)?.into_iter().collect();
        let bar = progress_bar(names.len() as u64, "files").with_message("SHA-256");
        let read = |name: &String| {
            let listed = Listed::read(dir, name);
            bar.inc(1);
            listed.map_err(|error| Failure::reading(dir.join(name).display(), &error))
        };
        let files = names.par_iter().map(read).collect::<Result<_, _>>()?;
        bar.finish_and_clear();
        let program = concat!("doushouqi ", env!("CARGO_PKG_VERSION")).to_owned();
        Ok(Bundle { format: FORMAT, program, rules, pieces, files })
    }

    /// The number of listed files, and their bytes.
    pub fn size(&self) -> (usize, u64) {
        (self.files.len(), self.files.iter().map(|file| file.bytes).sum())
    }

    /// The texts of `bundle.json` and `SHA256SUMS`.
    pub fn texts(&self) -> (String, String) {
        let list = serde_json::to_string_pretty(self).expect("a list is JSON") + "\n";
        let sums = self.sums(&list);
        (list, sums)
    }

    /// The contents of `SHA256SUMS` with these contents of `bundle.json`.
    fn sums(&self, list: &str) -> String {
        let list = [(LIST, sha256(list.as_bytes()))];
        let files = self.files.iter().map(|file| (file.name.as_str(), file.sha256.clone()));
        let mut lines: Vec<(&str, String)> = list.into_iter().chain(files).collect();
        lines.sort();
        lines.iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect()
    }

    /// Parses `bundle.json`.
    fn parse(text: &str) -> Result<(Bundle, RuleOptions), String> {
        let bundle: Bundle = serde_json::from_str(text).map_err(|error| format!("is damaged: {error}"))?;
        if bundle.format != FORMAT {
            return Err(format!("has format version {}; this program reads version {FORMAT}", bundle.format));
        }
        let is_name = |name: &str| {
            let mut parts = Path::new(name).components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
        };
        if let Some(file) = bundle.files.iter().find(|file| !is_name(&file.name)) {
            return Err(format!("is damaged: {:?} is not the name of a file", file.name));
        }
        let rules = RuleOptions::from_table_spelling(&bundle.rules)
            .map_err(|error| format!("is damaged: its rules: {error}"))?;
        Ok((bundle, rules))
    }
}

/// Whether a directory contains a published set.
pub fn is_bundle(dir: &Path) -> bool {
    [LIST, SUMS].iter().any(|name| dir.join(name).exists())
}

/// Compares a directory with its list: missing, different and additional files. Without the fingerprint that is wanted, it
/// is another publication, and its files are not read.
///
/// # Errors
/// If the directory or a file cannot be read.
pub fn check(dir: &Path, wanted: Option<&str>) -> Result<Checked, Failure> {
    let mut faults = Vec::new();
    let mut read = |name: &str| match read_regular(&dir.join(name)) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            faults.push(format!("{} is missing", dir.join(name).display()));
            Ok(Vec::new())
        }
        Err(error) => Err(Failure::reading(dir.join(name).display(), &error)),
    };
    let (list, sums) = (read(LIST)?, read(SUMS)?);
    let fingerprint = if sums.is_empty() { String::new() } else { sha256(&sums) };
    if let Some(wanted) = wanted.filter(|wanted| !fingerprint.is_empty() && !wanted.eq_ignore_ascii_case(&fingerprint))
    {
        faults.push(format!("{} has the fingerprint {fingerprint}, not {wanted}", dir.display()));
        return Ok(Checked { fingerprint, faults });
    }
    if list.is_empty() {
        return Ok(Checked { fingerprint, faults });
    }
    let text = String::from_utf8_lossy(&list);
    let (bundle, rules) = match Bundle::parse(&text) {
        Ok(parsed) => parsed,
        Err(what) => {
            faults.push(format!("{} {what}", dir.join(LIST).display()));
            return Ok(Checked { fingerprint, faults });
        }
    };
    if !sums.is_empty() && bundle.sums(&text).as_bytes() != sums {
        let what = "contradict each other: one of them is damaged or another version";
        faults.push(format!("{} and {SUMS} {what}", dir.join(LIST).display()));
    }
    let bar = progress_bar(bundle.files.len() as u64, "files").with_message("SHA-256");
    let compare = |file: &Listed| {
        let fault = file.fault(dir, &rules);
        bar.inc(1);
        fault
    };
    let found: Vec<Option<String>> = bundle.files.par_iter().map(compare).collect::<Result<_, _>>()?;
    bar.finish_and_clear();
    faults.extend(found.into_iter().flatten());
    let listed = bundle.files.iter().map(|file| file.name.as_str());
    let listed: BTreeSet<&str> = listed.chain([LIST, SUMS]).collect();
    let extra = names(dir)?.into_iter().filter(|name| !listed.contains(name.as_str()));
    faults.extend(extra.map(|name| format!("{} is not part of the publication", dir.join(name).display())));
    Ok(Checked { fingerprint, faults })
}

/// Reads a file; a named pipe, which may have no writer, is an error.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() { fs::read(path) } else { Err(io::Error::other("not a regular file")) }
}

/// The names in a directory.
fn names(dir: &Path) -> Result<BTreeSet<String>, Failure> {
    let failed = |error: io::Error| Failure::reading(dir.display(), &error);
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    fs::read_dir(dir).map_err(failed)?.map(name).collect()
}

/// The SHA-256 of bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
