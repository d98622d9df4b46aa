//! The order of a material's pieces in its index: row pieces, word piece, lane piece. Interchangeable pieces save work
//! only among the row pieces, because rows that differ by their exchange are solved once.

use super::Material;
use super::alike::interchangeable;
use super::material::squares_in_play;
use crate::board::{Bitboard, File, Piece, RuleOptions};

/// Permutations of the row pieces: for each place the piece that goes there.
type Exchanges = Vec<Vec<usize>>;

/// The order of the pieces with the fewest solved rows. Among equals the first of [`candidates`] wins.
pub(super) fn piece_order(material: Material, options: &RuleOptions) -> Vec<Piece> {
    let fewest = candidates(material).min_by_key(|pieces| solved_rows(pieces, options));
    fewest.expect("every material has an order")
}

/// Whether an index may have its pieces in this order: a rat is the lane piece, and a second rat is the first row piece
/// if there is a row piece. No rat can then block a leap of the lane piece.
pub(super) fn is_allowed(pieces: &[Piece]) -> bool {
    let rats: Vec<usize> = (0..pieces.len()).filter(|&place| pieces[place].animal.swims()).collect();
    let last = pieces.len().wrapping_sub(1);
    rats.is_empty() || rats == [last] || rats == [0, last]
}

/// The allowed orders: the row pieces in the order of the material, and each choice of word piece and lane piece, later
/// pieces of the material first.
pub(super) fn candidates(material: Material) -> impl Iterator<Item = Vec<Piece>> {
    let mut pieces: Vec<Piece> = material.pieces().filter(|piece| !piece.animal.swims()).collect();
    let mut rats = material.pieces().filter(|piece| piece.animal.swims());
    let lane = rats.next();
    pieces.extend(lane);
    let second = rats.next();
    second.into_iter().for_each(|rat| pieces.insert(0, rat));
    let n = pieces.len();
    let lanes = if lane.is_some() { n - 1 } else { 0 };
    // The piece of the second rat is no word piece, unless there are no others.
    let words = usize::from(second.is_some() && n > 2);
    (lanes..n).rev().flat_map(move |lane| {
        let pieces = pieces.clone();
        (words..n).rev().filter(move |&word| word != lane).map(move |word| {
            let rows = (0..n).filter(|&place| place != word && place != lane);
            rows.chain([word, lane]).map(|place| pieces[place]).collect()
        })
    })
}

/// The number of solved rows of an index with its pieces in this order, computed without listing them: the number of
/// placements of the row pieces up to reflection and exchange of equivalent pieces. By Burnside's lemma it is the mean
/// number of placements that such a symmetry leaves unchanged.
pub(crate) fn solved_rows(pieces: &[Piece], options: &RuleOptions) -> usize {
    let rows = pieces.len() - 2;
    if rows == 0 {
        return 1;
    }
    let exchanges = exchanges(pieces, options);
    let in_play = |place: usize| squares_in_play(pieces[place]);
    let mut sizes: Vec<usize> = (0..rows).map(|place| in_play(place).len()).collect();
    sizes.sort_unstable();
    // Without a reflection only the identity leaves a placement unchanged.
    let all: usize = sizes.iter().enumerate().map(|(i, n)| n - i).product();
    let kept: usize = exchanges.iter().map(|exchange| unchanged_by_reflection(exchange, &in_play)).sum();
    (all + kept) / (2 * exchanges.len())
}

