//! `Tables`: exact values from files or from memory.

use crate::arguments::{self, BoardArgument, Positions};
use crate::board::PyBoard;
use crate::errors::{self, TablesError};
use crate::held::Held;
use crate::interrupt::{abandonable, parallel, reporting};
use crate::memory;
use crate::moves::PyMove;
use crate::pickle::Reduced;
use crate::rules::{PyRules, RulesArgument};
use crate::source::{Loaded, Source};
use crate::squares::color;
use crate::values::{NO_DISTANCE, PyStats, PyValue, UNKNOWN, numbers};
use crate::whole::whole;
use doushouqi::board::{Position, RuleOptions, Square};
use doushouqi::game::Game;
use doushouqi::tablebase::{
    Class, ClassId, CountCache, CountPhase, CountProgress, Follow, Generate, Material, OnDemandError, Options,
    SolveError, Solved, Solver, TableProber, TableSet, Value, memory_limit,
};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The most pieces of a dense array: 63 squares for each piece.
const DENSE_PIECES: usize = 4;
/// The most pieces of a material that is solved in memory.
const SOLVED_PIECES: usize = 5;
/// The bytes that `probe_many` takes for each position, and for each of the positions that are sorted at once, about.
const VALUE_BYTES: usize = 16;
const PART: usize = 1 << 22;
const PART_BYTES: usize = 64;
/// The bytes of classes and indexes that opening or solving takes, about.
pub(crate) const OPENING_BYTES: usize = 16 << 20;

/// Exact values of endgames, from a directory (`open_tables`) or from memory (`solve`). A context manager.
///
/// A FEN is looked up under the rules of the tables. A `Board` under other rules raises TablesError. A pickle contains no
/// values: it opens the directory or solves the material again.
#[pyclass(frozen, name = "Tables", module = "doushouqi")]
pub(crate) struct PyTables {
    source: Held<Source>,
    made_by: MadeBy,
}

/// What made tables.
enum MadeBy {
    Open(Opening),
    /// The material or the number of pieces.
    Solve(Py<PyAny>, RuleOptions),
}

impl PyTables {
    fn of(source: Source, made_by: MadeBy) -> PyTables {
        PyTables { source: Held::new(source), made_by }
    }

    /// The source of the values, which stays open while it is in use.
    pub fn source(&self) -> PyResult<Arc<Source>> {
        self.source.get(|source| match (&self.made_by, &*source) {
            (MadeBy::Open(opening), Source::Files(_) | Source::Loaded(_)) if Arc::strong_count(&source) > 2 => {
                Ok(Arc::new(Python::attach(|py| opening.again(py, &source))?))
            }
            // Nothing of a solver is locked.
            _ => Ok(source),
        })
    }

    /// The source, unless it has other values under these rules. Repetition does not matter.
    pub fn source_under(&self, rules: &RuleOptions) -> PyResult<Arc<Source>> {
        let source = self.source()?;
        let tables = source.rules().options();
        if rules.table_hash() != tables.table_hash() {
            return Err(TablesError::new_err(format!("the tables are for the rules {tables}, not {rules}")));
        }
        Ok(source)
    }

    /// The source, unless a board is under rules for which it has other values.
    fn source_for(&self, boards: &[BoardArgument]) -> PyResult<Arc<Source>> {
        boards.iter().filter_map(|board| board.rules).try_for_each(|rules| self.source_under(&rules).map(drop))?;
        self.source()
    }
}

#[pymethods]
impl PyTables {
    /// The rules of the values.
    #[getter]
    fn rules(&self) -> PyResult<PyRules> {
        Ok(PyRules { options: *self.source()?.rules().options() })
    }

    /// The most pieces of a material whose values are available.
    #[getter]
    fn pieces(&self) -> PyResult<usize> {
        Ok(self.source()?.classes().pieces())
    }

    /// The materials of `pieces` pieces whose values are available.
    fn materials(&self, #[pyo3(from_py_with = whole)] pieces: usize) -> PyResult<Vec<String>> {
        Ok(self.source()?.materials(pieces).iter().map(Material::to_string).collect())
    }

