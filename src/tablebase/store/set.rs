//! An open directory of tables: which classes it has, and their files.

mod load;
mod look_up;
mod scan;

pub(crate) use load::Loaded;

use crate::board::{Color, Position, RuleOptions, Rules};
use crate::tablebase::address::Addresser;
use crate::tablebase::store::cache::Cache;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{Block, Content, TableError, TableFile};
use crate::tablebase::store::manifest::{MANIFEST, Manifest, largest, names, read_manifest};
use crate::tablebase::store::prober::{DtzProber, WdlProber};
use crate::tablebase::{ClassId, Classes, Material, TableProber};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

/// The number of sets that were opened.
static SETS: AtomicU64 = AtomicU64::new(0);

/// An open directory of tables, for reading from any number of threads.
///
/// [`prober`](TableSet::prober) returns a [`TableProber`] for stated rules, which reads the values.
pub struct TableSet {
    /// A number that no other set of this process has.
    number: u64,
    dir: PathBuf,
    rules: Rules,
    manifest: Manifest,
    classes: Classes,
    addresser: Addresser,
    /// The kind of the values.
    content: Content,
    /// By class, whether the manifest lists it.
    listed: Vec<bool>,
    /// By class, its file, opened at the first use.
    files: Vec<OnceLock<TableFile>>,
    /// Decoded blocks by class and number of the block in its file.
    cache: Mutex<Cache<(ClassId, usize), Block>>,
}

impl TableSet {
    /// Opens a directory written by [`Generate`](crate::tablebase::Generate).
    ///
    /// # Errors
    /// If there is no manifest, or it cannot be read, or it lists a class twice or under another name.
    pub fn open(dir: &Path) -> Result<TableSet, SetError> {
        let manifest = read_manifest(dir)?;
        let broken = |what: String| SetError::Manifest { path: dir.join(MANIFEST), what };
        let rules = RuleOptions::from_table_spelling(&manifest.rules).map_err(|e| broken(format!("{e}")))?;
        let classes = Classes::new(&rules, largest(dir, &manifest.classes)?);
        let files = (0..classes.len()).map(|_| OnceLock::new()).collect();
        let (addresser, rules) = (Addresser::new(&classes), Rules::new(rules));
        let (dir, content, cache) = (dir.to_owned(), Content::Dtw, Mutex::default());
        let listed = listed_classes(&manifest, &classes).map_err(broken)?;
        let number = SETS.fetch_add(1, Relaxed);
        let mut set = TableSet { number, dir, rules, manifest, classes, addresser, content, listed, files, cache };
        // All tables of a directory have the same kind of values. A missing or damaged table is reported when it is
        // needed.
        let first = set.ids().find_map(|id| set.open_file(id).ok());
        set.content = first.map_or(Content::Dtw, |file| file.description().content);
        Ok(set)
    }

    /// Sets the memory of decoded blocks to about `bytes` bytes, instead of 80 MiB. Blocks that are decoded again after
    /// the memory is full cost time, never another answer.
    #[must_use]
    pub fn with_cache(mut self, bytes: usize) -> TableSet {
        self.cache = Mutex::new(Cache::with_limit(bytes));
        self
    }

