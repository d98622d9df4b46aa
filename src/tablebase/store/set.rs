//! A directory of tables: a file a class, made by [`Generate`], read by [`TableSet`].

use crate::board::{ByColor, Color, NoMove, Position, RuleOptions, Rules};
use crate::tablebase::address::{Found, Locator};
use crate::tablebase::solve::solver::working_bytes;
use crate::tablebase::store::file::{
    Block, Description, PARTIAL, Packing, Sides, TableError, TableFile, check_values, write, write_whole,
};
use crate::tablebase::store::verify::position;
use crate::tablebase::{
    Cells, Class, ClassId, Classes, Index, Material, MaterialError, ROW_CELLS, SolveError, Solver, Stats, Table, Value,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;
use thiserror::Error;

/// Name of the file that says what a directory holds.
pub const MANIFEST: &str = "manifest.json";
/// Version of the manifest.
const FORMAT: u32 = 1;
const LOCK: &str = "lock";
const EXTENSION: &str = "dsq";
const GIB: usize = 1 << 30;

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
    #[error("the {MANIFEST} in {dir} does not name {material}; `dsq generate` brings it up to date")]
    Unlisted { dir: PathBuf, material: Material },
    #[error("{material} has more pieces than these tables, which go to {pieces}")]
    TooFewPieces { material: Material, pieces: usize },
    #[error("solving {material} takes about {needed} GiB; the limit is {limit} GiB (raise --memory)")]
    Memory { material: Material, needed: usize, limit: usize },
    #[error("checking {material} takes about {needed} GiB; the limit is {limit} GiB (raise --memory)")]
    ProofMemory { material: Material, needed: usize, limit: usize },
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
    /// Classes that were solved for their counts only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<CountedClass>,
}

/// A class of a [`Manifest`] that was counted and not written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CountedClass {
    pub class: String,
    pub same: Vec<String>,
    pub swapped: Vec<String>,
    pub stats: ByColor<Stats>,
    /// What it took, with what it needed, if it was solved by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
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
    /// Of the most pieces, keep nothing but the counts.
    pub stats_only: bool,
    /// With `stats_only`, write tables of at most so many pieces. The classes between these and the most pieces are solved
    /// when a class needs them, and forgotten when their memory is needed.
    pub write_up_to: Option<usize>,
    /// Begin no class that is only counted after this time.
    pub deadline: Option<Instant>,
    /// The most memory to use.
    pub memory_gib: usize,
}

fn file_name(class: &Class) -> String {
    format!("{}.{EXTENSION}", class.representative)
}