    /// The value of a position; None if the tables do not cover it.
    ///
    /// With `on_demand` a position with one piece more is searched, and its material is counted if that does not
    /// suffice.
    fn probe(&self, py: Python<'_>, board: BoardArgument) -> PyResult<Option<PyValue>> {
        let source = self.source_for(from_ref(&board))?;
        let value = match on_demand(&source, &board.position) {
            Some(on_demand) => Some(counted(py, |follow| on_demand.probe(&board.position, false, follow))?.value),
            None => source.run(py, || source.value(&board.position))?,
        };
        value.map(|value| Ok(PyValue { value: board.value(value)? })).transpose()
    }

    /// The resources that counting the material of a position needs: its class and bytes of memory and disk. None if
    /// counting is not necessary or not possible.
    fn need<'py>(&self, py: Python<'py>, board: BoardArgument) -> PyResult<Option<Bound<'py, PyDict>>> {
        let source = self.source_for(from_ref(&board))?;
        let counter = on_demand(&source, &board.position).and_then(TableProber::counter);
        let Some(counter) = counter else { return Ok(None) };
        let need = parallel(py, |_| counter.need(&board.position))?;
        let Some(need) = need.map_err(errors::on_demand)? else { return Ok(None) };
        let all = PyDict::new(py);
        all.set_item("material", need.class.to_string())?;
        all.set_item("memory_bytes", need.memory_bytes)?;
        all.set_item("disk_bytes", need.disk_bytes)?;
        all.set_item("file_bytes", need.file_bytes)?;
        Ok(Some(all))
    }

    /// Counts the material of a position, unless the tables or the cache contain it.
    ///
    /// `progress` is called now and then with the phase and the completed share, 0 to 1. An exception that it raises
    /// ends the count.
    #[pyo3(signature = (board, progress = None))]
    fn count(&self, py: Python<'_>, board: BoardArgument, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let source = self.source_for(from_ref(&board))?;
        let position = board.position;
        let Some(on_demand) = on_demand(&source, &position) else { return Ok(()) };
        let Some(progress) = progress else {
            return counted(py, |follow| on_demand.count(&position, follow));
        };
        let report =
            |py: Python<'_>, now: CountProgress| progress.call1(py, (phase_name(now.phase), now.fraction)).map(drop);
        let source = Arc::clone(&source);
        let count = move |follow: Follow<'_>| {
            self::on_demand(&source, &position).map_or(Ok(()), |on_demand| on_demand.count(&position, follow))
        };
        reporting(py, report, count)?.map_err(errors::on_demand)
    }

    /// The values of many positions: `wdl` (int8) and `dtw` (int16).
    ///
    /// `wdl` is 1 for a win of the side to move, 0 for a draw, -1 for a loss and -2 if the tables do not cover the
    /// position. `dtw` is the distance in plies, -1 where there is none. The positions are an int8 array as `pack`
    /// makes it, or a sequence of boards and FENs.
    #[expect(clippy::type_complexity, reason = "a tuple of two arrays")]
    fn probe_many<'py>(
        &self,
        py: Python<'py>,
        positions: Positions<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i8>>, Bound<'py, PyArray1<i16>>)> {
        let source = self.source_for(positions.boards())?;
        let view = positions.view();
        memory::need(view.len().saturating_mul(VALUE_BYTES) + view.len().min(PART) * PART_BYTES)?;
        let values = parallel(py, |stop| source.values(view, stop))??;
        for (row, (board, value)) in positions.boards().iter().zip(&values).enumerate() {
            if let Some(value) = *value {
                board.value(value).map_err(|error| TablesError::new_err(format!("row {row}: {}", error.value(py))))?;
            }
        }
        let (wdl, dtw): (Vec<i8>, Vec<i16>) = values.into_iter().map(numbers).unzip();
        Ok((PyArray1::from_vec(py, wdl), PyArray1::from_vec(py, dtw)))
    }

    /// Every legal move with its value for the side that makes it, best first; None if the tables do not cover them.
    fn moves(&self, py: Python<'_>, board: BoardArgument) -> PyResult<Option<Vec<(PyMove, PyValue)>>> {
        let source = self.source_for(from_ref(&board))?;
        let moves = match on_demand(&source, &board.position) {
            Some(on_demand) => {
                let answer = counted(py, |follow| on_demand.probe(&board.position, true, follow))?;
                answer.moves.into_iter().filter_map(|(mv, value)| Some((mv, value?))).collect()
            }
            None => match source.run(py, || source.moves(&board.position))? {
                Some(moves) => moves,
                None => return Ok(None),
            },
        };
        let value = |(mv, value)| Ok((PyMove::of(mv), PyValue { value: board.move_value(mv, value)? }));
        moves.into_iter().map(value).collect::<PyResult<_>>().map(Some)
    }

    /// Best play to the end; empty for a draw, None if the tables do not cover the position.
    fn line(&self, py: Python<'_>, board: BoardArgument) -> PyResult<Option<Vec<PyMove>>> {
        let source = self.source_for(from_ref(&board))?;
        if let Some(on_demand) = on_demand(&source, &board.position) {
            counted(py, |follow| on_demand.count(&board.position, follow))?;
        }
        let Some(value) = source.run(py, || source.value(&board.position))? else { return Ok(None) };
        board.value(value)?;
        let line = source.run(py, || source.line(&board.position))?;
        Ok(Some(line.into_iter().map(|(mv, _)| PyMove::of(mv)).collect()))
    }

    /// The counts of a material, White to move unless `turn` is False.
    #[pyo3(signature = (material, turn = true))]
    fn stats(&self, material: &str, turn: bool) -> PyResult<PyStats> {
        let mut stats = self.source()?.stats(arguments::material(material)?)?;
        Ok(PyStats::of(std::mem::take(&mut stats[color(turn)])))
    }

    /// A position of `pieces` pieces with the greatest distance, and the distance; None without tables.
    fn longest(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] pieces: usize) -> PyResult<Option<(PyBoard, u16)>> {
        let source = self.source()?;
        let rules = source.rules().clone();
        let found = abandonable(py, move || source.longest(pieces))??;
        Ok(found.map(|(position, plies)| (PyBoard::of(Game::new(position, rules.clone(), None)), plies)))
    }

    /// All values of a material of up to four pieces as dense arrays `wdl` and `dtw`, as in `probe_many`.
    ///
    /// The shape is (2, 63, ..., 63): the side to move (0 White), then the square of each piece in the order of the
    /// material's spelling. `wdl` is -2 where there is no such position.
    #[expect(clippy::type_complexity, reason = "a tuple of two arrays")]
    fn to_numpy<'py>(
        &self,
        py: Python<'py>,
        material: &str,
    ) -> PyResult<(Bound<'py, PyArrayDyn<i8>>, Bound<'py, PyArrayDyn<i16>>)> {
        let (source, material) = (self.source()?, arguments::material(material)?);
        let pieces = material.len();
        if pieces > DENSE_PIECES {
            let what = format!("{material} has {pieces} pieces; an array of more than {DENSE_PIECES} is too large");
            return Err(PyValueError::new_err(what));
        }
        let shape: Vec<usize> = std::iter::once(2).chain(std::iter::repeat_n(Square::COUNT, pieces)).collect();
        let len = shape.iter().product();
        let (wdl, dtw) = abandonable(py, move || dense(&source, material, len))??;
        Ok((PyArray1::from_vec(py, wdl).reshape(&shape[..])?, PyArray1::from_vec(py, dtw).reshape(&shape[..])?))
    }

    /// Closes the tables: every later call raises TablesError.
    fn close(&self) {
        self.source.close();
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (&'static str, Bound<'py, PyDict>)> {
        // Raises if they are closed.
        self.source()?;
        let made_by = match &self.made_by {
            MadeBy::Open(opening) => ("open_tables", opening.keywords(py)?),
            MadeBy::Solve(material, rules) => {
                let keywords = PyDict::new(py);
                keywords.set_item("material", material)?;
                keywords.set_item("rules", rules.to_string())?;
                ("solve", keywords)
            }
        };
        Ok((py.get_type::<PyTables>().getattr("_restore")?, made_by))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore<'py>(py: Python<'py>, function: &str, arguments: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        if !matches!(function, "open_tables" | "solve") {
            return Err(PyValueError::new_err(format!("no function {function:?} makes tables")));
        }
        py.import("doushouqi._core")?.getattr(function)?.call((), Some(arguments))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_arguments), text_signature = "($self, *arguments)")]
    fn __exit__(&self, _arguments: &Bound<'_, PyAny>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        match self.source() {
            Ok(source) => format!("<Tables of up to {} pieces>", source.classes().pieces()),
            Err(_) => "<Tables, closed>".to_owned(),
        }
    }
}

