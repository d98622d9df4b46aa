//! The sources of values: files, or a solver in memory.

use crate::arguments::PositionsRef;
use crate::errors::{self, TablesError};
use crate::interrupt::parallel;
use doushouqi::board::{ByColor, Color, Move, Position, Rules};
use doushouqi::tablebase::{
    Address, Addresser, CellValue, ClassId, Classes, Material, MaterialTable, Probe, SetError, Solver, Stats, Table,
    TableProber, Value,
};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tables of a directory, with those of few pieces in memory.
pub(crate) struct Loaded {
    prober: TableProber,
    addresser: Addresser,
    /// By class; `None` for one that is read from its file.
    tables: Arc<Vec<Option<Table>>>,
}

impl Loaded {
    /// Reads the tables of up to `pieces` pieces, on the threads of the current pool, until `stop` becomes true.
    pub fn read(prober: TableProber, pieces: usize, stop: &AtomicBool) -> Result<Loaded, ManyError> {
        let classes = prober.set().classes();
        let mut tables: Vec<Option<Table>> = vec![None; classes.len()];
        let wanted: Vec<(ClassId, Material)> = prober
            .set()
            .ids()
            .map(|id| (id, classes.get(id).representative))
            .filter(|(_, material)| material.len() <= pieces)
            .collect();
        // One at a time: the reader of a table uses all threads.
        for (id, material) in wanted {
            if stop.load(Ordering::Relaxed) {
                return Err(ManyError::Stopped);
            }
            tables[id.index()] = Some(prober.load(material)?);
        }
        Ok(Loaded { addresser: Addresser::new(classes), tables: Arc::new(tables), prober })
    }

    /// The same tables in memory with another prober for the rest.
    pub fn with_prober(&self, prober: TableProber) -> Loaded {
        Loaded { addresser: Addresser::new(prober.set().classes()), tables: Arc::clone(&self.tables), prober }
    }

    /// The value of a position whose game is not over and whose table is in memory.
    fn in_memory(&self, position: &Position) -> Option<Value> {
        let Address { class, turn, cell } = self.addresser.locate(position)?;
        let table = self.tables[class.index()].as_ref()?;
        Some(Value::of(CellValue::from_code(table.cells[turn].get(cell))?, self.prober.rules()))
    }
}

impl Probe for Loaded {
    type Error = SetError;

    fn rules(&self) -> &Rules {
        self.prober.rules()
    }

    fn value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        match self.in_memory(position) {
            Some(value) => Ok(Some(value)),
            None => self.prober.value(position),
        }
    }
}

/// A source of values.
pub(crate) enum Source {
    /// Files, and perhaps classes with one piece more that are counted on demand.
    Files(Box<TableProber>),
    Loaded(Box<Loaded>),
    Memory(Box<Solver>),
}

impl Source {
    /// The files, if the values come from files.
    fn files(&self) -> Result<&TableProber, &Solver> {
        match self {
            Source::Files(prober) => Ok(prober),
            Source::Loaded(loaded) => Ok(&loaded.prober),
            Source::Memory(solver) => Err(solver),
        }
    }

    /// The prober that answers without counting.
    fn prober(&self) -> Result<&dyn Probe<Error = SetError>, &Solver> {
        match self {
            Source::Files(prober) => Ok(&**prober),
            Source::Loaded(loaded) => Ok(&**loaded),
            Source::Memory(solver) => Err(solver),
        }
    }

    pub fn rules(&self) -> &Rules {
        match self.files() {
            Ok(prober) => prober.rules(),
            Err(solver) => solver.rules(),
        }
    }

    pub fn classes(&self) -> &Classes {
        match self.files() {
            Ok(prober) => prober.set().classes(),
            Err(solver) => solver.classes(),
        }
    }

    /// Runs a short look-up without the GIL. Opening the file of a counted class uses several threads.
    pub fn run<T: Send>(&self, py: Python<'_>, look_up: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
        match self {
            Source::Files(prober) if prober.counter().is_some() => parallel(py, |_| look_up())?,
            Source::Files(_) | Source::Loaded(_) | Source::Memory(_) => py.detach(look_up),
        }
    }

    pub fn value(&self, position: &Position) -> PyResult<Option<Value>> {
        match self.prober() {
            Ok(prober) => prober.value(position).map_err(errors::tables),
            Err(solver) => Ok(solver.value(position).unwrap_or(None)),
        }
    }