impl<'a> Generate<'a> {
    /// All tables of two pieces, within 8 GiB.
    #[must_use]
    pub fn new(dir: &'a Path, rules: RuleOptions) -> Generate<'a> {
        Generate {
            dir,
            rules,
            pieces: 2,
            material: None,
            stats_only: false,
            write_up_to: None,
            deadline: None,
            memory_gib: 8,
        }
    }

    /// The classes to make, by number of pieces from two on; of those that are solved only when needed, none.
    fn levels(&self, classes: &Classes) -> Vec<Vec<ClassId>> {
        let mut levels = match self.material.and_then(|m| classes.member(m)) {
            Some(member) => classes.needed_for(member.class),
            None => (2..=self.pieces).map(|n| classes.level(n).map(|(id, _)| id).collect()).collect(),
        };
        for (level, pieces) in levels.iter_mut().zip(2..) {
            if self.is_passing(pieces) {
                level.clear();
            }
        }
        levels
    }

    /// Whether classes of so many pieces are solved only when one of more pieces needs them.
    fn is_passing(&self, pieces: usize) -> bool {
        self.stats_only && self.write_up_to.is_some_and(|most| pieces > most) && pieces < self.most_pieces()
    }

    /// Number of positions of all classes to make, both sides to move.
    #[must_use]
    pub fn positions(&self) -> u64 {
        let classes = Classes::new(&self.rules, self.most_pieces());
        let ids = self.levels(&classes).into_iter().flatten();
        ids.map(|id| 2 * classes.get(id).representative.positions()).sum()
    }

    /// Pieces of the largest classes.
    #[must_use]
    pub fn most_pieces(&self) -> usize {
        self.material.map_or(self.pieces, Material::len)
    }

    /// Makes the tables with a solver that has solved nothing yet, for these rules and [`most_pieces`](Self::most_pieces).
    /// Classes whose file is there and whole are not made again, so a run that was killed is taken up where it was. `done`
    /// is called after each class.
    pub fn run(&self, solver: &mut Solver, done: &(dyn Fn(Progress) + Sync)) -> Result<(), SetError> {
        let dir = self.dir;
        fs::create_dir_all(dir).map_err(TableError::io(dir))?;
        let _lock = lock(dir)?;
        let (listed, counted) = match read_manifest(dir) {
            Ok(manifest) if manifest.rules != self.rules.table_spelling() => {
                let (found, wanted) = (manifest.rules, self.rules.table_spelling());
                return Err(SetError::Rules { dir: dir.to_owned(), found, wanted });
            }
            Ok(manifest) => (largest(dir, &manifest)?, manifest.counted),
            Err(SetError::NoTables { .. }) => {
                write_manifest(dir, &self.rules, None, &[])?;
                (0, Vec::new())
            }
            Err(error) => return Err(error),
        };
        let counted = Mutex::new(counted);
        remove_partial(dir)?;

        let pieces = self.most_pieces();
        let levels = self.levels(solver.classes());
        for (i, level) in levels.iter().enumerate() {
            let pieces = i + 2;
            let top = i + 1 == levels.len();
            let values = !(top && self.stats_only);
            if level.is_empty() {
                continue;
            }
            let one_by_one = top && self.is_passing(pieces - 1);
            if !one_by_one {
                solver.set_memory(self.check_memory(solver, level, values)?);
            }
            let mut to_solve = Vec::new();
            // Checksums of the values of tables that are there but store only one side to move: solving them again is
            // faster than computing the other.
            let mut known: HashMap<ClassId, ByColor<String>> = HashMap::new();
            for &id in level {
                let class = solver.classes().get(id);
                let path = dir.join(file_name(class));
                if !path.exists() {
                    let name = class.representative.to_string();
                    let before = counted.lock().unwrap_or_else(|e| e.into_inner());
                    match before.iter().find(|counted| !values && counted.class == name) {
                        Some(counted) => done(Progress { positions: counted.stats.positions(), reused: true }),
                        None => to_solve.push(id),
                    }
                    continue;
                }
                let file = TableFile::open(&path, &self.rules, class.representative)?;
                file.check()?;
                let Description { sides, stats, values, .. } = file.description().clone();
                let positions = stats.positions();
                if top {
                    solver.insert(id, stats, None);
                } else if sides == Sides::Both {
                    let cells = ByColor { white: file.load(Color::White)?, black: file.load(Color::Black)? };
                    solver.insert(id, stats, Some(Table { cells }));
                } else {
                    to_solve.push(id);
                    known.insert(id, values);
                    continue;
                }
                done(Progress { positions, reused: true });
            }
            let names: HashMap<ClassId, (Material, PathBuf)> = to_solve
                .iter()
                .map(|&id| (id, solver.classes().get(id)))
                .map(|(id, class)| (id, (class.representative, dir.join(file_name(class)))))
                .collect();
            if !values {
                write_manifest(
                    dir,
                    &self.rules,
                    Some(solver.classes()),
                    &counted.lock().unwrap_or_else(|e| e.into_inner()),
                )?;
            }
            let classes = solver.classes().clone();
            let count = |id: ClassId, stats: &ByColor<Stats>, seconds: Option<f64>| -> Result<(), SetError> {
                let mut counted = counted.lock().unwrap_or_else(|e| e.into_inner());
                counted.push(CountedClass::new(classes.get(id), stats, seconds));
                update_manifest(dir, |manifest| manifest.counted.clone_from(&counted))?;
                done(Progress { positions: stats.positions(), reused: false });
                Ok(())
            };
            if one_by_one {
                for &id in &to_solve {
                    if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                        break;
                    }
                    let start = Instant::now();
                    self.make_room(solver, id)?;
                    solver.count_class(id, &|_, _| {})?;
                    let stats = solver.class_stats(id).expect("it is solved");
                    count(id, stats, Some(start.elapsed().as_secs_f64()))?;
                }
                continue;
            }
            solver.solve_classes(&to_solve, values, !top, &|id, solved| -> Result<(), SetError> {
                let (material, path) = &names[&id];
                let positions = solved.stats.positions();
                let Some(table) = &solved.table else {
                    return count(id, &solved.stats, None);
                };
                let reused = known.get(&id);
                match reused {
                    Some(values) => check_values(path, *material, table, values)?,
                    None => write(path, &self.rules, *material, table, &solved.stats, Packing::FAST)?,
                }
                done(Progress { positions, reused: reused.is_some() });
                Ok(())
            })?;
            // What is solved only when needed needs them again.
            if pieces > 2 && !levels.get(i + 1).is_some_and(Vec::is_empty) {
                solver.forget_level(pieces - 1);
            }
        }
        let counted = counted.into_inner().unwrap_or_else(|e| e.into_inner());
        if listed > pieces {
            // Larger classes that are there already stay listed.
            return write_manifest(dir, &self.rules, Some(&Classes::new(&self.rules, listed)), &counted);
        }
        write_manifest(dir, &self.rules, Some(solver.classes()), &counted)
    }