/// The tables that count the material of a position on demand, if they lack it and it has one piece more.
fn on_demand<'a>(source: &'a Source, position: &Position) -> Option<&'a TableProber> {
    let Source::Files(prober) = source else { return None };
    matches!(prober.counter()?.class(position), Ok(Some(_))).then_some(prober)
}

/// The name of a phase of a count.
fn phase_name(phase: CountPhase) -> &'static str {
    match phase {
        CountPhase::Waiting => "waiting",
        CountPhase::Reading => "reading",
        CountPhase::Conversions => "conversions",
        CountPhase::Passes => "passes",
        CountPhase::Writing => "writing",
    }
}

/// Runs work that may count, until Ctrl-C.
fn counted<T: Send>(py: Python<'_>, work: impl FnOnce(Follow<'_>) -> Result<T, OnDemandError> + Send) -> PyResult<T> {
    let result = parallel(py, |stop| {
        let follow = |_| match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        work(&follow)
    });
    result?.map_err(errors::on_demand)
}

/// The values of a material by side to move and squares.
fn dense(source: &Source, material: Material, len: usize) -> PyResult<(Vec<i8>, Vec<i16>)> {
    let (mut wdl, mut dtw) = (memory::reserved(len)?, memory::reserved(len)?);
    wdl.resize(len, UNKNOWN);
    dtw.resize(len, NO_DISTANCE);
    let rules = source.rules();
    source.each(material, |turn, table| {
        let Ok(()) = table.each(turn, |squares, value| {
            let at = squares.iter().fold(turn as usize, |at, square| at * Square::COUNT + square.index());
            (wdl[at], dtw[at]) = numbers(Some(Value::of(value, rules)));
            Ok::<(), Infallible>(())
        });
    })?;
    Ok((wdl, dtw))
}

