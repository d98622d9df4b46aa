//! Values of larger materials against the values after one move.

use super::{check_by_one_move, class_of, material, rule_sets, rules, solved, value_by_one_move};
use crate::slow;
use doushouqi::board::{ByColor, Color};
use doushouqi::tablebase::{CellValue, Cells, Index, Material, Options, ROW_CELLS};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn four_piece_values_follow_from_one_move() {
    let mut random = Pcg64::seed_from_u64(4);
    let all = Material::all(4);
    for (i, options) in rule_sets().into_iter().enumerate() {
        let material = match i % 3 {
            0 => material("LRvTR"),
            1 => material("ERvLT"),
            _ => all[random.next_u64() as usize % all.len()],
        };
        let solver = solved(&options, material, Options::default());
        check_by_one_move(&solver, material, &options, random.next_u64(), 4_000);
    }
}

/// `./test five_piece_values -- --ignored`: about 1 GB of memory for each material.
#[test]
#[ignore = "takes two minutes"]
fn five_piece_values_follow_from_one_move() {
    for (text, name) in [("paper", "ELRvTR"), ("paper,own-rat-blocks=no", "TRvLCR"), ("chinese", "RvELTC")] {
        let (options, material) = (rules(text), material(name));
        let solver = solved(&options, material, Options::default());
        check_by_one_move(&solver, material, &options, 5, 300_000);
    }
}

/// `./test long_lines -- --ignored`: lines just below 253 plies, the maximum of a byte, and above. No material of four
/// pieces has such long lines under any of [`rule_sets`].
#[test]
#[ignore = "takes 3 GB of memory"]
fn long_lines_do_not_wrap() {
    for (text, longest, wide) in [("paper", [250, 251], false), ("bell", [266, 267], true)] {
        let (options, material) = (rules(text), material("EWvWCR"));
        let solver = solved(&options, material, Options::default());
        let id = class_of(&solver, material);
        assert_eq!(solver.classes().get(id).representative, self::material("EPvPDR"), "{text}");
        let stats = solver.class_stats(id).expect("solved");
        assert_eq!(solver.stats(material), Some(ByColor { white: &stats.white, black: &stats.black }));
        assert_eq!([stats.white.summary().longest, stats.black.summary().longest], longest, "{text}");
        let table = solver.table(id).expect("kept");
        assert!(Color::ALL.iter().all(|&c| matches!(table.cells[c], Cells::Wide(_)) == wide), "{text}");
        check_by_one_move(&solver, material, &options, 7, 300_000);
        // The longest lines, and the longest ones that a byte can store.
        let representative = solver.classes().get(id).representative;
        let index = Index::new(representative, &options).unwrap();
        for turn in Color::ALL {
            let cells = &table.cells[turn];
            let mut long = 0;
            for cell in 0..cells.len() {
                let Some(value @ CellValue::Decided(249..)) = CellValue::from_code(cells.get(cell)) else { continue };
                let squares = index.squares(cell).expect("a position's cell");
                let mut board = slow::EMPTY;
                for (piece, square) in index.pieces.iter().zip(&squares) {
                    board[square.index()] = Some((piece.color, piece.animal));
                }
                assert_eq!(value, value_by_one_move(&solver, &board, turn, &options), "{squares:?} under {text}");
                long += index.weight(cell / ROW_CELLS);
            }
            assert!(long > 0, "{text}");
            assert_eq!(long, stats[turn].by_plies[249..].iter().sum::<u64>(), "{text}");
        }
    }
}