    /// Forgets classes that are solved only when needed, those that this one does not need, until it fits.
    fn make_room(&self, solver: &mut Solver, id: ClassId) -> Result<(), SetError> {
        let cells =
            |solver: &Solver, id: ClassId| 2 * Index::new(solver.classes().get(id).representative).rows * ROW_CELLS;
        let needed: HashSet<ClassId> =
            solver.classes().needed_for(id).into_iter().flatten().filter(|&other| other != id).collect();
        let material = solver.classes().get(id).representative;
        let working = if solver.needs_host_memory() { working_bytes(&Index::new(material), false) } else { 0 };
        let mut total: usize = needed.iter().map(|&id| cells(solver, id)).sum::<usize>() + working;
        let limit = self.memory_gib.saturating_mul(GIB);
        if total > limit {
            return Err(SetError::Memory { material, needed: total.div_ceil(GIB), limit: self.memory_gib });
        }
        let others: Vec<ClassId> = solver
            .classes()
            .iter()
            .map(|(other, _)| other)
            .filter(|other| solver.table(*other).is_some() && !needed.contains(other))
            .collect();
        for other in others {
            let bytes = cells(solver, other);
            let passing = self.is_passing(solver.classes().get(other).representative.len());
            if passing && total + bytes > limit {
                solver.forget(other);
            } else {
                total += bytes;
            }
        }
        solver.set_memory(limit.saturating_sub(total));
        Ok(())
    }