    /// The values of many positions, on the threads of the current pool, until `stop` becomes true.
    pub fn values(&self, positions: PositionsRef<'_>, stop: &AtomicBool) -> Result<Vec<Option<Value>>, ManyError> {
        let get = |row| match stop.load(Ordering::Relaxed) {
            true => Err(ManyError::Stopped),
            false => positions.get(row).map_err(ManyError::Row),
        };
        let rows = || (0..positions.len()).into_par_iter().with_min_len(1024);
        match self {
            Source::Files(prober) => prober.values(positions.len(), |row| get(row).map(Some)),
            Source::Loaded(loaded) => {
                let found =
                    rows().map(|row| Ok(loaded.in_memory(&get(row)?))).collect::<Result<Vec<_>, ManyError>>()?;
                if found.iter().all(Option::is_some) {
                    return Ok(found);
                }
                let missing = |row: usize| found[row].is_none().then(|| get(row)).transpose();
                let others = loaded.prober.values(positions.len(), missing)?;
                Ok(found.iter().zip(others).map(|(found, other)| found.or(other)).collect())
            }
            Source::Memory(solver) => {
                rows().map(|row| Ok(solver.value(&get(row)?).unwrap_or(None))).collect::<Result<_, ManyError>>()
            }
        }
    }

    pub fn moves(&self, position: &Position) -> PyResult<Option<Vec<(Move, Value)>>> {
        match self.prober() {
            Ok(prober) => prober.moves(position).map_err(errors::tables),
            Err(solver) => Ok(solver.moves(position).unwrap_or(None)),
        }
    }

    pub fn line(&self, position: &Position) -> PyResult<Vec<(Move, Position)>> {
        match self.prober() {
            Ok(prober) => prober.line(position).map_err(errors::tables),
            Err(solver) => Ok(solver.line(position).unwrap_or_default()),
        }
    }

    /// The materials of `pieces` pieces whose values are available.
    pub fn materials(&self, pieces: usize) -> Vec<Material> {
        let classes = self.classes();
        let listed = |id| match self.files() {
            Ok(prober) => prober.set().ids().any(|listed| listed == id),
            Err(solver) => solver.table(id).is_some(),
        };
        let ids = classes.level(pieces).filter(|(id, _)| listed(*id));
        let mut materials: Vec<Material> =
            ids.flat_map(|(_, class)| class.same.iter().chain(&class.swapped).copied()).collect();
        materials.sort();
        materials
    }

    /// The counts of a material for each side to move.
    pub fn stats(&self, material: Material) -> PyResult<ByColor<Stats>> {
        let member = self.classes().member(material).ok_or_else(|| not_here(material))?;
        let stats = match self.files() {
            Ok(prober) => &prober.set().file(member.class).map_err(errors::tables)?.description().stats,
            Err(solver) => solver.class_stats(member.class).ok_or_else(|| not_here(material))?,
        };
        Ok(ByColor::from_fn(|color| stats[if member.swapped { !color } else { color }].clone()))
    }

    /// Calls `f` with every position of a material for a side to move, as [`MaterialTable::each`] does.
    pub fn each(&self, material: Material, mut f: impl FnMut(Color, &MaterialTable<'_>)) -> PyResult<()> {
        let loaded;
        let table = match self.files() {
            Ok(prober) => {
                loaded = prober.load(material).map_err(errors::tables)?;
                MaterialTable::new(self.classes(), &loaded, material)
            }
            Err(solver) => solver.material_table(material),
        };
        let table = table.ok_or_else(|| not_here(material))?;
        Color::ALL.into_iter().for_each(|turn| f(turn, &table));
        Ok(())
    }

    /// A position of `pieces` pieces with the longest distance, and the distance.
    pub fn longest(&self, pieces: usize) -> PyResult<Option<(Position, u16)>> {
        let solver = match self.files() {
            Ok(prober) => return prober.set().deepest(pieces).map_err(errors::tables),
            Err(solver) => solver,
        };
        let mut best: Option<(Position, u16)> = None;
        for (id, class) in solver.classes().level(pieces) {
            let (Some(table), index) = (solver.table(id), class.index()) else { continue };
            for turn in Color::ALL {
                let cells = &table.cells[turn];
                for cell in 0..cells.len() {
                    let Some(CellValue::Decided(plies)) = CellValue::from_code(cells.get(cell)) else { continue };
                    if best.as_ref().is_none_or(|(_, longest)| plies > *longest)
                        && let Some(position) = index.position(cell, turn)
                    {
                        best = Some((position, plies));
                    }
                }
            }
        }
        Ok(best)
    }
}

/// Why the values of many positions are not known.
pub(crate) enum ManyError {
    /// A row is not a position.
    Row(String),
    Tables(SetError),
    Stopped,
}

impl From<SetError> for ManyError {
    fn from(error: SetError) -> ManyError {
        ManyError::Tables(error)
    }
}

impl From<ManyError> for PyErr {
    fn from(error: ManyError) -> PyErr {
        match error {
            ManyError::Row(what) => PyValueError::new_err(what),
            ManyError::Tables(error) => errors::tables(error),
            ManyError::Stopped => PyKeyboardInterrupt::new_err(()),
        }
    }
}

fn not_here(material: Material) -> PyErr {
    TablesError::new_err(format!("there is no table of {material}"))
}
