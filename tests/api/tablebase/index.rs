//! The cells of an index, and the codes of values.

use super::{material, random_board};
use crate::slow::SQUARES;
use doushouqi::board::{Animal, Color, File, Piece, RuleOptions, Square};
use doushouqi::tablebase::{CellValue, Cells, Index, Material, ROW_CELLS, squares_in_play};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_pcg::Pcg64;
use std::collections::{BTreeSet, HashSet};

fn index(material: Material) -> Index {
    Index::new(material, &RuleOptions::PAPER).expect("few pieces")
}

#[test]
fn cells_and_squares_go_round() {
    for name in ["LvT", "EvL", "RvE", "RvR", "LRvR", "ERvR", "TvER", "RvLE", "ERvL", "EvLT", "CvDW"] {
        let index = index(material(name));
        let n = index.pieces.len();
        assert_eq!(index.pieces.iter().copied().collect::<HashSet<_>>(), material(name).pieces().collect());
        assert_eq!((index.word_piece(), index.lane_piece()), (index.pieces[n - 2], index.pieces[n - 1]));
        assert_eq!(index.row_pieces.len(), n - 2);
        assert_eq!(index.is_mirrored(), n > 2);
        let mut positions = 0;
        for cell in 0..index.rows * ROW_CELLS {
            let Some(squares) = index.squares(cell) else { continue };
            assert_eq!(index.cell(&squares), cell, "{name}: {squares:?}");
            assert_eq!(index.row_squares(cell / ROW_CELLS).collect::<Vec<_>>(), squares[..n - 2]);
            assert_eq!(squares.iter().collect::<BTreeSet<_>>().len(), n, "no two on one square");
            positions += index.weight(cell / ROW_CELLS);
        }
        // Every placement is in one cell, and the weight of a cell is the number of its placements.
        let mut placements = 0;
        let mut hit = HashSet::new();
        for_placements(&index, &mut Vec::new(), &mut |squares| {
            placements += 1;
            let cell = index.cell(squares);
            let mirrored: Vec<Square> = squares.iter().map(|s| s.mirror()).collect();
            let there = index.squares(cell).expect("a position's cell");
            if n == 2 || squares[0].file() <= File::D {
                assert_eq!(there, squares, "{name}");
            } else {
                assert_eq!(there, mirrored, "{name}");
            }
            let one_cell = n > 2 && squares[0].file() != File::D;
            assert_eq!(index.cell(&mirrored) == cell, one_cell || mirrored == squares, "{name}: {squares:?}");
            hit.insert(cell);
        });
        assert_eq!((positions, material(name).positions()), (placements, placements), "{name}");
        assert_eq!(hit.len(), (0..index.rows * ROW_CELLS).filter(|&c| index.squares(c).is_some()).count(), "{name}");
    }
}

/// Cells beyond the last have no position, in a class of any size.
#[test]
fn there_is_no_position_beyond_the_last_cell() {
    for name in ["EvL", "RvR", "LRvT", "EPvPDR", "ELTPvPDR"] {
        let index = index(material(name));
        for cell in [0, 1, 65, ROW_CELLS + 1].map(|more| index.cells() + more).into_iter().chain([usize::MAX]) {
            assert_eq!(index.position(cell, Color::White), None, "{name}: {cell}");
        }
    }
}

/// Calls `f` with every way to put the pieces on different squares in play.
fn for_placements(index: &Index, squares: &mut Vec<Square>, f: &mut impl FnMut(&[Square])) {
    let Some(&piece) = index.pieces.get(squares.len()) else {
        f(squares);
        return;
    };
    for square in squares_in_play(piece) {
        if !squares.contains(&square) {
            squares.push(square);
            for_placements(index, squares, f);
            squares.pop();
        }
    }
}

/// Eight pieces have more rows than 32 bits can number.
#[test]
fn an_index_has_seven_pieces_at_most() {
    let new = |name| Index::new(material(name), &RuleOptions::PAPER);
    let seven = new("ELTPvDWC").expect("seven pieces have an index");
    assert_eq!((seven.rows, seven.cells()), (28 * 49usize.pow(4), 28 * 49usize.pow(4) * ROW_CELLS));
    assert!(new("ELTPvDWCR").is_none());
    assert!(new("ELTPDWCRvELTPDWCR").is_none());
}

#[test]
fn rats_are_in_their_places() {
    for pieces in 2..=5 {
        for material in Material::all(pieces) {
            let index = index(material);
            let rats = material.pieces().filter(|piece| piece.animal == Animal::Rat).count();
            let is_rat = |i: usize| index.pieces[i].animal == Animal::Rat;
            assert_eq!(is_rat(pieces - 1), rats > 0, "{material}");
            assert_eq!(is_rat(0), rats > 1, "{material}");
        }
    }
}

#[test]
fn squares_in_play_are_no_dens() {
    for color in Color::ALL {
        for animal in Animal::ALL {
            let squares = squares_in_play(Piece { color, animal });
            assert!(!squares.contains(Square::D1) && !squares.contains(Square::D9));
            assert_eq!(squares.into_iter().count(), if animal == Animal::Rat { 61 } else { 49 }, "{animal:?}");
        }
    }
}

#[test]
fn values_and_codes_go_round() {
    assert_eq!(CellValue::from_code(0), None);
    let mut seen = HashSet::new();
    for code in 1..=u16::MAX {
        let value = CellValue::from_code(code).expect("a value");
        assert_eq!(value.code(), code);
        assert!(seen.insert(value) || matches!(value, CellValue::Decided(0)));
    }
    assert_eq!(CellValue::Draw.code(), 1);
    assert_eq!(CellValue::NoMove.code(), 2);
    assert_eq!(CellValue::Decided(1).code(), 3);
    assert_eq!(CellValue::Decided(Cells::BYTE_PLIES).code(), u16::from(u8::MAX));
    let texts =
        [CellValue::Draw, CellValue::NoMove, CellValue::Decided(7), CellValue::Decided(8)].map(|v| v.to_string());
    assert_eq!(texts, ["draw", "no legal move", "win in 7 plies", "loss in 8 plies"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn cells_of_any_material_go_round(pieces in 2..=5usize, n in any::<prop::sample::Index>(), seed in any::<u64>()) {
        let material = *n.get(&Material::all(pieces));
        let index = index(material);
        let board = random_board(&mut Pcg64::seed_from_u64(seed), material);
        let squares: Vec<Square> = index
            .pieces
            .iter()
            .map(|piece| {
                let here = |&s: &usize| board[s] == Some((piece.color, piece.animal));
                (0..SQUARES).find(here).and_then(Square::new).expect("on the board")
            })
            .collect();
        let cell = index.cell(&squares);
        prop_assert!(cell < index.rows * ROW_CELLS);
        let there = index.squares(cell).expect("a position's cell");
        let mirrored: Vec<Square> = squares.iter().map(|s| s.mirror()).collect();
        prop_assert!(there == squares || there == mirrored);
        prop_assert_eq!(index.cell(&there), cell);
    }
}
