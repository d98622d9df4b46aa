use crate::board::around;
use crate::board::geometry::DEN;
use crate::board::{ByColor, Color, MoveList, Position, RuleOptions, Rules};
use crate::tablebase::address::{Address, Addresser};
use crate::tablebase::store::cache::{Cache, get_or_decode};
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{Block, Content, TableError, TableFile};
use crate::tablebase::store::manifest::{MANIFEST, Manifest, largest, names, read_manifest};
use crate::tablebase::store::prober::WdlProber;
use crate::tablebase::value::CellsMut;
use crate::tablebase::{
    CellValue, Cells, ClassId, Classes, Index, Material, ROW_CELLS, Table, TableProber, Value, Wdl,
};
use rayon::prelude::*;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

/// The values of a class in memory, for one side to move or both.
pub(crate) struct Loaded {
    class: ClassId,
    cells: ByColor<Option<Cells>>,
}

impl Loaded {
    /// The values of a side to move; `None` if they are not loaded.
    pub(crate) fn cells(&self, turn: Color) -> Option<&Cells> {
        self.cells[turn].as_ref()
    }
}

/// The number of sets that were opened.
static SETS: AtomicU64 = AtomicU64::new(0);

/// The number of blocks that a thread keeps beside the cache that it shares with others, and the most bytes of such a
/// block: more than most blocks of repacked tables have.
const RECENT_BLOCKS: usize = 256;
const RECENT_BYTES: usize = 16 << 10;

thread_local! {
    /// Blocks that this thread read last, by number of the set, class and number of the block: the shared cache takes a
    /// lock and counts references.
    static RECENT: RefCell<[Option<RecentBlock>; RECENT_BLOCKS]> = const { RefCell::new([const { None }; RECENT_BLOCKS]) };
}