    /// The kind of the values: with distances, or results only.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// A prober of these tables for games under `rules`, or with `None` under those of the tables; it and
    /// [`wdl_prober`](TableSet::wdl_prober) are the only public access to the values of a set.
    ///
    /// # Errors
    /// [`SetError::Rules`] if the tables were generated for other rules. Repetition is ignored, as tables do not depend
    /// on it. [`TableError::WdlOnly`] if the tables store results without distances. [`SetError::Dtz`] if they know a
    /// no-capture limit.
    pub fn prober<'a>(self, rules: impl Into<Option<&'a RuleOptions>>) -> Result<TableProber, SetError> {
        self.check_metric()?;
        rules.into().map_or(Ok(()), |rules| self.check_rules(rules))?;
        if self.content == Content::Wdl {
            return Err(TableError::WdlOnly { path: self.dir }.into());
        }
        Ok(TableProber::new(self))
    }

    /// A prober for results (win, draw or loss) alone, from tables with or without distances.
    ///
    /// # Errors
    /// [`SetError::Rules`] and [`SetError::Dtz`] as [`prober`](TableSet::prober).
    pub fn wdl_prober(self, rules: &RuleOptions) -> Result<WdlProber, SetError> {
        self.check_metric()?;
        self.check_rules(rules)?;
        Ok(WdlProber::new(self))
    }

    /// A prober of these tables for games with the no-capture limit that the tables know, under `rules` as for
    /// [`prober`](TableSet::prober).
    ///
    /// # Errors
    /// [`SetError::Rules`] as [`prober`](TableSet::prober), [`SetError::Dtw`] if the tables know no limit.
    pub fn dtz_prober<'a>(self, rules: impl Into<Option<&'a RuleOptions>>) -> Result<DtzProber, SetError> {
        let Some(limit) = self.no_capture_limit() else { return Err(SetError::Dtw { dir: self.dir }) };
        rules.into().map_or(Ok(()), |rules| self.check_rules(&rules.within(Some(limit))))?;
        Ok(DtzProber::new(self))
    }

    /// The no-capture limit that the tables know, in plies.
    #[must_use]
    pub fn no_capture_limit(&self) -> Option<u16> {
        self.rules.options().no_capture_limit
    }

    /// Rejects tables that know a no-capture limit.
    pub(super) fn check_metric(&self) -> Result<(), SetError> {
        match self.no_capture_limit() {
            None => Ok(()),
            Some(limit) => Err(SetError::Dtz { dir: self.dir.clone(), limit }),
        }
    }

    fn check_rules(&self, rules: &RuleOptions) -> Result<(), SetError> {
        if rules.table_hash() == self.rules.options().table_hash() {
            return Ok(());
        }
        let (dir, found) = (self.dir.clone(), self.manifest.rules.clone());
        Err(SetError::Rules { dir, found, wanted: rules.table_spelling() })
    }

    /// The rules that the tables were generated for. Their repetition rule has no effect on values.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The directory.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest of the directory.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The classes of these rules, whether their tables exist or not.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The classes that the manifest lists as tables.
    pub fn ids(&self) -> impl Iterator<Item = ClassId> + '_ {
        listed_ids(&self.manifest, &self.classes)
    }

    /// Checks that the manifest's entry for a class matches its file, except for the length, which a killed `repack`
    /// has already changed.
    pub(crate) fn check_listed(&self, id: ClassId) -> Result<(), SetError> {
        let class = self.classes.get(id);
        let description = self.file(id)?.description();
        let name = class.representative.to_string();
        let right = self.manifest.classes.iter().filter(|listed| listed.class == name).all(|listed| {
            listed.values == description.values
                && listed.stats == description.stats
                && listed.same == names(&class.same)
                && listed.swapped == names(&class.swapped)
        });
        if right {
            return Ok(());
        }
        let what = "its entry for a class differs from the class's file";
        Err(TableError::Damaged { path: self.dir.join(MANIFEST), what }.into())
    }

    /// Checks that the manifest lists tables.
    ///
    /// # Errors
    /// [`SetError::Unfinished`] if it lists nothing, [`SetError::CountsOnly`] if it lists counts.
    pub fn check_not_empty(&self) -> Result<(), SetError> {
        let dir = || self.dir.clone();
        match &self.manifest {
            Manifest { classes, .. } if !classes.is_empty() => Ok(()),
            Manifest { counted, .. } if !counted.is_empty() => Err(SetError::CountsOnly { dir: dir() }),
            _ => Err(SetError::Unfinished { dir: dir() }),
        }
    }

    /// Checks that the manifest lists tables, every table in the directory, and every class that captures of listed ones
    /// lead to.
    ///
    /// # Errors
    /// As [`check_not_empty`](TableSet::check_not_empty), [`SetError::Unlisted`] for the first class that it does not
    /// list, or if the directory cannot be read.
    pub fn check_complete(&self) -> Result<(), SetError> {
        self.check_not_empty()?;
        for (id, class) in self.classes.iter().filter(|(id, _)| !self.listed[id.0]) {
            let captures_lead_here = |other: ClassId| self.classes.captures(other).contains(&id);
            let needed = self.classes.iter().any(|(other, _)| self.listed[other.0] && captures_lead_here(other));
            if needed || TableFile::path(&self.dir, class.representative).exists() {
                return Err(SetError::Unlisted { dir: self.dir.clone(), material: class.representative });
            }
        }
        match self.larger_tables()?.into_iter().min() {
            Some(material) => Err(SetError::Unlisted { dir: self.dir.clone(), material }),
            None => Ok(()),
        }
    }

    /// The tables in the directory with more pieces than any listed class, by their names.
    fn larger_tables(&self) -> Result<Vec<Material>, SetError> {
        let mut larger = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(TableError::io(&self.dir))? {
            let name = entry.map_err(TableError::io(&self.dir))?.file_name();
            let material = name.to_str().and_then(|name| Material::of_name(name.strip_suffix(".dsq")?));
            larger.extend(material.filter(|material| material.len() > self.classes.pieces()));
        }
        Ok(larger)
    }

    /// The position of `pieces` pieces with the longest distance in all tables, and the distance in plies; the first in
    /// the order of classes and cells. `None` if there is no table of `pieces` pieces.
    ///
    /// # Errors
    /// If a table is missing or its header is damaged.
    pub fn deepest(&self, pieces: usize) -> Result<Option<(Position, u16)>, SetError> {
        let mut best: Option<(usize, Position)> = None;
        for id in self.ids().filter(|&id| self.classes().get(id).representative.len() == pieces) {
            let file = self.file(id)?;
            for turn in Color::ALL {
                let longest = file.description().stats[turn].summary().longest as usize;
                if best.as_ref().is_some_and(|(so_far, _)| longest <= *so_far) {
                    continue;
                }
                if let Some(position) =
                    file.description().deepest[turn].and_then(|cell| file.index().position(cell, turn))
                {
                    best = Some((longest, position));
                }
            }
        }
        Ok(best.map(|(number, position)| (position, self.classes.metric().plies(number as u16))))
    }

    /// The table of a class.
    ///
    /// # Errors
    /// If the table is missing, its header is damaged, or it has another kind of values than the other tables.
    pub fn file(&self, id: ClassId) -> Result<&TableFile, SetError> {
        let slot = &self.files[id.0];
        if let Some(file) = slot.get() {
            return Ok(file);
        }
        let file = self.open_file(id)?;
        if file.description().content != self.content {
            return Err(SetError::MixedKinds { path: file.file_path().to_owned() });
        }
        Ok(slot.get_or_init(|| file))
    }

    fn open_file(&self, id: ClassId) -> Result<TableFile, SetError> {
        let class = self.classes.get(id);
        let path = TableFile::path(&self.dir, class.representative);
        match TableFile::open(&path, self.rules.options(), class.representative) {
            Err(TableError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(SetError::Missing { dir: self.dir.clone(), material: class.representative })
            }
            opened => Ok(opened?),
        }
    }
}

