//! Compares the sweep with the plain verifier, and checks that it finds every kind of wrong value.

use super::*;
use crate::board::{Position, RuleOptions};
use crate::tablebase::solve::observer::Unobserved;
use crate::tablebase::solve::values::lengthened;
use crate::tablebase::store::verify::{Scope, verify};
use crate::tablebase::store::write::ClassBlocks;
use crate::tablebase::{Generate, Material, Options, Solver, repack};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::path::Path;
use tempfile::TempDir;

fn generated(rules: &str, pieces: usize) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    generate(dir.path(), rules, pieces, None);
    dir
}

fn generate(dir: &Path, rules: &str, pieces: usize, material: Option<Material>) {
    let rules: RuleOptions = rules.parse().unwrap();
    let mut solver = Solver::new(&rules, pieces, Options::default());
    Generate { pieces, material, ..Generate::new(dir, rules) }.run(&mut solver, &|_| {}).unwrap();
}

/// The proof succeeds and compares as many values as the plain verifier.
fn agrees_with_the_plain_verifier(dir: &Path) {
    let set = TableSet::open(dir).unwrap();
    let mut prover = Prover::new(&set, 8 << 30);
    for id in set.ids() {
        let name = set.classes().get(id).representative;
        let proved = prover.prove(id).unwrap().unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        let compared = verify(&set, id, Scope::Full).unwrap().unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        assert_eq!(proved.values, compared, "{name}");
    }
}

const RULES: [&str; 6] = [
    "paper",
    "chinese",
    "paper,no-move=loss,own-rat-blocks=no",
    "bodlaender,tiger-leap=files",
    "quadibloc,traps=any",
    "panther-leap=ranks",
];

#[test]
fn agrees_with_the_plain_verifier_on_two_pieces_of_all_kinds_of_rules() {
    let single = RuleOptions::single_changes().map(|rules| rules.to_string());
    for rules in RULES.into_iter().map(str::to_owned).chain(single) {
        let dir = generated(&rules, 2);
        agrees_with_the_plain_verifier(dir.path());
        repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
        agrees_with_the_plain_verifier(dir.path());
    }
}

#[test]
fn agrees_with_the_plain_verifier_on_all_of_three_pieces() {
    let dir = generated("chinese", 3);
    agrees_with_the_plain_verifier(dir.path());
    repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
    let set = TableSet::open(dir.path()).unwrap();
    let mut prover = Prover::new(&set, 8 << 30);
    for id in set.ids() {
        prover.prove(id).unwrap().unwrap_or_else(|wrong| panic!("repacked: {wrong}"));
    }
}

/// Materials with rats and leapers as lane and row pieces of both sides, which do not occur with three pieces, and with
/// captures into mirrored classes.
#[test]
fn chosen_four_pieces_are_right() {
    for (rules, material) in RULES.into_iter().zip(["LRvTR", "TRvLR", "ERvLR", "LRvLT", "ELvTR", "PRvPR"]) {
        let dir = tempfile::tempdir().unwrap();
        generate(dir.path(), rules, 4, Some(material.parse().unwrap()));
        let set = TableSet::open(dir.path()).unwrap();
        let mut prover = Prover::new(&set, 8 << 30);
        for id in set.ids() {
            prover.prove(id).unwrap().unwrap_or_else(|wrong| panic!("{rules}: {wrong}"));
        }
    }
}

/// A set in memory with one changed value at a time.
struct TestSet<'a, C: Sweepable> {
    work: Work<'a, C>,
    planes: ByColor<Plane<C>>,
}

