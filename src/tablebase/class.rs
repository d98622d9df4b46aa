//! Equivalence classes of materials. Only how a piece moves and who may take whom matters, names do not: cat against cat
//! is dog against dog, and exchanging the colours turns White to move into Black to move. One material of each class is
//! solved and stands for all.

use super::{Index, Material};
use crate::board::{Color, Direction, Piece, RuleOptions, Square};
use std::collections::HashMap;

/// What a class's tables depend on, for one order of the pieces.
type Signature = Vec<u8>;

/// Names a class within [`Classes`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub(crate) usize);

impl ClassId {
    /// The number of the class: the classes of a [`Classes`] are numbered from 0 in order.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// One class of equivalent materials.
#[derive(Clone, Debug)]
pub struct Class {
    /// The material that is solved for the class: the first in the order of spelling.
    pub representative: Material,
    /// The materials whose White is the representative's White.
    pub same: Vec<Material>,
    /// The materials whose White is the representative's Black. Empty if the representative is its own colour swap.
    pub swapped: Vec<Material>,
}

impl Class {
    /// The index of its positions: that of the representative.
    #[must_use]
    pub fn index(&self) -> Index {
        Index::new(self.representative).expect("no class has more pieces than an index")
    }
}

/// How a material's pieces correspond to its class's.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its class.
    pub class: ClassId,
    /// True if White here is Black there (and the board is flipped).
    pub swapped: bool,
    /// The piece of the representative for each piece here.
    pub pieces: Vec<(Piece, Piece)>,
}

/// The classes of all materials up to some number of pieces, under some rules.
#[derive(Clone, Debug)]
pub struct Classes {
    options: RuleOptions,
    pieces: usize,
    classes: Vec<Class>,
    members: HashMap<Material, Member>,
}

impl Classes {
    /// Finds the classes of 2 to `pieces` pieces, at most [`Index::MAX_PIECES`].
    #[must_use]
    pub fn new(options: &RuleOptions, pieces: usize) -> Classes {
        let pieces = pieces.min(Index::MAX_PIECES);
        let mut this = Classes { options: *options, pieces, classes: Vec::new(), members: HashMap::new() };
        for n in 2..=pieces {
            let mut by_signature: HashMap<Signature, (ClassId, Vec<Piece>)> = HashMap::new();
            // In the order of spelling, so that the first of a class to come by is its representative.
            for material in Material::all(n) {
                let (signature, pieces) = canonical(material, false, options);
                let (swapped_signature, swapped_pieces) = canonical(material, true, options);
                let (swapped, id, pieces, class_pieces) = if let Some((id, class_pieces)) = by_signature.get(&signature)
                {
                    (false, *id, pieces, class_pieces.clone())
                } else if let Some((id, class_pieces)) = by_signature.get(&swapped_signature) {
                    (true, *id, swapped_pieces, class_pieces.clone())
                } else {
                    let id = ClassId(this.classes.len());
                    this.classes.push(Class { representative: material, same: Vec::new(), swapped: Vec::new() });
                    by_signature.insert(signature, (id, pieces.clone()));
                    (false, id, pieces.clone(), pieces)
                };
                let class = &mut this.classes[id.0];
                if swapped { &mut class.swapped } else { &mut class.same }.push(material);
                let pieces = pieces.into_iter().zip(class_pieces).collect();
                this.members.insert(material, Member { class: id, swapped, pieces });
            }
        }
        this
    }

    /// The rules that these are classes of.
    #[must_use]
    pub fn options(&self) -> &RuleOptions {
        &self.options
    }

    /// The largest number of pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// Where a material belongs; `None` if it has too many pieces.
    #[must_use]
    pub fn member(&self, material: Material) -> Option<&Member> {
        self.members.get(&material)
    }

    /// All classes, fewer pieces first, then by spelling.
    pub fn iter(&self) -> impl Iterator<Item = (ClassId, &Class)> {
        self.classes.iter().enumerate().map(|(i, class)| (ClassId(i), class))
    }

