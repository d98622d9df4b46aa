//! A directory of tables: a file a class, made by [`Generate`], read by [`TableSet`].

use super::codec::{FAST_LEVEL, SMALL_LEVEL};
use super::file::{Block, PARTIAL, TableError, TableFile, write, write_whole};
use super::solve::working_bytes;
use super::{Class, ClassId, Classes, Material, MaterialError, Options, SolveError, Solver, Stats, Value};
use crate::board::{ByColor, Color, Position, RuleOptions};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use thiserror::Error;

/// Name of the file that says what a directory holds.
pub const MANIFEST: &str = "manifest.json";
/// Version of the manifest.
const FORMAT: u32 = 1;
const LOCK: &str = "lock";
const EXTENSION: &str = "dsq";

/// Why a set of tables cannot be made or used.
#[derive(Debug, Error)]
pub enum SetError {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Solve(#[from] SolveError),
    #[error("{dir} is being written by another run; wait for it, or choose another directory")]
    Locked { dir: PathBuf },
    #[error("{dir} holds no tables: there is no {MANIFEST}")]
    NoTables { dir: PathBuf },
    #[error("{path} is not a readable manifest: {what}")]
    Manifest { path: PathBuf, what: String },
    #[error("{dir} holds tables for the rules {found}, not {wanted}")]
    Rules { dir: PathBuf, found: String, wanted: String },
    #[error("{dir} has no table of {material}; `dsq generate` makes it")]
    Missing { dir: PathBuf, material: Material },
    #[error("{material} has more pieces than these tables, which go to {pieces}")]
    TooFewPieces { material: Material, pieces: usize },
    #[error("solving {material} takes about {needed} GiB; the limit is {limit} GiB (raise --memory)")]
    Memory { material: Material, needed: usize, limit: usize },
}

/// What a directory holds: `manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the file format.
    pub format: u32,
    /// The rules, spelled out but for repetition.
    pub rules: String,
    /// The finished classes, fewer pieces first, then by spelling.
    pub classes: Vec<ManifestClass>,
}

/// One class of a [`Manifest`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ManifestClass {
    /// The class's representative; its file is this name with `.dsq`.
    pub class: String,
    /// All materials that it stands for, White's side as in the representative, and exchanged.
    pub same: Vec<String>,
    pub swapped: Vec<String>,
    pub bytes: u64,
    /// Checksums of the decoded values, White and Black to move.
    pub values: ByColor<String>,
    pub stats: ByColor<Stats>,
}

/// How far a generation is.
#[derive(Copy, Clone, Debug)]
pub struct Progress {
    /// Positions of the class just finished, both sides to move.
    pub positions: u64,
    /// Whether it was there already.
    pub reused: bool,
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Generate<'a> {
    pub dir: &'a Path,
    pub rules: RuleOptions,
    /// All materials up to this many pieces.
    pub pieces: usize,
    /// Only this material and what it leads to.
    pub material: Option<Material>,
    /// The most memory to use.
    pub memory_gib: usize,
    pub options: Options,
}

fn file_name(class: &Class) -> String {
    format!("{}.{EXTENSION}", class.representative)
}