    /// Refuses what would not fit, before it is begun. Returns how many bytes are left for the classes in work.
    fn check_memory(&self, solver: &Solver, level: &[ClassId], values: bool) -> Result<usize, SetError> {
        let material = |id: ClassId| solver.classes().get(id).representative;
        let cells = |id: ClassId| Index::new(material(id)).rows * ROW_CELLS;
        let captures: usize = {
            let mut ids: Vec<ClassId> = level.iter().flat_map(|&id| solver.classes().captures(id)).collect();
            ids.sort();
            ids.dedup();
            ids.into_iter().map(|id| 2 * cells(id)).sum()
        };
        let working = |id: ClassId| working_bytes(&Index::new(material(id)), values);
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

impl CountedClass {
    fn new(class: &Class, stats: &ByColor<Stats>, seconds: Option<f64>) -> CountedClass {
        CountedClass {
            class: class.representative.to_string(),
            same: names(&class.same),
            swapped: names(&class.swapped),
            stats: stats.clone(),
            seconds,
        }
    }
}

fn names(materials: &[Material]) -> Vec<String> {
    materials.iter().map(Material::to_string).collect()
}

/// Writes what the directory holds; no tables yet without classes. What was counted is left out where there is a table.
fn write_manifest(
    dir: &Path,
    rules: &RuleOptions,
    classes: Option<&Classes>,
    counted: &[CountedClass],
) -> Result<(), SetError> {
    let mut manifest =
        Manifest { format: FORMAT, rules: rules.table_spelling(), classes: Vec::new(), counted: counted.to_vec() };
    for (_, class) in classes.iter().flat_map(|classes| classes.iter()) {
        let path = dir.join(file_name(class));
        if !path.exists() {
            continue;
        }
        let file = TableFile::open(&path, rules, class.representative)?;
        manifest.classes.push(ManifestClass {
            class: class.representative.to_string(),
            same: names(&class.same),
            swapped: names(&class.swapped),
            bytes: file.file_len(),
            values: file.description().values.clone(),
            stats: file.description().stats.clone(),
        });
    }
    manifest.counted.retain(|counted| manifest.classes.iter().all(|class| class.class != counted.class));
    manifest.counted.sort_by(|a, b| a.class.cmp(&b.class));
    save_manifest(dir, &manifest)
}

fn save_manifest(dir: &Path, manifest: &Manifest) -> Result<(), SetError> {
    let text = serde_json::to_string_pretty(manifest).expect("a manifest is JSON");
    Ok(write_whole(&dir.join(MANIFEST), text.as_bytes())?)
}

/// Changes what the manifest says.
fn update_manifest(dir: &Path, change: impl FnOnce(&mut Manifest)) -> Result<(), SetError> {
    let mut manifest = read_manifest(dir)?;
    change(&mut manifest);
    save_manifest(dir, &manifest)
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
        if !file.is_packed(Packing::SMALL) {
            file.check()?;
            let material = set.classes.get(id).representative;
            write(&path, set.rules(), material, &set.table(id)?, &file.description().stats, Packing::SMALL)?;
        }
        let after = fs::metadata(&path).map_err(TableError::io(&path))?.len();
        done(before, after);
    }
    write_manifest(dir, set.rules(), Some(&set.classes), &set.manifest.counted)
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
    if pieces > crate::tablebase::MAX_PIECES {
        return Err(broken(format!("it names a class of {pieces} pieces")));
    }
    Ok(pieces)
}

/// Decoded blocks that are kept for the next probe.
const CACHE_BLOCKS: usize = 256;

type BlockKey = (ClassId, usize);

/// Values of a class in memory, of one side to move or both.
pub(crate) struct Loaded {
    class: ClassId,
    cells: ByColor<Option<Cells>>,
}

impl Loaded {
    /// The values of a side to move, if they are there.
    pub fn cells(&self, turn: Color) -> Option<&Cells> {
        self.cells[turn].as_ref()
    }
}

/// A directory of tables, open for probing from any number of threads.
pub struct TableSet {
    dir: PathBuf,
    rules: Rules,
    manifest: Manifest,
    classes: Classes,
    locator: Locator,
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
        let (locator, rules) = (Locator::of_cells(&classes), Rules::new(rules));
        Ok(TableSet { dir: dir.to_owned(), rules, manifest, classes, locator, files, cache: Mutex::default() })
    }

