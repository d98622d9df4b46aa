use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{Content, TableError};
use crate::tablebase::store::lock::lock;
use crate::tablebase::store::manifest::write_manifest;
use crate::tablebase::store::pack::is_packed;
use crate::tablebase::store::partial::{ABANDONED, sweep};
use crate::tablebase::store::proof::Form;
use crate::tablebase::store::set::TableSet;
use crate::tablebase::{ClassId, Prover, TableFile};
use std::fs;
use std::path::Path;

/// Recompresses the tables of a directory to smaller files, for probing and publishing: they store one side to move, and
/// no value that follows from a capture or den entry. Each file is replaced when its successor is complete; files that
/// are already repacked stay as they are. `memory` limits the values of a class and of the classes that its captures lead
/// to, in bytes. Calls `done` after each file with its size in bytes before and after.
///
/// # Errors
/// If another run writes to the directory, a table is damaged or cannot be written, a table that captures lead to is
/// missing, or the memory limit is too low.
pub fn repack(dir: &Path, memory: usize, done: &(dyn Fn(u64, u64) + Sync)) -> Result<(), SetError> {
    let _lock = lock(dir)?;
    sweep(dir, ABANDONED)?;
    repack_to(&TableSet::open(dir)?, dir, Content::Dtw, memory, done)
}

/// Writes tables of results (win, draw or loss) without distances to the directory `out`, from tables with distances in
/// `dir`. Complete files in `out` stay as they are. `memory` and `done` are as for [`repack`].
///
/// # Errors
/// As [`repack`], and if `out` contains tables with distances or for other rules.
pub fn write_wdl(dir: &Path, out: &Path, memory: usize, done: &(dyn Fn(u64, u64) + Sync)) -> Result<(), SetError> {
    let set = TableSet::open(dir)?;
    set.check_metric()?;
    // `out` may be `dir`, which must stay as it is.
    set.ids().try_for_each(|id| written(&set, id, out, Content::Wdl).map(|_| ()))?;
    fs::create_dir_all(out).map_err(TableError::io(out))?;
    let _lock = lock(out)?;
    sweep(out, ABANDONED)?;
    repack_to(&set, out, Content::Wdl, memory, done)
}

fn repack_to(
    set: &TableSet,
    out: &Path,
    content: Content,
    memory: usize,
    done: &(dyn Fn(u64, u64) + Sync),
) -> Result<(), SetError> {
    let rules = set.rules().options();
    let mut prover = Prover::new(set, memory);
    let mut ids: Vec<ClassId> = set.ids().collect();
    // Classes that captures lead to come first, so that their values are still in memory.
    ids.sort();
    for id in ids {
        let before = set.file(id)?.file_len();
        let material = set.classes().get(id).representative;
        let path = TableFile::path(out, material);
        if !written(set, id, out, content)?.is_some_and(|file| is_packed(&file, content)) {
            prover.rewrite(id, Form::Packed(content), &path)?;
        }
        let after = fs::metadata(&path).map_err(TableError::io(&path))?.len();
        done(before, after);
    }
    let counted = if content == Content::Dtw { &set.manifest().counted[..] } else { &[] };
    write_manifest(out, rules, Some(set.classes()), counted)
}