impl Generate<'_> {
    /// The classes to make, by number of pieces.
    fn levels(&self, classes: &Classes) -> Vec<Vec<ClassId>> {
        match self.material.and_then(|m| classes.member(m)) {
            Some(member) => classes.needed_for(member.class),
            None => (2..=self.pieces).map(|n| classes.level(n).map(|(id, _)| id).collect()).collect(),
        }
    }

    /// Number of classes to make.
    #[must_use]
    pub fn class_count(&self) -> usize {
        let pieces = self.material.map_or(self.pieces, Material::len);
        self.levels(&Classes::new(&self.rules, pieces)).iter().map(Vec::len).sum()
    }

    /// Makes the tables. Classes whose file is there and whole are not made again, so a run that was killed is taken up
    /// where it was. `done` is called after each class.
    pub fn run(&self, done: &(dyn Fn(Progress) + Sync)) -> Result<(), SetError> {
        let dir = self.dir;
        fs::create_dir_all(dir).map_err(TableError::io(dir))?;
        let _lock = lock(dir)?;
        let listed = match read_manifest(dir) {
            Ok(manifest) if manifest.rules != self.rules.table_spelling() => {
                let (found, wanted) = (manifest.rules, self.rules.table_spelling());
                return Err(SetError::Rules { dir: dir.to_owned(), found, wanted });
            }
            Ok(manifest) => largest(dir, &manifest)?,
            Err(SetError::NoTables { .. }) => {
                write_manifest(dir, &self.rules, None)?;
                0
            }
            Err(error) => return Err(error),
        };
        remove_partial(dir)?;

        let pieces = self.material.map_or(self.pieces, Material::len);
        let mut solver = Solver::new(&self.rules, pieces, self.options);
        let levels = self.levels(solver.classes());
        for (i, level) in levels.iter().enumerate() {
            let pieces = i + 2;
            let top = i + 1 == levels.len();
            let memory = self.check_memory(&solver, level)?;
            solver.set_memory(memory);
            let mut missing = Vec::new();
            for &id in level {
                let class = solver.classes().get(id);
                let path = dir.join(file_name(class));
                if !path.exists() {
                    missing.push(id);
                    continue;
                }
                let file = TableFile::open(&path, &self.rules, class.representative)?;
                file.check()?;
                let table = if top { None } else { Some(file.load()?) };
                let stats = file.description().stats.clone();
                done(Progress { positions: stats.positions(), reused: true });
                solver.insert(id, stats, table);
            }
            let names: HashMap<ClassId, (Material, PathBuf)> = missing
                .iter()
                .map(|&id| (id, solver.classes().get(id)))
                .map(|(id, class)| (id, (class.representative, dir.join(file_name(class)))))
                .collect();
            solver.solve_classes(&missing, true, !top, &|id, solved| -> Result<(), SetError> {
                let (material, path) = &names[&id];
                let table = solved.table.as_ref().expect("values were asked for");
                write(path, &self.rules, *material, table, &solved.stats, FAST_LEVEL)?;
                done(Progress { positions: solved.stats.positions(), reused: false });
                Ok(())
            })?;
            if pieces > 2 {
                solver.forget_level(pieces - 1);
            }
        }
        if listed > pieces {
            // Larger classes that are there already stay listed.
            return write_manifest(dir, &self.rules, Some(&Classes::new(&self.rules, listed)));
        }
        write_manifest(dir, &self.rules, Some(solver.classes()))
    }

    /// Refuses what would not fit, before it is begun. Returns how many bytes are left for the classes in work.
    fn check_memory(&self, solver: &Solver, level: &[ClassId]) -> Result<usize, SetError> {
        const GIB: usize = 1 << 30;
        let material = |id: ClassId| solver.classes().get(id).representative;
        let cells = |id: ClassId| super::Index::new(material(id)).rows * super::ROW_CELLS;
        let captures: usize = {
            let mut ids: Vec<ClassId> = level.iter().flat_map(|&id| solver.classes().captures(id)).collect();
            ids.sort();
            ids.dedup();
            ids.into_iter().map(|id| 2 * cells(id)).sum()
        };
        let working = |id: ClassId| working_bytes(&super::Index::new(material(id)), true);
        let Some(largest) = level.iter().copied().max_by_key(|&id| working(id)) else { return Ok(0) };
        let needed = captures + working(largest);
        let limit = self.memory_gib.saturating_mul(GIB);
        if needed > limit {
            let (needed, limit) = (needed.div_ceil(GIB), self.memory_gib);
            return Err(SetError::Memory { material: material(largest), needed, limit });
        }
        Ok(limit - captures)
    }
}