    /// The rules that the tables are for. Their `repetition` is the default and means nothing.
    #[must_use]
    pub fn rules(&self) -> &RuleOptions {
        self.rules.options()
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

    /// What to say where the values of these tables cannot be, though their checksums are right.
    pub(crate) fn contradictory(&self) -> SetError {
        let what = "its values contradict each other; `dsq verify --full` says where";
        TableError::Damaged { path: self.dir.clone(), what }.into()
    }

    /// Whether the manifest names every table in the directory, and all that captures lead to from those it names.
    pub fn check_complete(&self) -> Result<(), SetError> {
        let listed: HashSet<ClassId> = self.ids().collect();
        for (id, class) in self.classes.iter().filter(|(id, _)| !listed.contains(id)) {
            let needed = listed.iter().any(|&other| self.classes.captures(other).contains(&id));
            if needed || self.dir.join(file_name(class)).exists() {
                return Err(SetError::Unlisted { dir: self.dir.clone(), material: class.representative });
            }
        }
        Ok(())
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
        let file = TableFile::open(&path, self.rules(), class.representative)?;
        Ok(slot.get_or_init(|| file))
    }

    /// The value of a position; `None` if the game is over or has more pieces than any table here.
    pub fn probe(&self, position: &Position) -> Result<Option<Value>, SetError> {
        self.value(position, None)
    }

    /// The same, where the values of one class are at hand.
    fn value(&self, position: &Position, loaded: Option<&Loaded>) -> Result<Option<Value>, SetError> {
        let Some(Found { class, turn, number }) = self.locator.locate(position) else { return Ok(None) };
        if let Some(loaded) = loaded.filter(|loaded| loaded.class == class)
            && let Some(cells) = loaded.cells(turn)
        {
            return Ok(Value::from_code(cells.get(number)));
        }
        let file = self.file(class)?;
        if !file.stores(turn) {
            return self.look_ahead(position, loaded).map(Some);
        }
        Ok(Value::from_code(self.code(class, file, turn, number)?))
    }

    /// The value of a position that is not over, from the values of its moves, by the move generator that plays games.
    pub(crate) fn look_ahead(&self, position: &Position, loaded: Option<&Loaded>) -> Result<Value, SetError> {
        let moves = position.moves(&self.rules);
        if moves.is_empty() {
            return Ok(Value::NoMove);
        }
        let (mut win, mut loss, mut draw) = (None, 0, false);
        for &mv in &moves {
            let next = position.make(mv);
            // Distance for the side that moves next; `None` is a draw.
            let value = if next.winner().is_some() { Some(Value::Decided(0)) } else { self.value(&next, loaded)? };
            let plies = match value {
                Some(Value::Decided(plies)) => Some(plies),
                Some(Value::NoMove) if self.rules().no_move == NoMove::Loss => Some(0),
                _ => None,
            };
            match plies {
                Some(plies) if plies % 2 == 0 => win = Some(win.map_or(plies + 1, |w: u16| w.min(plies + 1))),
                Some(plies) => loss = loss.max(plies + 1),
                None => draw = true,
            }
        }
        Ok(match win {
            Some(plies) => Value::Decided(plies),
            None if draw => Value::Draw,
            None => Value::Decided(loss),
        })
    }

    /// The values of a class that are stored.
    pub(crate) fn stored(&self, id: ClassId) -> Result<Loaded, SetError> {
        let file = self.file(id)?;
        let side = |color| if file.stores(color) { file.load(color).map(Some) } else { Ok(None) };
        Ok(Loaded { class: id, cells: ByColor { white: side(Color::White)?, black: side(Color::Black)? } })
    }

    /// All values of a class. A side to move that is not stored is computed from its moves, which takes about a
    /// microsecond a position.
    pub fn table(&self, id: ClassId) -> Result<Table, SetError> {
        let mut loaded = self.complete(id)?;
        let cells = ByColor::from_fn(|color| loaded.cells[color].take().expect("both sides are there"));
        Ok(Table { cells })
    }

    /// The same, ready to look values up in.
    pub(crate) fn complete(&self, id: ClassId) -> Result<Loaded, SetError> {
        let mut loaded = self.stored(id)?;
        let file = self.file(id)?;
        for color in Color::ALL {
            if loaded.cells[color].is_none() {
                let cells = self.compute(file.index(), color, &loaded)?;
                file.check_values(color, &cells)?;
                loaded.cells[color] = Some(cells);
            }
        }
        Ok(loaded)
    }

    /// The values of a side to move from those of its moves.
    fn compute(&self, index: &Index, turn: Color, loaded: &Loaded) -> Result<Cells, SetError> {
        let code = |cell: usize| match position(index, turn, cell) {
            None => Ok(0),
            Some(position) => self.look_ahead(&position, Some(loaded)).map(Value::code),
        };
        let mut codes = vec![0; index.rows * ROW_CELLS];
        codes.par_chunks_mut(ROW_CELLS).enumerate().try_for_each(|(row, chunk)| -> Result<(), SetError> {
            for (i, slot) in chunk.iter_mut().enumerate() {
                *slot = code(row * ROW_CELLS + i)?;
            }
            Ok(())
        })?;
        Ok(match loaded.cells(!turn) {
            Some(other) => Cells::from_codes(codes, other),
            None => Cells::Wide(codes),
        })
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