type RecentBlock = ((u64, ClassId, usize), Arc<Block>);

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
        let rules: RuleOptions = manifest.rules.parse().map_err(|e| broken(format!("{e}")))?;
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

    /// A prober of these tables for games under `rules`; it and [`wdl_prober`](TableSet::wdl_prober) are the only
    /// public access to the values of a set.
    ///
    /// # Errors
    /// [`SetError::Rules`] if the tables were generated for other rules. Repetition is ignored, as tables do not depend
    /// on it. [`TableError::WdlOnly`] if the tables store results without distances.
    pub fn prober(self, rules: &RuleOptions) -> Result<TableProber, SetError> {
        self.check_rules(rules)?;
        if self.content == Content::Wdl {
            return Err(TableError::WdlOnly { path: self.dir }.into());
        }
        Ok(TableProber::new(self))
    }

    /// A prober for results (win, draw or loss) alone, from tables with or without distances.
    ///
    /// # Errors
    /// [`SetError::Rules`] as [`prober`](TableSet::prober).
    pub fn wdl_prober(self, rules: &RuleOptions) -> Result<WdlProber, SetError> {
        self.check_rules(rules)?;
        Ok(WdlProber::new(self))
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

    /// The value of a position; `None` if the game is over or the position has more pieces than any table. Values of
    /// the class in `loaded` are read from memory.
    ///
    /// # Errors
    /// If a table that is needed is missing or damaged.
    pub(in crate::tablebase) fn look_up(
        &self,
        position: &Position,
        loaded: Option<&Loaded>,
    ) -> Result<Option<CellValue>, SetError> {
        let Some(address) = self.locate(position) else { return Ok(None) };
        self.look_up_at(address, position, loaded)
    }

    /// The cell of a position; `None` if the game is over or the position has more pieces than any table.
    pub(super) fn locate(&self, position: &Position) -> Option<Address> {
        self.addresser.locate(position)
    }

    /// [`look_up`](TableSet::look_up) of a position with this address.
    pub(super) fn look_up_at(
        &self,
        address: Address,
        position: &Position,
        loaded: Option<&Loaded>,
    ) -> Result<Option<CellValue>, SetError> {
        Ok(match self.read(address, position, loaded)? {
            Some(Read { value, is_bound: true }) => Some(self.with_conversions(position, value)?.unwrap_or(value)),
            other => other.map(|read| read.value),
        })
    }

    /// The value of a position as it is stored in a file or in memory; computed from its moves if its side to move is
    /// not stored.
    fn read(
        &self,
        Address { class, turn, cell }: Address,
        position: &Position,
        loaded: Option<&Loaded>,
    ) -> Result<Option<Read>, SetError> {
        let exact = |value| Read { value, is_bound: false };
        if let Some(loaded) = loaded.filter(|loaded| loaded.class == class)
            && let Some(cells) = loaded.cells(turn)
        {
            return Ok(CellValue::from_code(cells.get(cell)).map(exact));
        }
        let file = self.file(class)?;
        if !file.stores(turn) {
            return self.look_ahead(position, loaded).map(|value| Some(exact(value)));
        }
        let stored = CellValue::from_code(self.code(class, file, turn, cell)?);
        Ok(stored.map(|value| Read { value, is_bound: self.is_bound(file, value) }))
    }

    /// Whether a capture or den entry may be better than a stored value.
    fn is_bound(&self, file: &TableFile, stored: CellValue) -> bool {
        file.description().dont_cares && !self.is_best(Value::of(stored, &self.rules))
    }

    /// The value of a position, given the code that its file stores.
    pub(super) fn value_of_code(
        &self,
        position: &Position,
        file: &TableFile,
        code: u16,
    ) -> Result<Option<CellValue>, SetError> {
        let Some(stored) = CellValue::from_code(code) else { return Ok(None) };
        if !self.is_bound(file, stored) {
            return Ok(Some(stored));
        }
        Ok(Some(self.with_conversions(position, stored)?.unwrap_or(stored)))
    }

    /// Whether no move can be better than one of this value, as far as the tables tell.
    fn is_best(&self, value: Value) -> bool {
        value.wdl == Wdl::Win && (value.dtw == Some(1) || self.content == Content::Wdl)
    }

    /// The value of the best capture or den entry of a position, if it is at least as good as the stored value (which
    /// may then be a don't-care). `None` if the stored value is better, or there is no such move.
    fn with_conversions(&self, position: &Position, stored: CellValue) -> Result<Option<CellValue>, SetError> {
        if !may_convert(position) {
            return Ok(None);
        }
        let best = self.best_of(position, &conversions(position, &self.rules), None)?;
        Ok(best.filter(|&best| Value::of(best, &self.rules) >= Value::of(stored, &self.rules)))
    }

    /// The value of a position whose game is not over, computed from the values after its moves.
    pub(crate) fn look_ahead(&self, position: &Position, loaded: Option<&Loaded>) -> Result<CellValue, SetError> {
        Ok(self.best_of(position, &position.moves(&self.rules), loaded)?.unwrap_or(CellValue::NoMove))
    }

    /// The value of a position if the side to move had only these moves; `None` without a move.
    fn best_of(
        &self,
        position: &Position,
        moves: &MoveList,
        loaded: Option<&Loaded>,
    ) -> Result<Option<CellValue>, SetError> {
        let mut best: Option<Value> = None;
        // Moves to positions whose captures and den entries are not looked up yet, with an upper bound of each move.
        let mut bounded: Vec<(Value, CellValue, Position)> = Vec::new();
        for &mv in moves {
            let next = position.make(mv);
            let read = if next.winner().is_some() {
                Read { value: CellValue::Decided(0), is_bound: false }
            } else {
                let address = self.addresser.locate(&next);
                let read = address.map(|address| self.read(address, &next, loaded)).transpose()?.flatten();
                read.unwrap_or(Read { value: CellValue::Draw, is_bound: false })
            };
            let value = Value::of(read.value, &self.rules).before();
            if read.is_bound {
                bounded.push((value, read.value, next));
            } else if self.is_best(value) {
                return Ok(Some(cell_value(value)));
            } else {
                best = best.max(Some(value));
            }
        }
        bounded.sort_unstable_by_key(|&(bound, ..)| Reverse(bound));
        for (bound, stored, next) in bounded {
            if best >= Some(bound) {
                break;
            }
            let value = self.with_conversions(&next, stored)?.unwrap_or(stored);
            best = best.max(Some(Value::of(value, &self.rules).before()));
        }
        Ok(best.map(cell_value))
    }

    /// The stored values of a class. Don't-cares are replaced by the values of the captures and den entries.
    pub(crate) fn stored(&self, id: ClassId) -> Result<Loaded, SetError> {
        let file = self.file(id)?;
        if self.content == Content::Wdl {
            return Err(TableError::WdlOnly { path: file.file_path().to_owned() }.into());
        }
        let side = |color| -> Result<Option<Cells>, SetError> {
            Ok(match file.stores(color) {
                false => None,
                true if file.is_exact(color) => Some(file.load(color)?),
                true => Some(self.restore(file, color)?),
            })
        };
        Ok(Loaded { class: id, cells: ByColor { white: side(Color::White)?, black: side(Color::Black)? } })
    }

    /// Decodes a side to move and replaces its don't-cares by their values.
    fn restore(&self, file: &TableFile, turn: Color) -> Result<Cells, SetError> {
        let mut cells = file.load_stored(turn)?;
        let value = |cell: usize, code: u16| -> Result<Option<u16>, SetError> {
            let Some(stored) = CellValue::from_code(code) else { return Ok(None) };
            let Some(position) = file.index().position(cell, turn) else { return Ok(None) };
            Ok(self.with_conversions(&position, stored)?.map(CellValue::code))
        };
        let row = |(row, cells): (usize, CellsMut<'_>)| -> Result<(), SetError> {
            match cells {
                CellsMut::Byte(cells) => {
                    for (cell, code) in cells.iter_mut().enumerate() {
                        let code_here = value(row * ROW_CELLS + cell, u16::from(*code))?;
                        // A value that does not fit the cell cannot be right: the checksum then differs.
                        *code = code_here.map_or(*code, |code| code.try_into().unwrap_or(0));
                    }
                }
                CellsMut::Wide(cells) => {
                    for (cell, code) in cells.iter_mut().enumerate() {
                        *code = value(row * ROW_CELLS + cell, *code)?.unwrap_or(*code);
                    }
                }
            }
            Ok(())
        };
        cells.view_mut().chunks(ROW_CELLS).into_par_iter().enumerate().try_for_each(row)?;
        file.check_values(turn, cells.view())?;
        Ok(cells)
    }

    /// All values of a class. A side to move that is not stored is computed from its moves, which takes about a
    /// microsecond a position.
    ///
    /// # Errors
    /// As [`look_up`](TableSet::look_up).
    pub(in crate::tablebase) fn table(&self, id: ClassId) -> Result<Table, SetError> {
        let mut loaded = self.complete(id)?;
        let cells = ByColor::from_fn(|color| loaded.cells[color].take().expect("both sides are there"));
        Ok(Table { cells })
    }

    /// The values of a class for both sides to move. The side that is not stored is computed and checked.
    pub(crate) fn complete(&self, id: ClassId) -> Result<Loaded, SetError> {
        let mut loaded = self.stored(id)?;
        let file = self.file(id)?;
        for color in Color::ALL {
            if loaded.cells[color].is_none() {
                let cells = self.compute(file.index(), color, &loaded)?;
                file.check_values(color, cells.view())?;
                loaded.cells[color] = Some(cells);
            }
        }
        Ok(loaded)
    }

    /// Computes the values of a side to move from the values after its moves.
    fn compute(&self, index: &Index, turn: Color, loaded: &Loaded) -> Result<Cells, SetError> {
        let code = |cell: usize| match index.position(cell, turn) {
            None => Ok(0),
            Some(position) => self.look_ahead(&position, Some(loaded)).map(CellValue::code),
        };
        let mut codes = vec![0; index.cells()];
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
        let place = file.stored_place(turn, cell);
        let key = (self.number, id, place.block);
        RECENT.with_borrow_mut(|recent| {
            let slot = &mut recent[(id.0 ^ place.block) % RECENT_BLOCKS];
            if let Some((of, block)) = slot
                && *of == key
            {
                return Ok(file.code(block, place));
            }
            let block = self.block(id, file, place.block)?;
            let code = file.code(&block, place);
            if block.bytes().len() <= RECENT_BYTES {
                *slot = Some((key, block));
            }
            Ok(code)
        })
    }

    /// A decoded block of a class, from the cache if it is there.
    pub(super) fn block(&self, id: ClassId, file: &TableFile, number: usize) -> Result<Arc<Block>, SetError> {
        get_or_decode(&self.cache, (id, number), || Ok(file.sized_block(number)?))
    }
}