/// All permutations of the row pieces that exchange only interchangeable pieces.
fn exchanges(pieces: &[Piece], options: &RuleOptions) -> Exchanges {
    let count = pieces.len() - 2;
    let mut all: Exchanges = vec![Vec::new()];
    for place in 0..count {
        let fits = |&other: &usize| other == place || interchangeable(pieces[place], pieces[other], pieces, options);
        let fitting: Vec<usize> = (0..count).filter(fits).collect();
        let longer = |exchange: &Vec<usize>| -> Exchanges {
            let free = fitting.iter().filter(|piece| !exchange.contains(piece));
            free.map(|&piece| exchange.iter().copied().chain([piece]).collect()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The number of placements that are unchanged by a reflection of the board followed by this permutation of the pieces.
/// A piece that the permutation fixes stands on the d-file, and two pieces that it exchanges stand on mirrored squares.
fn unchanged_by_reflection(order: &[usize], in_play: &dyn Fn(usize) -> Bitboard) -> usize {
    let (mut alone, mut faced, mut ways) = (0, 0, 1);
    for (place, &piece) in order.iter().enumerate() {
        if order[piece] != place {
            return 0;
        }
        let squares = in_play(place);
        let middle = squares.into_iter().filter(|square| square.file() == File::D).count();
        if piece == place {
            ways *= middle - alone;
            alone += 1;
        } else if piece > place {
            ways *= squares.len() - middle - 2 * faced;
            faced += 1;
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Square;

    fn names(material: &str, rules: &str) -> String {
        let order = piece_order(material.parse().unwrap(), &rules.parse().unwrap());
        order.iter().map(|piece| piece.letter()).collect()
    }

    /// Against an elephant, panther, dog, wolf and cat are alike, so the elephant is the word piece or the lane piece.
    #[test]
    fn interchangeable_pieces_are_row_pieces() {
        for (material, order) in [
            ("EvE", "Ee"),
            ("EvL", "El"),
            ("RvR", "rR"),
            ("EvPD", "Epd"),
            ("ERvR", "rER"),
            ("EvPDW", "pdEw"),
            ("PDWvE", "PDWe"),
            ("EvPDR", "pdEr"),
            ("ELvPD", "pdEL"),
            ("LTvPD", "LTpd"),
            ("ERvPDR", "rpdER"),
        ] {
            assert_eq!(names(material, "paper"), order);
        }
    }

    /// No allowed order of the pieces has fewer rows.
    #[test]
    fn no_order_has_fewer_rows() {
        for rules in ["paper", "chinese"] {
            let rules: RuleOptions = rules.parse().unwrap();
            for material in (2..=4).flat_map(Material::all).chain(Material::all(5).into_iter().step_by(37)) {
                let chosen = piece_order(material, &rules);
                assert!(is_allowed(&chosen), "{material}");
                let mut sorted = chosen.clone();
                sorted.sort_by_key(|piece| (piece.color, piece.animal));
                let mut all: Vec<Piece> = material.pieces().collect();
                all.sort_by_key(|piece| (piece.color, piece.animal));
                assert_eq!(sorted, all, "{material}");
                let least = permutations(&all)
                    .iter()
                    .filter(|order| is_allowed(order))
                    .map(|order| solved_rows(order, &rules))
                    .min();
                assert_eq!(Some(solved_rows(&chosen, &rules)), least, "{material}");
            }
        }
    }

    fn permutations(pieces: &[Piece]) -> Vec<Vec<Piece>> {
        let Some((&first, rest)) = pieces.split_first() else { return vec![Vec::new()] };
        let inserted = |order: &Vec<Piece>| -> Vec<Vec<Piece>> {
            let at = |place: usize| [&order[..place], &[first], &order[place..]].concat();
            (0..=order.len()).map(at).collect()
        };
        permutations(rest).iter().flat_map(inserted).collect()
    }

    /// Compares the formula with an enumeration of the placements.
    #[test]
    fn placements_unchanged_by_reflection_are_counted() {
        let cases: [(&[usize], &str); 10] = [
            (&[0], "E"),
            (&[0, 1], "Ec"),
            (&[0, 1], "Er"),
            (&[1, 0], "rr"),
            (&[0, 1, 2], "EEE"),
            (&[1, 0, 2], "EEr"),
            (&[2, 1, 0], "ErE"),
            (&[1, 2, 0], "EEE"),
            (&[1, 0, 3, 2], "EEEE"),
            (&[1, 0, 3, 2], "rrrr"),
        ];
        for (order, pieces) in cases {
            let pieces: Vec<Piece> = pieces.chars().map(|letter| Piece::from_letter(letter).unwrap()).collect();
            let in_play = |place: usize| squares_in_play(pieces[place]);
            let mut placed: Vec<Vec<Square>> = vec![Vec::new()];
            for place in 0..order.len() {
                let put = |squares: &Vec<Square>| -> Vec<Vec<Square>> {
                    let free = in_play(place).into_iter().filter(|square| !squares.contains(square));
                    // All placements of four pieces would be too many, so the enumeration prunes those that change.
                    let faced = |square| squares.get(order[place]).copied().unwrap_or(square);
                    let fits = |&square: &Square| order[place] > place || faced(square) == square.mirror();
                    free.filter(fits).map(|square| squares.iter().copied().chain([square]).collect()).collect()
                };
                placed = placed.iter().flat_map(put).collect();
            }
            let unchanged =
                |squares: &&Vec<Square>| (0..order.len()).all(|place| squares[order[place]] == squares[place].mirror());
            let count = placed.iter().filter(unchanged).count();
            assert_eq!(unchanged_by_reflection(order, &in_play), count, "{order:?} {pieces:?}");
        }
    }
}
