//! Files of games, and moves, scores and results as text.

use crate::on_demand::user_directory;
use crate::provenance::now;
use cli::continued::lock;
use cli::failure::{Failure, Outcome};
use cli::input::{lines, open};
use doushouqi::board::{Move, Position};
use doushouqi::game::{Record, RecordReader};
use doushouqi::search::Score;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The moves of a line in the papers' notation.
pub fn notation(position: &Position, line: &[Move]) -> Vec<String> {
    let mut position = position.clone();
    let mut text = Vec::with_capacity(line.len());
    for &mv in line {
        text.push(mv.notation(&position));
        position = position.make(mv);
    }
    text
}

/// A score as text.
pub fn score_text(score: Score) -> String {
    let distance = if score.win_in().or(score.loss_in()).is_some() { "in" } else { "within" };
    match (score.win_within(), score.loss_within()) {
        (Some(plies), _) => format!("win {distance} {plies}"),
        (_, Some(plies)) => format!("loss {distance} {plies}"),
        _ => {
            let value = score.value();
            format!("{}{}.{:02}", if value < 0 { '-' } else { '+' }, value.abs() / 100, value.abs() % 100)
        }
    }
}

/// Reads one game of a file, counted from 1.
pub fn read_game(path: &Path, number: usize) -> Result<Record, Failure> {
    let mut records = read_games(path)?;
    let count = records.len();
    if (1..=count).contains(&number) {
        return Ok(records.swap_remove(number - 1));
    }
    Err(Failure::Input(format!("{} contains {count} games; there is no game {number}", path.display())))
}

/// Reads all games of a file.
pub fn read_games(path: &Path) -> Result<Vec<Record>, Failure> {
    games_of(path, open(path)?)
}

fn games_of(path: &Path, text: impl BufRead) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    read_each(&path.display(), text, |record| {
        records.push(record);
        Ok(())
    })?;
    Ok(records)
}

/// Reads games and passes each on as soon as it has ended; an error names the line.
pub fn read_each(name: &dyn fmt::Display, text: impl BufRead, mut act: impl FnMut(Record) -> Outcome) -> Outcome {
    let wrong = |error| Failure::Input(format!("{name}: {error}"));
    let mut reader = RecordReader::default();
    for (i, line) in lines(text).enumerate() {
        let line = line.map_err(|e| Failure::reading(format_args!("{name}, line {}", i + 1), &e))?;
        reader.line(&line).map_err(wrong)?.into_iter().try_for_each(&mut act)?;
    }
    reader.finish().map_err(wrong)
}

/// A file to append games to.
pub struct Archive<'a> {
    path: &'a Path,
    file: File,
    date: String,
}

impl<'a> Archive<'a> {
    pub fn open(path: &'a Path) -> Result<Archive<'a>, Failure> {
        let cannot = |e: io::Error| Failure::cannot("write", path, &e);
        let file = OpenOptions::new().create(true).read(true).append(true).open(path);
        let mut file = file.map_err(cannot)?;
        // A mistyped name must not damage another file.
        let mut byte = [0];
        let bytes = file.read(&mut byte).map_err(cannot)?;
        if bytes > 0 && byte != *b"[" {
            return Err(Failure::Input(format!("{} exists and is not a file of games", path.display())));
        }
        // A game appended to half a line could not be read again.
        if file.metadata().map_err(cannot)?.len() > 0 {
            file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut byte)).map_err(cannot)?;
            if byte != *b"\n" {
                let text = "ends within a line; complete or remove its last game";
                return Err(Failure::Input(format!("{} {text}", path.display())));
            }
        }
        Ok(Archive { path, file, date: today() })
    }

    /// Keeps other runs from writing the file, and reads its games.
    pub fn hold(&mut self) -> Result<Vec<Record>, Failure> {
        lock(&self.file, self.path)?;
        self.file.rewind().map_err(|e| Failure::reading(self.path.display(), &e))?;
        games_of(self.path, BufReader::new(&self.file))
    }

    /// Appends a game with today's date.
    pub fn append(&mut self, game: &Record) -> Outcome {
        self.write(&Record { date: Some(self.date.clone()), ..game.clone() })
    }

    fn write(&mut self, record: &Record) -> Outcome {
        let cannot = |e: io::Error| Failure::cannot("write", self.path, &e);
        let text = text_of(record)?;
        let len = self.file.metadata().map_err(cannot)?.len();
        // One write for each game, so a killed run leaves only complete games.
        self.file.write_all(format!("{text}\n").as_bytes()).map_err(|error| {
            // Part of a game would make the file unreadable. The first error is the one to report.
            let _ = self.file.set_len(len);
            cannot(error)
        })
    }
}

/// The text of a game.
pub fn text_of(record: &Record) -> Result<String, Failure> {
    record.to_text().map_err(|error| Failure::Input(format!("the game cannot be written: {error}")))
}

/// Appends a game to a file, and creates the file if it does not exist.
pub fn append(path: &Path, record: &Record) -> Outcome {
    Archive::open(path)?.write(record)
}

/// Keeps a game that a player has left: appends it to the file of such games, and returns the path of the file.
pub fn keep(record: &Record) -> Result<PathBuf, Failure> {
    let dir = user_directory("XDG_STATE_HOME", ".local/state").unwrap_or_default();
    if !dir.as_os_str().is_empty() {
        fs::create_dir_all(&dir).map_err(|e| Failure::cannot("create", &dir, &e))?;
    }
    let path = dir.join("games.txt");
    append(&path, record)?;
    Ok(path)
}

/// Today's date in UTC, in the format of records.
pub fn today() -> String {
    now()[..10].replace('-', ".")
}
