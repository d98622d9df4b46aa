//! Files of version 2, as programs before version 5 wrote them: all rows of the index, in another order of the pieces.

use super::codec::compress;
use super::description::{Description, Sides, hex};
use super::file::{Content, TableFile};
use super::manifest::write_manifest;
use super::set::TableSet;
use super::table_error::ALL_ROWS_VERSION;
use super::write::write_blocks;
use crate::board::{ByColor, Color, Position, RuleOptions};
use crate::tablebase::layout::{Layout, block_bytes, checksum_codes};
use crate::tablebase::order::candidates;
use crate::tablebase::reorder::Reorder;
use crate::tablebase::{
    CellValue, Cells, ClassId, Generate, Index, Material, Options, Prover, ROW_CELLS, Scope, Solver, repack, verify,
};
use std::path::Path;

const RULES: RuleOptions = RuleOptions::PAPER;
/// Rows of a block.
const BLOCK_ROWS: usize = 27;

/// Writes the file of a solved class as version 2.
fn write_version_2(dir: &Path, solver: &Solver, id: ClassId) {
    let (class, table, stats) =
        (solver.classes().get(id), solver.table(id).unwrap(), solver.class_stats(id).unwrap().clone());
    let index = class.index();
    let own = Index::of(candidates(class.representative).next().unwrap()).unwrap();
    let there = Reorder::new(&own, &index);
    let layout = Layout::new(&own);
    let sides = ByColor::from_fn(|color| match &there {
        Some(there) => there.copied(table.cells[color].view()),
        None => table.cells[color].clone(),
    });
    let mut blocks = Vec::new();
    for color in Color::ALL {
        for first in (0..own.rows).step_by(BLOCK_ROWS) {
            let rows = first..(first + BLOCK_ROWS).min(own.rows);
            let (mut codes, mut words) = (Cells::empty(1, 0), Vec::new());
            layout.gather_rows(sides[color].view(), rows, &mut codes);
            checksum_codes(codes.view(), &mut words);
            blocks.push(compress(block_bytes(&mut codes, &words), 1).unwrap());
        }
    }
    let deepest = |color: Color| {
        let longest = stats[color].by_plies.iter().rposition(|&n| n > 0)? as u16;
        (0..sides[color].len()).find(|&cell| sides[color].get(cell) == CellValue::Decided(longest).code())
    };
    let description = Description {
        rules: RULES.table_spelling(),
        rules_hash: hex(RULES.table_hash()),
        material: class.representative.to_string(),
        pieces: own.pieces.iter().map(|piece| piece.letter()).collect(),
        rows: own.rows,
        canonical_rows: None,
        interchangeable: Vec::new(),
        sides: Sides::Both,
        block_rows: BLOCK_ROWS,
        cell_bytes: 1,
        dictionary: 0,
        dont_cares: false,
        content: Content::Dtw,
        codec: "zstd level 1".to_owned(),
        row_sums: false,
        values: ByColor::from_fn(|color| hex(layout.checksum(sides[color].view()))),
        deepest: ByColor::from_fn(deepest),
        stats: stats.clone(),
    };
    write_blocks(&TableFile::path(dir, class.representative), ALL_ROWS_VERSION, &description, &blocks).unwrap();
}

/// Tables with a file of version 2 among files of version 5 have the same values, for every reader.
#[test]
fn files_of_version_2_have_the_same_values() {
    // The piece order of the first class has changed since version 2, that of the second has not.
    for (name, has_changed) in [("EvPDW", true), ("LRvTR", false)] {
        let dir = tempfile::tempdir().unwrap();
        let material: Material = name.parse().unwrap();
        let job = Generate { material: Some(material), ..Generate::new(dir.path(), RULES) };
        job.run(&mut Solver::new(&RULES, 4, Options::default()), &|_| {}).unwrap();
        let solver = Solver::solved_material(&RULES, material).unwrap();
        let id = solver.classes().member(material).unwrap().class;
        let table = solver.table(id).unwrap();
        let longest = TableSet::open(dir.path()).unwrap().prober(&RULES).unwrap().deepest(4).unwrap().unwrap().1;
        write_version_2(dir.path(), &solver, id);
        write_manifest(dir.path(), &RULES, Some(solver.classes()), &[]).unwrap();

        let set = TableSet::open(dir.path()).unwrap();
        let file = set.file(id).unwrap();
        assert_eq!(file.own_index().pieces != file.index().pieces, has_changed, "{name}");
        assert!(file.load_table().unwrap() == *table && set.table(id).unwrap() == *table, "{name}");
        let index = file.index();
        let positions: Vec<(Position, CellValue)> = (0..index.cells())
            .step_by(ROW_CELLS / 7)
            .filter_map(|cell| {
                let position = index.position(cell, Color::ALL[cell % 2])?;
                Some((position, CellValue::from_code(table.cells[Color::ALL[cell % 2]].get(cell))?))
            })
            .collect();
        assert!(positions.len() > 1000);
        let check = |set: &TableSet| {
            for (position, value) in &positions {
                assert_eq!(set.look_up(position, None).unwrap(), Some(*value), "{name} {}", position.to_fen());
            }
        };
        check(&set);
        for scope in [Scope::Sample { cells: 500, seed: 1 }, Scope::Full] {
            assert!(verify(&set, id, scope).unwrap().is_ok(), "{name}");
        }
        assert!(Prover::new(&set, 8 << 30).prove(id).unwrap().is_ok(), "{name}");
        drop(set);
        let prober = TableSet::open(dir.path()).unwrap().prober(&RULES).unwrap();
        let (deepest, plies) = prober.deepest(4).unwrap().unwrap();
        assert_eq!(
            (plies, prober.cell_value(&deepest).unwrap()),
            (longest, Some(CellValue::Decided(longest))),
            "{name}"
        );

        repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
        let packed = TableSet::open(dir.path()).unwrap();
        check(&packed);
        assert!(packed.table(id).unwrap() == *table, "{name}");
        assert!(Prover::new(&packed, 8 << 30).prove(id).unwrap().is_ok(), "{name}");
    }
}