/// Writes what the directory holds; nothing yet without classes.
fn write_manifest(dir: &Path, rules: &RuleOptions, classes: Option<&Classes>) -> Result<(), SetError> {
    let mut manifest = Manifest { format: FORMAT, rules: rules.table_spelling(), classes: Vec::new() };
    for (_, class) in classes.iter().flat_map(|classes| classes.iter()) {
        let path = dir.join(file_name(class));
        if !path.exists() {
            continue;
        }
        let file = TableFile::open(&path, rules, class.representative)?;
        let names = |materials: &[Material]| materials.iter().map(Material::to_string).collect();
        manifest.classes.push(ManifestClass {
            class: class.representative.to_string(),
            same: names(&class.same),
            swapped: names(&class.swapped),
            bytes: file.file_len(),
            values: file.description().values.clone(),
            stats: file.description().stats.clone(),
        });
    }
    let text = serde_json::to_string_pretty(&manifest).expect("a manifest is JSON");
    Ok(write_whole(&dir.join(MANIFEST), text.as_bytes())?)
}

/// Compresses the tables of a directory again, smaller. Each file is replaced when its successor is whole; those that are
/// small already are left alone. `done` is called after each with its size before and after.
pub fn repack(dir: &Path, done: &(dyn Fn(u64, u64) + Sync)) -> Result<(), SetError> {
    let _lock = lock(dir)?;
    remove_partial(dir)?;
    let set = TableSet::open(dir)?;
    for id in set.ids() {
        let file = set.file(id)?;
        let before = file.file_len();
        let path = dir.join(file_name(set.classes.get(id)));
        if !file.is_packed(SMALL_LEVEL) {
            file.check()?;
            let material = set.classes.get(id).representative;
            write(&path, &set.rules, material, &file.load()?, &file.description().stats, SMALL_LEVEL)?;
        }
        let after = fs::metadata(&path).map_err(TableError::io(&path))?.len();
        done(before, after);
    }
    write_manifest(dir, &set.rules, Some(&set.classes))
}

/// Takes the directory for this process. The operating system gives the lock back when the process ends, however it ends.
fn lock(dir: &Path) -> Result<File, SetError> {
    let path = dir.join(LOCK);
    let file = File::create(&path).map_err(TableError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SetError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(TableError::io(&path)(error).into()),
    }
}

/// Removes what a killed run left half written.
fn remove_partial(dir: &Path) -> Result<(), SetError> {
    for entry in fs::read_dir(dir).map_err(TableError::io(dir))? {
        let path = entry.map_err(TableError::io(dir))?.path();
        if path.extension().is_some_and(|e| e == PARTIAL) {
            fs::remove_file(&path).map_err(TableError::io(&path))?;
        }
    }
    Ok(())
}

fn read_manifest(dir: &Path) -> Result<Manifest, SetError> {
    let path = dir.join(MANIFEST);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SetError::NoTables { dir: dir.to_owned() });
        }
        Err(error) => return Err(TableError::io(&path)(error).into()),
    };
    let broken = |what: String| SetError::Manifest { path, what };
    match serde_json::from_str::<Manifest>(&text) {
        Ok(manifest) if manifest.format != FORMAT => {
            Err(broken(format!("it has format version {}; this program reads version {FORMAT}", manifest.format)))
        }
        Ok(manifest) => Ok(manifest),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// The most pieces of a class that a manifest lists; 2 if it lists none.
fn largest(dir: &Path, manifest: &Manifest) -> Result<usize, SetError> {
    let broken = |what: String| SetError::Manifest { path: dir.join(MANIFEST), what };
    let mut pieces = 2;
    for class in &manifest.classes {
        let material: Material = class.class.parse().map_err(|e: MaterialError| broken(e.to_string()))?;
        pieces = pieces.max(material.len());
    }
    if pieces > super::MAX_PIECES {
        return Err(broken(format!("it names a class of {pieces} pieces")));
    }
    Ok(pieces)
}

/// Decoded blocks that are kept for the next probe.
const CACHE_BLOCKS: usize = 256;

type BlockKey = (ClassId, usize);

/// A directory of tables, open for probing from any number of threads.
pub struct TableSet {
    dir: PathBuf,
    rules: RuleOptions,
    manifest: Manifest,
    classes: Classes,
    /// Opened when first asked for.
    files: Vec<OnceLock<TableFile>>,
    cache: Mutex<Cache>,
}

/// The blocks used last, in two generations: what is found in the older one moves to the newer, and when that is full it
/// becomes the older one.
#[derive(Default)]
struct Cache {
    newer: HashMap<BlockKey, Arc<Block>>,
    older: HashMap<BlockKey, Arc<Block>>,
}

impl Cache {
    fn get(&mut self, key: BlockKey) -> Option<Arc<Block>> {
        if let Some(block) = self.newer.get(&key) {
            return Some(block.clone());
        }
        let block = self.older.remove(&key)?;
        self.put(key, block.clone());
        Some(block)
    }

    fn put(&mut self, key: BlockKey, block: Arc<Block>) {
        if self.newer.len() >= CACHE_BLOCKS / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, block);
    }
}

