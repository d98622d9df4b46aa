use crate::board::{ByColor, Color, NoMove, Position, RuleOptions, Rules};
use crate::tablebase::address::{Address, Addresser};
use crate::tablebase::store::cache::Cache;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{Block, TableError, TableFile};
use crate::tablebase::store::manifest::{MANIFEST, Manifest, largest, names, read_manifest};
use crate::tablebase::{CellValue, Cells, ClassId, Classes, Index, ROW_CELLS, Table, TableProber};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
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

/// An open directory of tables, for reading from any number of threads.
///
/// [`prober`](TableSet::prober) returns a [`TableProber`] for stated rules, which reads the values.
pub struct TableSet {
    dir: PathBuf,
    rules: Rules,
    manifest: Manifest,
    classes: Classes,
    addresser: Addresser,
    /// By class, its file, opened at the first use.
    files: Vec<OnceLock<TableFile>>,
    /// Decoded blocks by class and number of the block in its file.
    cache: Mutex<Cache<(ClassId, usize), Block>>,
}

impl TableSet {
    /// Opens a directory written by [`Generate`](crate::tablebase::Generate).
    ///
    /// # Errors
    /// If there is no manifest, or it cannot be read.
    pub fn open(dir: &Path) -> Result<TableSet, SetError> {
        let manifest = read_manifest(dir)?;
        let broken = |what: String| SetError::Manifest { path: dir.join(MANIFEST), what };
        let rules: RuleOptions = manifest.rules.parse().map_err(|e| broken(format!("{e}")))?;
        let classes = Classes::new(&rules, largest(dir, &manifest.classes)?);
        let files = (0..classes.len()).map(|_| OnceLock::new()).collect();
        let (addresser, rules) = (Addresser::new(&classes), Rules::new(rules));
        Ok(TableSet { dir: dir.to_owned(), rules, manifest, classes, addresser, files, cache: Mutex::default() })
    }

    /// A prober of these tables for games under `rules`, the only public access to the values of a set.
    ///
    /// # Errors
    /// [`SetError::Rules`] if the tables were generated for other rules. Repetition is ignored, as tables do not depend
    /// on it.
    pub fn prober(self, rules: &RuleOptions) -> Result<TableProber, SetError> {
        if rules.table_hash() != self.rules.options().table_hash() {
            let found = self.manifest.rules;
            return Err(SetError::Rules { dir: self.dir, found, wanted: rules.table_spelling() });
        }
        Ok(TableProber::new(self))
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
        self.manifest.classes.iter().filter_map(|class| Some(self.classes.member(class.class.parse().ok()?)?.class))
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

    /// Checks that the manifest lists every table in the directory, and every class that captures of listed ones lead
    /// to.
    ///
    /// # Errors
    /// [`SetError::Unlisted`] for the first class that it does not list.
    pub fn check_complete(&self) -> Result<(), SetError> {
        let listed: HashSet<ClassId> = self.ids().collect();
        for (id, class) in self.classes.iter().filter(|(id, _)| !listed.contains(id)) {
            let needed = listed.iter().any(|&other| self.classes.captures(other).contains(&id));
            if needed || TableFile::path(&self.dir, class.representative).exists() {
                return Err(SetError::Unlisted { dir: self.dir.clone(), material: class.representative });
            }
        }
        Ok(())
    }

    /// The table of a class.
    ///
    /// # Errors
    /// If the table is missing, or its header is damaged.
    pub fn file(&self, id: ClassId) -> Result<&TableFile, SetError> {
        let slot = &self.files[id.0];
        if let Some(file) = slot.get() {
            return Ok(file);
        }
        let class = self.classes.get(id);
        let path = TableFile::path(&self.dir, class.representative);
        if !path.exists() {
            return Err(SetError::Missing { dir: self.dir.clone(), material: class.representative });
        }
        let file = TableFile::open(&path, self.rules.options(), class.representative)?;
        Ok(slot.get_or_init(|| file))
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
        let Some(Address { class, turn, cell }) = self.addresser.locate(position) else { return Ok(None) };
        if let Some(loaded) = loaded.filter(|loaded| loaded.class == class)
            && let Some(cells) = loaded.cells(turn)
        {
            return Ok(CellValue::from_code(cells.get(cell)));
        }
        let file = self.file(class)?;
        if !file.stores(turn) {
            return self.look_ahead(position, loaded).map(Some);
        }
        Ok(CellValue::from_code(self.code(class, file, turn, cell)?))
    }

    /// The value of a position whose game is not over, computed from the values after its moves.
    pub(crate) fn look_ahead(&self, position: &Position, loaded: Option<&Loaded>) -> Result<CellValue, SetError> {
        let moves = position.moves(&self.rules);
        if moves.is_empty() {
            return Ok(CellValue::NoMove);
        }
        let (mut win, mut loss, mut draw) = (None, 0, false);
        for &mv in &moves {
            let next = position.make(mv);
            // The distance for the side that moves next; `None` for a draw.
            let value =
                if next.winner().is_some() { Some(CellValue::Decided(0)) } else { self.look_up(&next, loaded)? };
            let plies = match value {
                Some(CellValue::Decided(plies)) => Some(plies),
                Some(CellValue::NoMove) if self.rules.options().no_move == NoMove::Loss => Some(0),
                _ => None,
            };
            match plies {
                Some(plies) if plies % 2 == 0 => win = Some(win.map_or(plies + 1, |w: u16| w.min(plies + 1))),
                Some(plies) => loss = loss.max(plies + 1),
                None => draw = true,
            }
        }
        Ok(match win {
            Some(plies) => CellValue::Decided(plies),
            None if draw => CellValue::Draw,
            None => CellValue::Decided(loss),
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
        let number = file.block_of(turn, cell);
        let key = (id, number);
        let found = self.cache.lock().unwrap_or_else(|e| e.into_inner()).get(key);
        let block = match found {
            Some(block) => block,
            None => {
                // Decoding holds no lock, so two threads may decode the same block, which is harmless.
                let block = Arc::new(file.block(number)?);
                self.cache.lock().unwrap_or_else(|e| e.into_inner()).put(key, block.clone());
                block
            }
        };
        Ok(file.code(&block, cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::{Generate, Material, Options, Solver};

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