/// The table of a class in `out`, if it exists.
///
/// # Errors
/// If it is damaged, or stores another kind of values than `content`.
fn written(set: &TableSet, id: ClassId, out: &Path, content: Content) -> Result<Option<TableFile>, SetError> {
    let material = set.classes().get(id).representative;
    let path = TableFile::path(out, material);
    if !path.exists() {
        return Ok(None);
    }
    let file = TableFile::open(&path, set.rules().options(), material)?;
    if file.description().content == content {
        return Ok(Some(file));
    }
    Err(match content {
        Content::Wdl => SetError::StoresDistances { path },
        Content::Dtw => TableError::WdlOnly { path }.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Position, RuleOptions};
    use crate::tablebase::{CellValue, Generate, Material, Options, ProbeWdl, Scope, Solver, Value, verify};
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;
    use std::ffi::OsString;
    use std::sync::LazyLock;
    use tempfile::TempDir;

    const RULES: RuleOptions = RuleOptions::PAPER;

    /// The files of the tables of `EvLTP`, the smallest kind of class with a dictionary, and of its captures.
    static FILES: LazyLock<Vec<(OsString, Vec<u8>)>> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        let job = Generate { material: Some(material()), ..Generate::new(dir.path(), RULES) };
        job.run(&mut Solver::new(&RULES, 4, Options::default()), &|_| {}).unwrap();
        let files = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap());
        files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect()
    });

    /// These tables in a directory of their own.
    fn tables() -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        FILES.iter().for_each(|(name, bytes)| fs::write(dir.path().join(name), bytes).unwrap());
        dir
    }

    fn material() -> Material {
        "EvLTP".parse().unwrap()
    }

    fn positions(seed: u64, count: usize) -> Vec<Position> {
        let mut random = Pcg64::seed_from_u64(seed);
        let index = crate::tablebase::Index::new(material(), &RULES).unwrap();
        let turns = crate::board::Color::ALL;
        let mut position =
            || index.position(random.next_u64() as usize % index.cells(), turns[random.next_u64() as usize % 2]);
        std::iter::from_fn(|| Some(position())).flatten().filter(|p| p.winner().is_none()).take(count).collect()
    }

    fn open(dir: &Path) -> Result<TableFile, TableError> {
        TableFile::open(&TableFile::path(dir, material()), &RULES, material())
    }

    /// Probes, whole tables, the proof and the plain verifier agree with the tables before.
    #[test]
    fn repacked_tables_have_the_same_values() {
        let (dir, results) = (tables(), tempfile::tempdir().unwrap());
        let positions = positions(5, 3000);
        let exact = TableSet::open(dir.path()).unwrap();
        let id = exact.classes().member(material()).unwrap().class;
        let values: Vec<CellValue> =
            positions.iter().map(|position| exact.look_up(position, None).unwrap().unwrap()).collect();
        let table = exact.table(id).unwrap();
        write_wdl(dir.path(), results.path(), 8 << 30, &|_, _| {}).unwrap();
        repack(dir.path(), 8 << 30, &|before, after| assert!(after < before)).unwrap();
        let file = open(dir.path()).unwrap();
        assert!(file.description().dictionary > 0 && is_packed(&file, Content::Dtw));
        let packed = TableSet::open(dir.path()).unwrap();
        for (position, &value) in positions.iter().zip(&values) {
            assert_eq!(packed.look_up(position, None).unwrap(), Some(value), "{}", position.to_fen());
        }
        assert!(packed.table(id).unwrap() == table);
        assert_eq!(Prover::new(&packed, 8 << 30).prove(id).unwrap().unwrap().values, packed_values(&table, &file));
        assert!(verify(&packed, id, Scope::Sample { cells: 2000, seed: 1 }).unwrap().is_ok());

        let wdl = TableSet::open(results.path()).unwrap();
        assert!(verify(&wdl, id, Scope::Checksums).unwrap().is_ok());
        let refused = [wdl.table(id).err(), Prover::new(&wdl, 8 << 30).prove(id).err()];
        for error in refused {
            assert!(matches!(error, Some(SetError::Table(TableError::WdlOnly { .. }))), "{error:?}");
        }
        let prober = TableSet::open(results.path()).unwrap().prober(&RULES);
        assert!(matches!(prober.err(), Some(SetError::Table(TableError::WdlOnly { .. }))));
        let wdl = wdl.wdl_prober(&RULES).unwrap();
        for (position, &value) in positions.iter().zip(&values) {
            let result = Value::of(value, wdl.set().rules()).wdl;
            assert_eq!(wdl.wdl(position).unwrap(), Some(result), "{}", position.to_fen());
        }
        // Tables of results have the same bytes, whether they are made from new or from repacked tables.
        let again = tempfile::tempdir().unwrap();
        write_wdl(dir.path(), again.path(), 8 << 30, &|_, _| {}).unwrap();
        for name in [results.path(), again.path()].map(|dir| TableFile::path(dir, material())) {
            assert!(fs::read(name).unwrap() == fs::read(TableFile::path(results.path(), material())).unwrap());
        }
        // Neither kind replaces the other.
        fs::remove_file(dir.path().join("lock")).unwrap();
        let same = write_wdl(dir.path(), dir.path(), 8 << 30, &|_, _| {});
        assert!(matches!(same, Err(SetError::StoresDistances { .. })), "{same:?}");
        assert!(!dir.path().join("lock").exists(), "nothing is written");
        assert!(repack(results.path(), 8 << 30, &|_, _| {}).is_err());
        fs::copy(TableFile::path(dir.path(), material()), TableFile::path(results.path(), material())).unwrap();
        let mixed = TableSet::open(results.path()).unwrap();
        let error = mixed.look_up(&positions[0], None).unwrap_err();
        assert!(matches!(&error, SetError::MixedKinds { path } if path.ends_with("EvLTP.dsq")), "{error}");
    }

    /// Restoring undoes repacking: the file as it was, with the checksums of every row.
    #[test]
    fn restored_tables_are_the_same_files() {
        let (dir, restored) = (tables(), tempfile::tempdir().unwrap());
        repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
        let set = TableSet::open(dir.path()).unwrap();
        let mut prover = Prover::new(&set, 8 << 30);
        for id in set.ids() {
            let name = set.classes().get(id).representative;
            let path = TableFile::path(restored.path(), name);
            prover.rewrite(id, Form::Exact, &path).unwrap();
            let (_, before) =
                FILES.iter().find(|(file, _)| Some(file.as_os_str()) == path.file_name()).expect("its file");
            assert!(fs::read(&path).unwrap() == *before, "{name}");
        }
        let mut small = Prover::new(&set, 1 << 20);
        let id = set.classes().member(material()).unwrap().class;
        let error = small.rewrite(id, Form::Exact, &restored.path().join("none.dsq")).unwrap_err();
        assert!(matches!(error, SetError::ProofMemory { .. }) && !restored.path().join("none.dsq").exists());
    }

    /// Number of positions of the stored side.
    fn packed_values(table: &crate::tablebase::Table, file: &TableFile) -> u64 {
        let cells = &table.cells[file.description().sides.colors()[0]];
        (0..cells.len()).filter(|&cell| cells.get(cell) != 0).count() as u64
    }

    #[test]
    fn a_missing_capture_is_named() {
        let dir = tables();
        repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
        fs::remove_file(TableFile::path(dir.path(), "EvLT".parse().unwrap())).unwrap();
        let set = TableSet::open(dir.path()).unwrap();
        let (mut right, mut missing) = (0, 0);
        for position in positions(6, 500) {
            match set.look_up(&position, None) {
                Ok(_) => right += 1,
                Err(SetError::Missing { material, .. }) => {
                    assert_eq!(material.to_string(), "EvLT");
                    missing += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(right > 50 && missing > 0, "{right} {missing}");
    }

    /// Every flipped bit and every cut is found, or does not change an answer.
    #[test]
    fn damage_is_found() {
        let dir = tables();
        repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
        let path = TableFile::path(dir.path(), material());
        let whole = fs::read(&path).unwrap();
        let positions = positions(7, 40);
        let probe = || -> Result<Vec<Option<CellValue>>, SetError> {
            let set = TableSet::open(dir.path())?;
            positions.iter().map(|position| set.look_up(position, None)).collect()
        };
        let right = probe().unwrap();
        let mut random = Pcg64::seed_from_u64(8);
        let mut answered = 0;
        // The dictionary is the first block, after the header.
        let head = open(dir.path()).unwrap().description().dictionary / 100;
        for i in 0..200 {
            let mut bytes = whole.clone();
            let at = random.next_u64() as usize % if i < 50 { head } else { whole.len() };
            bytes[at] ^= 1 << (random.next_u64() % 8);
            fs::write(&path, &bytes).unwrap();
            assert!(open(dir.path()).and_then(|file| file.check()).is_err(), "byte {at}");
            match probe() {
                Ok(values) => {
                    assert!(values == right, "byte {at}");
                    answered += 1;
                }
                Err(error) => assert!(error.to_string().contains("EvLTP.dsq"), "{error}"),
            }
            fs::write(&path, &whole[..at]).unwrap();
            assert!(open(dir.path()).is_err(), "cut at {at}");
        }
        assert!(answered > 0);
        // Versions that are not read, and a file of version 6 that claims features of version 7.
        let words = [
            (255, "version 255; this program reads versions 6 and 7: update it, or if it is up to date"),
            (1, "version 1; this program reads versions 6 and 7: delete the table and generate it again"),
            (6, "does not fit"),
        ];
        for (version, word) in words {
            let mut bytes = whole.clone();
            bytes[8] = version;
            let end = whole.len() - 8;
            let file = open_bytes(&path, &bytes, end);
            assert!(file.unwrap_err().to_string().contains(word), "{word}");
        }
        let other: RuleOptions = "chinese".parse().unwrap();
        fs::write(&path, &whole).unwrap();
        assert!(matches!(TableFile::open(&path, &other, material()).err(), Some(TableError::Rules { .. })));
    }

    /// Writes a file with right checksums of its header and of the whole file, and opens it.
    fn open_bytes(path: &Path, bytes: &[u8], end: usize) -> Result<(), TableError> {
        let mut bytes = bytes.to_vec();
        let number = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let head = 24 + number(&bytes, 12);
        let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..head]).to_le_bytes();
        bytes[head..head + 8].copy_from_slice(&sum);
        let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&sum);
        fs::write(path, &bytes).unwrap();
        TableFile::open(path, &RULES, material()).map(|_| ())
    }
}
