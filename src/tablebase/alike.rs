//! Which pieces are alike: values depend on how pieces move and which captures are allowed, not on their names.

use crate::board::{Direction, Piece, RuleOptions, Square};

/// Whether exchanging two pieces changes no value among these pieces: both belong to one side, move alike, capture the
/// same pieces and are captured by the same pieces.
pub(super) fn interchangeable(a: Piece, b: Piece, pieces: &[Piece], options: &RuleOptions) -> bool {
    let alike = |enemy: &Piece| {
        relation(a, *enemy, options) == relation(b, *enemy, options)
            && relation(*enemy, a, options) == relation(*enemy, b, options)
    };
    a.color == b.color
        && kind(a, options) == kind(b, options)
        && pieces.iter().filter(|piece| piece.color != a.color).all(alike)
}

/// The sets of two or more interchangeable pieces, as places in the order of these pieces, in ascending order.
pub(super) fn interchangeable_sets(pieces: &[Piece], options: &RuleOptions) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for (place, &piece) in pieces.iter().enumerate() {
        let fits = |set: &&mut Vec<usize>| interchangeable(pieces[set[0]], piece, pieces, options);
        match sets.iter_mut().find(fits) {
            Some(set) => set.push(place),
            None => sets.push(vec![place]),
        }
    }
    sets.retain(|set| set.len() > 1);
    sets
}

/// A code of how a piece moves: bit 0 for swimming, bit 1 for leaps along files, bit 2 for leaps along ranks.
pub(super) fn kind(Piece { animal, .. }: Piece, options: &RuleOptions) -> u8 {
    u8::from(animal.swims())
        | u8::from(options.leaps(animal, Direction::Up)) << 1
        | u8::from(options.leaps(animal, Direction::Right)) << 2
}

/// Whether the attacker may capture the victim: one bit for each combination of land and water that the two may stand
/// on. Traps affect all animals alike, so the relation leaves them out.
pub(super) fn relation(attacker: Piece, victim: Piece, options: &RuleOptions) -> u8 {
    let squares =
        |Piece { animal, .. }: Piece| if animal.swims() { &[Square::A4, Square::B4][..] } else { &[Square::A4] };
    let mut bits = 0;
    for &from in squares(attacker) {
        for &to in squares(victim) {
            bits = bits << 1 | u8::from(options.may_capture(attacker.color, attacker.animal, from, victim.animal, to));
        }
    }
    bits
}