impl<'a, C: Width> TestSet<'a, C> {
    fn new(prover: &mut Prover<'a>, id: ClassId) -> TestSet<'a, C> {
        let Ok(work) = prover.work::<C>(id) else { panic!("the set is whole") };
        let Ok((planes, _)) = work.planes() else { panic!("the set is whole") };
        TestSet { work, planes }
    }

    fn is_found(&mut self, turn: Color, cell: usize, code: u16) -> bool {
        let whole = self.planes[turn].get(cell);
        self.planes[turn].rows_mut()[cell] = self.work.scale.score(code);
        let sweep = self.work.sweep(turn, &self.planes[!turn]);
        let mut expected = vec![C::ZERO; ROW_CELLS];
        let row = cell / ROW_CELLS;
        let found = self.work.compare_row(turn, &sweep, row, &self.planes[turn], &mut expected);
        drop(sweep);
        self.planes[turn].rows_mut()[cell] = whole;
        let place = self.work.file.index().position(cell, turn).unwrap();
        match found.as_deref() {
            Some(Contradiction::CellValue { position, computed, .. }) => {
                *position == place && computed.code() == self.work.scale.code(whole)
            }
            _ => false,
        }
    }

    fn codes(&self) -> u16 {
        let stats = &self.work.file.description().stats;
        Color::ALL.iter().map(|&turn| stats[turn].by_plies.len() as u16).max().unwrap() + 4
    }
}

/// Replaces each value of two pieces by the values next to it, and by a ninth of the others.
#[test]
fn wrong_values_of_two_pieces_are_found() {
    wrong_values_of_two_pieces(9);
}

#[test]
#[ignore = "half a million wrong values: half a minute"]
fn every_single_wrong_value_of_two_pieces_is_found() {
    wrong_values_of_two_pieces(1);
}

/// Replaces each value of two pieces by every `step`-th other value of the set, by the values next to it, by values that
/// no line reaches, and by no value.
fn wrong_values_of_two_pieces(step: usize) {
    for rules in ["paper", "paper,no-move=loss"] {
        let dir = generated(rules, 2);
        let set = TableSet::open(dir.path()).unwrap();
        let mut prover = Prover::new(&set, 8 << 30);
        let mut planted = 0u64;
        for id in set.ids() {
            let mut test_set = TestSet::<u8>::new(&mut prover, id);
            let codes: Vec<u16> = (0..test_set.codes()).chain([254, 255]).collect();
            for turn in Color::ALL {
                for cell in (0..ROW_CELLS).filter(|&cell| set.file(id).unwrap().index().position(cell, turn).is_some())
                {
                    let right = test_set.work.scale.code(test_set.planes[turn].get(cell));
                    let is_chosen = |code: u16| {
                        code >= 254 || code.abs_diff(right) <= 1 || (usize::from(code) + cell).is_multiple_of(step)
                    };
                    for &code in codes.iter().filter(|&&code| code != right && is_chosen(code)) {
                        assert!(
                            test_set.is_found(turn, cell, code),
                            "{id:?} {turn} cell {cell}: {right} became {code}"
                        );
                        planted += 1;
                    }
                }
            }
        }
        assert!(planted > 400_000 / step as u64, "{planted}");
    }
}

/// Random wrong values in classes of `pieces` pieces.
fn seeded_wrong_values_are_found(pieces: usize, count: u64) {
    let dir = generated("paper", pieces);
    let set = TableSet::open(dir.path()).unwrap();
    let mut prover = Prover::new(&set, 8 << 30);
    let mut random = Pcg64::seed_from_u64(18);
    let ids: Vec<ClassId> = set.classes().level(pieces).map(|(id, _)| id).collect();
    let each = count.div_ceil(ids.len() as u64);
    for &id in &ids {
        let mut test_set = TestSet::<u8>::new(&mut prover, id);
        let (index, codes) = (set.file(id).unwrap().index().clone(), test_set.codes());
        let mut planted = 0;
        while planted < each {
            let turn = Color::ALL[random.next_u64() as usize % 2];
            let cell = random.next_u64() as usize % (index.rows * ROW_CELLS);
            let code = (random.next_u64() % u64::from(codes)) as u16;
            let right = test_set.work.scale.code(test_set.planes[turn].get(cell));
            if right != 0 && right != code {
                assert!(test_set.is_found(turn, cell, code), "{id:?} {turn} cell {cell}: {right} became {code}");
                planted += 1;
            }
        }
    }
}

#[test]
fn wrong_values_of_three_pieces_are_found() {
    seeded_wrong_values_are_found(3, 2000);
}

#[test]
#[ignore = "ten thousand wrong values in four pieces: half a minute"]
fn wrong_values_of_four_pieces_are_found() {
    seeded_wrong_values_are_found(4, 10_000);
}

/// Two bytes for each cell: the same classes, read as if a line were too long for a byte.
#[test]
fn wide_cells_are_checked_alike() {
    let dir = generated("paper", 3);
    let set = TableSet::open(dir.path()).unwrap();
    let mut prover = Prover::new(&set, 8 << 30);
    let mut random = Pcg64::seed_from_u64(19);
    for id in set.ids().step_by(7) {
        let (narrow, wide) = match (prover.prove_as::<u8>(id), prover.prove_as::<u16>(id)) {
            (Ok(narrow), Ok(wide)) => (narrow, wide),
            _ => panic!("the set is whole"),
        };
        assert_eq!(narrow, wide);
        let mut test_set = TestSet::<u16>::new(&mut prover, id);
        let index = set.file(id).unwrap().index().clone();
        let mut planted = 0;
        while planted < 20 {
            let cell = random.next_u64() as usize % (index.rows * ROW_CELLS);
            let (right, code) = (test_set.work.scale.code(test_set.planes.black.get(cell)), random.next_u64() as u16);
            if right != 0 && right != code {
                assert!(test_set.is_found(Color::Black, cell, code), "{id:?} cell {cell}: {right} became {code}");
                planted += 1;
            }
        }
    }
}

/// A class that leads to a class with two bytes for each cell is compared in two bytes.
#[test]
fn one_wide_table_widens_those_above_it() {
    let dir = generated("paper", 3);
    let rules: RuleOptions = "paper".parse().unwrap();
    let material: Material = "EvL".parse().unwrap();
    let set = TableSet::open(dir.path()).unwrap();
    let wide_ids = |set: &TableSet| {
        let prover = Prover::new(set, 8 << 30);
        set.ids().filter(|&id| prover.is_wide(id).unwrap()).collect::<Vec<ClassId>>()
    };
    assert_eq!(wide_ids(&set), []);
    let solver = Solver::solved_material(&rules, material).unwrap();
    let id = solver.classes().member(material).unwrap().class;
    let (solved, class) = (lengthened(&solver, id), solver.classes().get(id));
    let path = TableFile::path(dir.path(), class.representative);
    let blocks = ClassBlocks::of(solved.values.as_ref().unwrap(), &solved.stats, &Unobserved).unwrap();
    blocks.write(&path, class, &rules, &solved.stats).unwrap();
    let set = TableSet::open(dir.path()).unwrap();
    let id = set.classes().member(material).unwrap().class;
    let above: Vec<ClassId> =
        set.ids().filter(|&other| other == id || set.classes().captures(other).contains(&id)).collect();
    assert!(above.len() > 1);
    assert_eq!(wide_ids(&set), above);
}

/// A class is rejected if it does not fit into memory with the classes that its captures lead to. Otherwise planes that
/// it does not need are dropped until it fits.
fn keeps_planes_that_fit<C: Width>(set: &TableSet) {
    let bytes = |id: ClassId| 2 * set.classes().get(id).index().cells() * C::BYTES;
    let needed = |id: ClassId| 2 * bytes(id) + set.classes().captures(id).into_iter().map(bytes).sum::<usize>();
    let largest = set.ids().max_by_key(|&id| needed(id)).unwrap();
    let two: Vec<ClassId> = set.classes().level(2).map(|(id, _)| id).collect();
    for (limit, keeps_all) in [(needed(largest), false), (8 << 30, true)] {
        let mut prover = Prover::new(set, 8 << 30);
        prover.limit = limit;
        for id in set.ids() {
            assert!(prover.prove_as::<C>(id).is_ok());
            let kept: usize = C::kept(&mut prover).keys().map(|&id| bytes(id)).sum();
            let own = if C::kept(&mut prover).contains_key(&id) { 0 } else { bytes(id) };
            assert!(kept + own <= limit, "{kept} and {own} bytes with {id:?}, {limit} allowed");
        }
        let kept = C::kept(&mut prover);
        assert!(kept.keys().all(|&id| set.classes().get(id).representative.len() < 3), "nothing asks for these again");
        assert_eq!(two.iter().all(|id| kept.contains_key(id)), keeps_all);
        prover.limit = needed(largest) - 1;
        match prover.prove_as::<C>(largest) {
            Err(Stop::Error(SetError::ProofMemory { material, .. })) => {
                assert_eq!(material, set.classes().get(largest).representative);
            }
            _ => panic!("a byte is missing"),
        }
    }
}

#[test]
fn memory_is_kept_to() {
    let dir = generated("paper", 3);
    let set = TableSet::open(dir.path()).unwrap();
    keeps_planes_that_fit::<u8>(&set);
    keeps_planes_that_fit::<u16>(&set);
}

/// If one reply wins in the longest distance that fits a byte and all other replies win in one ply, a position with
/// this reply that is not won in one ply has a longer loss.
#[test]
fn a_line_too_long_for_a_cell_is_named() {
    let dir = generated("paper", 3);
    let set = TableSet::open(dir.path()).unwrap();
    let mut prover = Prover::new(&set, 8 << 30);
    let mut random = Pcg64::seed_from_u64(20);
    let rules = Rules::new("paper".parse().unwrap());
    let mut named = [0, 0];
    let of_two = |id: &ClassId| set.classes().get(*id).representative.len() == 2;
    let (two, three): (Vec<_>, Vec<_>) = set.ids().partition(of_two);
    for id in two.into_iter().chain(three.into_iter().step_by(5)) {
        let TestSet { work, planes } = TestSet::<u8>::new(&mut prover, id);
        let index = work.file.index();
        for turn in Color::ALL {
            let played: Vec<usize> = (0..index.cells()).filter(|&cell| planes[!turn].get(cell) != 0).collect();
            for _ in 0..20 {
                let longest = played[random.next_u64() as usize % played.len()];
                let mut answers = Plane::<u8>::new(index.rows);
                played.iter().for_each(|&cell| answers.rows_mut()[cell] = work.scale.score(3));
                answers.rows_mut()[longest] = work.scale.score(255);
                let sweep = work.sweep(turn, &answers);
                let row = longest / ROW_CELLS;
                let found = work.compare_row(turn, &sweep, row, &planes[turn], &mut vec![0; ROW_CELLS]);
                let answer = index.position(longest, !turn).unwrap();
                let leads = |position: &Position| {
                    let after = |&mv| [&answer, &answer.mirror()].contains(&&position.make(mv));
                    position.moves(&rules).iter().any(after)
                };
                match found.as_deref() {
                    Some(Contradiction::CellValue { position, computed: CellValue::Decided(254), .. }) => {
                        assert!(leads(position), "{id:?} {turn}: {position:?} does not lead to {answer:?}");
                        named[usize::from(row > 0)] += 1;
                    }
                    found => {
                        assert!(!matches!(
                            found,
                            Some(Contradiction::CellValue { computed: CellValue::Decided(254), .. })
                        ))
                    }
                }
            }
        }
    }
    assert!(named.iter().all(|&n| n > 50), "{named:?}");
}

/// As above, for the longest distance that fits two bytes, which only a forged file can contain.
#[test]
fn a_line_too_long_for_two_bytes_is_named() {
    let dir = generated("paper", 2);
    let set = TableSet::open(dir.path()).unwrap();
    let id = set.classes().member("EvL".parse().unwrap()).unwrap().class;
    let TestSet { work, planes } = TestSet::<u16>::new(&mut Prover::new(&set, 8 << 30), id);
    let rows = work.file.index().rows;
    for turn in Color::ALL {
        let mut answers = Plane::<u16>::new(rows);
        let played = (0..rows * ROW_CELLS).filter(|&cell| planes[!turn].get(cell) != 0);
        played.for_each(|cell| answers.rows_mut()[cell] = work.scale.score(u16::MAX));
        let sweep = work.sweep(turn, &answers);
        let compare = |row| work.compare_row(turn, &sweep, row, &planes[turn], &mut vec![0; ROW_CELLS]);
        let found = (0..rows).find_map(compare);
        assert!(
            matches!(found.as_deref(), Some(Contradiction::CellValue { computed: CellValue::Decided(65534), .. })),
            "{found:?}"
        );
    }
}

/// Captures of seven pieces probe tables of six pieces, whose cell numbers exceed 32 bits.
#[test]
fn cells_of_six_pieces_are_numbered() {
    let index = Index::new("ELTvLTP".parse().unwrap(), &RuleOptions::PAPER).unwrap();
    let last = index.rows * ROW_CELLS - 1;
    assert!(last > u32::MAX as usize);
    for cell in (0..=last).rev().step_by(9_999_991).take(200) {
        let Some(position) = index.position(cell, Color::White) else { continue };
        let square = |&piece: &crate::board::Piece| position.square_of(piece.color, piece.animal).unwrap();
        let sum: usize = index.pieces.iter().enumerate().map(|(slot, piece)| add(&index, slot, square(piece))).sum();
        assert_eq!(sum, cell, "{}", position.to_fen());
    }
}