/// What a search reads.
#[cfg(feature = "search")]
impl TableSet {
    /// The most pieces of a class that the manifest lists, and the plies of the longest win or loss of these classes.
    pub(crate) fn extent(&self) -> (usize, u32) {
        let pieces = self.ids().map(|id| self.classes.get(id).representative.len()).max();
        let longest = |stats: &ByColor<crate::tablebase::Stats>| Color::ALL.map(|turn| stats[turn].summary().longest);
        let longest = self.manifest.classes.iter().flat_map(|class| longest(&class.stats)).max();
        (pieces.unwrap_or(0), longest.unwrap_or(0) as u32)
    }

    /// The value of a position whose game is not over, for the side to move. `None` if the manifest does not list its
    /// class. Tables of results alone store a win as a win in 1 ply and a loss as a loss in 2.
    ///
    /// # Errors
    /// If a listed table that is needed is missing or damaged.
    pub(crate) fn listed_value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        let Some(address) = self.addresser.locate(position).filter(|address| self.listed[address.class.0]) else {
            return Ok(None);
        };
        let value = self.look_up_at(address, position, None)?;
        Ok(value.map(|value| Value::of(value, &self.rules)))
    }
}

/// The classes that a manifest lists as tables.
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

/// The value of a position before its captures and den entries are looked up.
struct Read {
    value: CellValue,
    /// Whether a capture or den entry may be better for the side to move, so that the value is a lower bound.
    is_bound: bool,
}