impl TableSet {
    /// Opens a directory that [`Generate`] made.
    pub fn open(dir: &Path) -> Result<TableSet, SetError> {
        let manifest = read_manifest(dir)?;
        let broken = |what: String| SetError::Manifest { path: dir.join(MANIFEST), what };
        let rules: RuleOptions = manifest.rules.parse().map_err(|e| broken(format!("{e}")))?;
        let classes = Classes::new(&rules, largest(dir, &manifest)?);
        let files = (0..classes.len()).map(|_| OnceLock::new()).collect();
        Ok(TableSet { dir: dir.to_owned(), rules, manifest, classes, files, cache: Mutex::default() })
    }

    /// The rules that the tables are for. Their `repetition` is the default and means nothing.
    #[must_use]
    pub fn rules(&self) -> &RuleOptions {
        &self.rules
    }

    /// What the directory says it holds.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The classes of these rules, whether their tables are there or not.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The classes that the manifest names.
    pub fn ids(&self) -> impl Iterator<Item = ClassId> + '_ {
        self.manifest.classes.iter().filter_map(|class| Some(self.classes.member(class.class.parse().ok()?)?.class))
    }

    /// Whether the manifest says of a class what its file says. Its length is left out: packing that was killed has
    /// changed it already.
    pub(crate) fn check_listed(&self, id: ClassId) -> Result<(), SetError> {
        let class = self.classes.get(id);
        let description = self.file(id)?.description();
        let names = |materials: &[Material]| materials.iter().map(Material::to_string).collect::<Vec<_>>();
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
        let what = "what it says of a class is not what the class's file says";
        Err(TableError::Damaged { path: self.dir.join(MANIFEST), what }.into())
    }

    /// The table of a class.
    pub fn file(&self, id: ClassId) -> Result<&TableFile, SetError> {
        let slot = &self.files[id.0];
        if let Some(file) = slot.get() {
            return Ok(file);
        }
        let class = self.classes.get(id);
        let path = self.dir.join(file_name(class));
        if !path.exists() {
            return Err(SetError::Missing { dir: self.dir.clone(), material: class.representative });
        }
        let file = TableFile::open(&path, &self.rules, class.representative)?;
        Ok(slot.get_or_init(|| file))
    }

    /// The value of a position; `None` if the game is over or has more pieces than any table here.
    pub fn probe(&self, position: &Position) -> Result<Option<Value>, SetError> {
        let Some(place) = self.classes.locate(position) else { return Ok(None) };
        let file = self.file(place.class)?;
        let cell = file.index().cell(&place.squares);
        Ok(Value::from_code(self.code(place.class, file, place.turn, cell)?))
    }

    fn code(&self, id: ClassId, file: &TableFile, turn: Color, cell: usize) -> Result<u16, SetError> {
        let number = file.block_of(turn, cell);
        let key = (id, number);
        let found = self.cache.lock().unwrap_or_else(|e| e.into_inner()).get(key);
        let block = match found {
            Some(block) => block,
            None => {
                // Decoded without the lock; two threads may do the same block, which does no harm.
                let block = Arc::new(file.block(number)?);
                self.cache.lock().unwrap_or_else(|e| e.into_inner()).put(key, block.clone());
                block
            }
        };
        Ok(file.code(&block, cell))
    }
}