/// The arguments of `open_tables`.
#[derive(Clone)]
struct Opening {
    /// Absolute, as is the cache: the working directory may change.
    directory: PathBuf,
    rules: Option<RuleOptions>,
    cache: Option<PathBuf>,
    cache_bytes: u64,
    memory: Option<usize>,
    in_memory: usize,
}

impl Opening {
    fn keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Opening { directory, rules, cache, cache_bytes, memory, in_memory } = self;
        let keywords = PyDict::new(py);
        keywords.set_item("directory", directory)?;
        keywords.set_item("rules", rules.map(|rules| rules.to_string()))?;
        keywords.set_item("on_demand", cache.is_some())?;
        keywords.set_item("cache", cache)?;
        keywords.set_item("cache_bytes", cache_bytes)?;
        keywords.set_item("memory", memory)?;
        keywords.set_item("in_memory", in_memory)?;
        Ok(keywords)
    }

    fn prober(&self, py: Python<'_>) -> PyResult<TableProber> {
        memory::need(OPENING_BYTES)?;
        let (directory, rules) = (self.directory.clone(), self.rules);
        let open = move || TableSet::open(&directory)?.prober(rules.as_ref());
        abandonable(py, open)?.map_err(errors::tables)
    }

    fn open(&self, py: Python<'_>) -> PyResult<Source> {
        let prober = self.prober(py)?;
        let most = prober.set().classes().pieces();
        if self.in_memory > most {
            return Err(PyValueError::new_err(format!(
                "in_memory is 0 to {most} for these tables, not {}",
                self.in_memory
            )));
        }
        if self.in_memory > 0 {
            let classes = prober.set().ids().map(|id| prober.set().classes().get(id));
            check_memory(classes.filter(|class| class.representative.len() <= self.in_memory))?;
            let loaded = parallel(py, |stop| Loaded::read(prober, self.in_memory, stop))??;
            return Ok(Source::Loaded(Box::new(loaded)));
        }
        self.with_prober(prober)
    }

    fn with_prober(&self, prober: TableProber) -> PyResult<Source> {
        let prober = match &self.cache {
            Some(cache) => {
                let cache = CountCache { dir: cache.clone(), size: self.cache_bytes, memory: self.memory };
                prober.on_demand(&cache).map_err(errors::on_demand)?
            }
            None => prober,
        };
        Ok(Source::Files(Box::new(prober)))
    }

    /// The same source with files that no other thread has locked.
    fn again(&self, py: Python<'_>, source: &Source) -> PyResult<Source> {
        let prober = self.prober(py)?;
        match source {
            Source::Loaded(loaded) => Ok(Source::Loaded(Box::new(loaded.with_prober(prober)))),
            _ => self.with_prober(prober),
        }
    }
}