/// What a search reads.
#[cfg(feature = "search")]
impl TableSet {
    /// The most pieces of a class that the manifest lists, and the plies of the longest win or loss of these classes.
    pub(crate) fn extent(&self) -> (usize, u32) {
        let pieces = self.ids().map(|id| self.classes.get(id).representative.len()).max();
        let sides = self.manifest.classes.iter().flat_map(|class| [&class.stats.white, &class.stats.black]);
        let longest = sides.map(|stats| stats.summary().longest).max();
        (pieces.unwrap_or(0), longest.unwrap_or(0) as u32)
    }
}

/// By class, whether the manifest lists it; the error is a text without the path.
fn listed_classes(manifest: &Manifest, classes: &Classes) -> Result<Vec<bool>, String> {
    let mut listed = vec![false; classes.len()];
    for (id, entry) in listed_ids(manifest, classes).zip(&manifest.classes) {
        let (name, right) = (&entry.class, classes.get(id).representative.to_string());
        if *name != right {
            return Err(format!("it lists the class {right} as {name}"));
        }
        if std::mem::replace(&mut listed[id.0], true) {
            return Err(format!("it lists the class {name} twice"));
        }
    }
    Ok(listed)
}

fn listed_ids<'a>(manifest: &'a Manifest, classes: &'a Classes) -> impl Iterator<Item = ClassId> + 'a {
    manifest.classes.iter().filter_map(|class| Some(classes.member(class.class.parse().ok()?)?.class))
}

#[cfg(test)]
mod tests;