    /// The classes of exactly this many pieces.
    pub fn level(&self, pieces: usize) -> impl Iterator<Item = (ClassId, &Class)> {
        self.iter().filter(move |(_, class)| class.representative.len() == pieces)
    }

    /// The class of that name.
    #[must_use]
    pub fn get(&self, id: ClassId) -> &Class {
        &self.classes[id.0]
    }

    /// Number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are none: below two pieces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The classes that captures lead to from this one, without repeats.
    #[must_use]
    pub fn captures(&self, id: ClassId) -> Vec<ClassId> {
        let material = self.get(id).representative;
        let mut ids: Vec<ClassId> = material
            .pieces()
            .filter_map(|piece| material.without(piece))
            .map(|rest| self.members[&rest].class)
            .collect();
        ids.sort();
        ids.dedup();
        ids
    }

    /// A class and all that captures lead to from it, directly or not: by number of pieces, fewest first.
    #[must_use]
    pub fn needed_for(&self, id: ClassId) -> Vec<Vec<ClassId>> {
        let mut levels = vec![vec![id]];
        while self.get(levels[levels.len() - 1][0]).representative.len() > 2 {
            let mut below: Vec<ClassId> = levels[levels.len() - 1].iter().flat_map(|&id| self.captures(id)).collect();
            below.sort();
            below.dedup();
            levels.push(below);
        }
        levels.reverse();
        levels
    }
}

/// The smallest signature over all orders of each side's pieces, and the order that gives it. With `swap` the sides are
/// exchanged first.
fn canonical(material: Material, swap: bool, options: &RuleOptions) -> (Signature, Vec<Piece>) {
    let side = |color: Color| -> Vec<Piece> {
        let color = if swap { !color } else { color };
        material.side(color).strongest_first().map(|animal| Piece { color, animal }).collect()
    };
    let black_orders = permutations(&side(Color::Black));
    permutations(&side(Color::White))
        .iter()
        .flat_map(|white| black_orders.iter().map(move |black| (white, black)))
        .map(|(white, black)| (signature(white, black, options), [&white[..], black].concat()))
        .min_by(|a, b| a.0.cmp(&b.0))
        .expect("a side has at least one order")
}

fn signature(first: &[Piece], second: &[Piece], options: &RuleOptions) -> Signature {
    let mut signature = vec![first.len() as u8];
    signature.extend(first.iter().chain(second).map(|&piece| kind(piece, options)));
    for (attackers, victims) in [(first, second), (second, first)] {
        for attacker in attackers {
            signature.extend(victims.iter().map(|victim| relation(*attacker, *victim, options)));
        }
    }
    signature
}

/// Whether nothing tells two pieces of one side apart among these pieces: they move alike, take the same and are taken by
/// the same, so exchanging them changes no value.
pub(crate) fn interchangeable(a: Piece, b: Piece, pieces: &[Piece], options: &RuleOptions) -> bool {
    let alike = |enemy: &Piece| {
        relation(a, *enemy, options) == relation(b, *enemy, options)
            && relation(*enemy, a, options) == relation(*enemy, b, options)
    };
    a.color == b.color
        && kind(a, options) == kind(b, options)
        && pieces.iter().filter(|piece| piece.color != a.color).all(alike)
}

/// How a piece moves.
fn kind(Piece { animal, .. }: Piece, options: &RuleOptions) -> u8 {
    u8::from(animal.swims())
        | u8::from(options.leaps(animal, Direction::Up)) << 1
        | u8::from(options.leaps(animal, Direction::Right)) << 2
}

/// One bit for each of land and water on either side that says whether the capture is allowed. Traps treat all animals
/// alike, so they do not enter.
fn relation(attacker: Piece, victim: Piece, options: &RuleOptions) -> u8 {
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

fn permutations(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    if pieces.len() <= 1 {
        return vec![pieces.to_vec()];
    }
    let mut all = Vec::new();
    for i in 0..pieces.len() {
        let mut rest = pieces.to_vec();
        let first = rest.remove(i);
        for mut tail in permutations(&rest) {
            tail.insert(0, first);
            all.push(tail);
        }
    }
    all
}