/// The value of a position with a legal move, as a cell stores it.
fn cell_value(value: Value) -> CellValue {
    value.dtw.map_or(CellValue::Draw, CellValue::Decided)
}

/// The captures and den entries of a position.
fn conversions(position: &Position, rules: &Rules) -> MoveList {
    let turn = position.turn();
    let wanted = position.side(!turn).bits() | 1 << DEN[!turn].index();
    let mut moves = MoveList::new();
    moves.extend(position.lanes(turn), position.targets(rules).map(|targets| targets & wanted));
    moves
}

/// Whether a position may have a capture or den entry. Most positions have no enemy near.
#[inline]
fn may_convert(position: &Position) -> bool {
    let turn = position.turn();
    let wanted = position.side(!turn).bits() | 1 << DEN[!turn].index();
    around(position.side(turn).bits()) & wanted != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Move;
    use crate::game::random::Random;
    use crate::tablebase::{Generate, Material, Options, Solver};

    #[test]
    fn conversions_are_the_captures_and_den_entries() {
        let mut found = [0; 2];
        for options in ["paper", "chinese", "paper,tiger-leap=files"] {
            let rules = Rules::new(options.parse().unwrap());
            for number in 0..3000 {
                let turn = Color::ALL[number % 2];
                let Some(position) = Random::numbered(3, number as u64).scatter(turn, 2 + number % 12) else {
                    continue;
                };
                let ends = |mv: &&Move| {
                    let to = mv.to.index();
                    position.side(!turn).bits() >> to & 1 != 0 || to == DEN[!turn].index()
                };
                let all = position.moves(&rules);
                let wanted: Vec<Move> = all.iter().filter(ends).copied().collect();
                if position.winner().is_none() {
                    assert_eq!(conversions(&position, &rules).to_vec(), wanted, "{}", position.to_fen());
                    assert!(wanted.is_empty() || may_convert(&position), "{}", position.to_fen());
                    found[usize::from(wanted.is_empty())] += 1;
                }
            }
        }
        assert!(found.iter().all(|&count| count > 500), "{found:?}");
    }

    /// A thread that probes two sets in turn gets the values of each, also after one of them was opened again.
    #[test]
    fn recent_blocks_are_those_of_their_set() {
        let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        for (dir, rules) in dirs.iter().zip(["paper", "chinese"]) {
            let rules: RuleOptions = rules.parse().unwrap();
            Generate::new(dir.path(), rules).run(&mut Solver::new(&rules, 2, Options::default()), &|_| {}).unwrap();
        }
        let open = || dirs.each_ref().map(|dir| TableSet::open(dir.path()).unwrap());
        let first = open();
        let solvers = first.each_ref().map(|set| Solver::solved(set.rules().options(), 2).unwrap());
        for sets in [first, open()] {
            for number in 0..200 {
                let Some(position) = Random::numbered(4, number).scatter(Color::White, 2) else { continue };
                for (set, solver) in sets.iter().zip(&solvers) {
                    let found = set.look_up(&position, None).unwrap();
                    assert_eq!(found, solver.cell_value(&position), "{}", position.to_fen());
                }
            }
        }
    }

    /// White's elephant captures Black's, and the panther beside its own den has no legal move.
    #[test]
    fn who_has_no_move_loses_where_the_rules_say_so() {
        let position = Position::from_fen("Eep4/2L4/7/7/7/7/7/7/7 w").unwrap();
        let material = Material::of(&position).unwrap();
        for (rules, value) in [("paper,no-move=loss", 1), ("paper", 3)] {
            let rules: RuleOptions = rules.parse().unwrap();
            let dir = tempfile::tempdir().unwrap();
            let mut solver = Solver::new(&rules, 4, Options::default());
            let job = Generate { material: Some(material), ..Generate::new(dir.path(), rules) };
            job.run(&mut solver, &|_| {}).unwrap();
            let set = TableSet::open(dir.path()).unwrap();
            assert_eq!(set.look_up(&position, None).unwrap(), Some(CellValue::Decided(value)), "as it is stored");
            assert_eq!(set.look_ahead(&position, None).unwrap(), CellValue::Decided(value), "as its moves say");
        }
    }
}