/// A path of directories as the engine takes it, whose meaning does not change with the working directory.
///
/// # Errors
/// TablesError for an address.
pub(crate) fn directories(path: PathBuf) -> PyResult<PathBuf> {
    if path.to_str().is_some_and(|text| text.starts_with("http://") || text.starts_with("https://")) {
        let what = format!("{} is an address: download the tables, and open their directory", path.display());
        return Err(TablesError::new_err(what));
    }
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if path.is_dir() {
        return Ok(absolute(&path));
    }
    let parts = std::env::split_paths(&path).filter(|part| !part.as_os_str().is_empty()).map(|part| absolute(&part));
    Ok(std::env::join_paths(parts).map_or(path, PathBuf::from))
}

/// Opens a directory of tables that `generate` or `dsq generate` made. Raises TablesError if it is for other `rules`.
///
/// With `on_demand`, `probe`, `moves` and `line` also answer positions with one piece more, by a short search or by
/// counting the material. Counted materials stay in the directory `cache` of up to `cache_bytes` bytes, which programs
/// may share. A count uses up to `memory` bytes, by default the available memory.
///
/// `in_memory` is a number of pieces: the tables of up to so many pieces are read at once and stay in memory, 40 MB for
/// three pieces, 2.3 GB for four. Raises MemoryError if the limit of the process is lower.
#[pyfunction]
// 40 GiB, as a number that the signature in Python shows.
#[pyo3(signature = (directory, *, rules = None, on_demand = false, cache = None, cache_bytes = 42949672960, memory = None, in_memory = 0))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn open_tables(
    py: Python<'_>,
    directory: PathBuf,
    rules: Option<RulesArgument>,
    on_demand: bool,
    cache: Option<PathBuf>,
    #[pyo3(from_py_with = whole)] cache_bytes: u64,
    #[pyo3(from_py_with = whole)] memory: Option<usize>,
    #[pyo3(from_py_with = whole)] in_memory: usize,
) -> PyResult<PyTables> {
    if on_demand && in_memory > 0 {
        return Err(PyValueError::new_err("either on_demand or in_memory"));
    }
    if on_demand != cache.is_some() {
        return Err(PyValueError::new_err("on_demand needs a directory for the cache, and a cache needs on_demand"));
    }
    let directory = directories(directory)?;
    let (cache, rules) = (cache.map(directories).transpose()?, rules.map(|rules| rules.0));
    let opening = Opening { directory, rules, cache, cache_bytes, memory, in_memory };
    Ok(PyTables::of(opening.open(py)?, MadeBy::Open(opening)))
}

/// Raises MemoryError if the tables of these classes are larger than the memory of the process may be.
pub(crate) fn check_memory<'a>(classes: impl Iterator<Item = &'a Class>) -> PyResult<()> {
    // A byte for each cell, for both sides to move.
    let bytes: u64 = classes.map(|class| 2 * class.index().cells() as u64).sum();
    match memory_limit().filter(|&limit| bytes > limit) {
        Some(limit) => {
            Err(PyMemoryError::new_err(format!("the tables need {bytes} bytes of memory; the limit is {limit}")))
        }
        None => memory::need(bytes as usize),
    }
}

/// The materials to solve: all of up to some pieces, or one material.
enum Wanted {
    Pieces(usize),
    Material(Material),
}

impl Wanted {
    fn extract(object: &Bound<'_, PyAny>) -> PyResult<Wanted> {
        if let Ok(text) = object.extract::<String>() {
            let material = arguments::material(&text)?;
            let pieces = material.len();
            if pieces > SOLVED_PIECES {
                let what = format!("{material} has {pieces} pieces; at most {SOLVED_PIECES} are solved in memory");
                return Err(PyValueError::new_err(what));
            }
            return Ok(Wanted::Material(material));
        }
        let wrong = |_| PyTypeError::new_err("solve takes a material such as 'EvL', or a number of pieces");
        let pieces: i64 = object.extract().map_err(wrong)?;
        match usize::try_from(pieces) {
            Ok(pieces @ 2..=DENSE_PIECES) => Ok(Wanted::Pieces(pieces)),
            _ => Err(PyValueError::new_err(format!("2 to {DENSE_PIECES} pieces are solved in memory, not {pieces}"))),
        }
    }
}

/// Solves a material such as 'EvL' of up to five pieces with all materials that it leads to, or all materials of up to
/// 2, 3 or 4 pieces, in memory.
#[pyfunction]
#[pyo3(
    signature = (material, *, rules = RulesArgument::default()),
    text_signature = "(material, *, rules='paper')"
)]
pub(crate) fn solve(py: Python<'_>, material: &Bound<'_, PyAny>, rules: RulesArgument) -> PyResult<PyTables> {
    let wanted = Wanted::extract(material)?;
    memory::need(OPENING_BYTES)?;
    let pieces = match wanted {
        Wanted::Pieces(pieces) => pieces,
        Wanted::Material(material) => material.len(),
    };
    let mut solver = py.detach(|| Solver::new(&rules.0, pieces, Options::default()));
    let levels: Vec<Vec<ClassId>> = match wanted {
        Wanted::Pieces(pieces) => (2..=pieces).map(|n| solver.classes().level(n).map(|(id, _)| id).collect()).collect(),
        Wanted::Material(material) => {
            let member = solver.classes().member(material);
            member.map_or_else(Vec::new, |member| solver.classes().needed_for(member.class))
        }
    };
    check_memory(levels.iter().flatten().map(|&id| solver.classes().get(id)))?;
    let solver = parallel(py, |stop| {
        let check = |_, _: &Solved| if stop.load(Ordering::Relaxed) { Err(SolveError::Stopped) } else { Ok(()) };
        levels.iter().try_for_each(|level| solver.solve_classes(level, true, true, &check)).map(|()| solver)
    });
    let source = Source::Memory(Box::new(solver?.map_err(errors::solve)?));
    Ok(PyTables::of(source, MadeBy::Solve(material.clone().unbind(), rules.0)))
}

/// Writes the tables of a material, or of all materials of up to 2, 3 or 4 pieces, into a directory. With `limit` they
/// know the no-capture limit of so many plies, 1 to 1000, and are opened by `open_limited`.
#[pyfunction]
#[pyo3(
    signature = (directory, material, *, rules = RulesArgument::default(), limit = None),
    text_signature = "(directory, material, *, rules='paper', limit=None)"
)]
pub(crate) fn generate(
    py: Python<'_>,
    directory: PathBuf,
    material: &Bound<'_, PyAny>,
    rules: RulesArgument,
    #[pyo3(from_py_with = whole)] limit: Option<u32>,
) -> PyResult<()> {
    let most = RuleOptions::MAX_NO_CAPTURE_LIMIT;
    let limit = match limit.map(u16::try_from) {
        None => None,
        Some(Ok(limit)) if (1..=most).contains(&limit) => Some(limit),
        Some(_) => return Err(PyValueError::new_err(format!("the limit is 1 to {most} plies"))),
    };
    let rules = rules.0.within(limit);
    let wanted = Wanted::extract(material)?;
    let directory = directories(directory)?;
    memory::need(OPENING_BYTES)?;
    let made = parallel(py, |stop| {
        let all = Generate { stop: Some(stop), ..Generate::new(&directory, rules) };
        let job = match wanted {
            Wanted::Pieces(pieces) => Generate { pieces, ..all },
            Wanted::Material(material) => Generate { material: Some(material), ..all },
        };
        job.run(&mut Solver::new(&rules, job.most_pieces(), Options::default()), &|_| ())
    });
    made?.map_err(errors::tables)
}

/// All materials of `pieces` pieces.
#[pyfunction]
pub(crate) fn materials(#[pyo3(from_py_with = whole)] pieces: usize) -> PyResult<Vec<String>> {
    if !(2..=16).contains(&pieces) {
        return Err(PyValueError::new_err(format!("a material has 2 to 16 pieces, not {pieces}")));
    }
    Ok(Material::all(pieces).iter().map(Material::to_string).collect())
}
