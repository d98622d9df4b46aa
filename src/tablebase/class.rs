//! Equivalence classes of materials. Values depend on how the pieces move and which captures are allowed, not on the
//! names of the animals: cat against cat is equivalent to dog against dog, and exchanging the colours turns White to
//! move into Black to move. The solver solves one material of each class, its representative.

use super::alike::{kind, relation};
use super::order::piece_order;
use super::{Index, Material, Metric, position_of};
use crate::board::{Color, Piece, Position, RuleOptions};
use std::collections::HashMap;

/// The properties that determine a class's tables (moves and captures), for one order of the pieces.
type Signature = Vec<u8>;

/// Identifies a class within [`Classes`].
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
    /// The material that is solved for the class: the first in the order of [`Material`].
    pub representative: Material,
    /// The materials whose White is the representative's White.
    pub same: Vec<Material>,
    /// The materials whose White is the representative's Black. Empty if the representative is its own colour swap.
    pub swapped: Vec<Material>,
    /// The representative's pieces in the order of the index.
    order: Vec<Piece>,
}

impl Class {
    /// The index of the representative's positions.
    #[must_use]
    pub fn index(&self) -> Index {
        Index::of(self.order.clone()).expect("no class has more pieces than an index")
    }
}

/// How the pieces of a material correspond to the pieces of its class's representative.
#[derive(Clone, Debug)]
pub struct Member {
    /// The class of the material.
    pub class: ClassId,
    /// Whether White's pieces correspond to Black's of the representative (the board is then flipped).
    pub swapped: bool,
    /// Pairs of a piece of the material and the corresponding piece of the representative.
    pub pieces: Vec<(Piece, Piece)>,
}

impl Member {
    /// A position of the representative as the position of the material with the same value; `None` if it has other
    /// pieces.
    #[must_use]
    pub fn position(&self, position: &Position) -> Option<Position> {
        let turn = if self.swapped { !position.turn() } else { position.turn() };
        let (mut pieces, mut squares) = (Vec::new(), Vec::new());
        for &(piece, there) in &self.pieces {
            let square = position.square_of(there.color, there.animal)?;
            pieces.push(piece);
            squares.push(if self.swapped { square.flip() } else { square });
        }
        position_of(&pieces, &squares, turn)
    }
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
            // In the order of spelling, so that the first material of a class is its representative.
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
                    let order = piece_order(material, options);
                    let class = Class { representative: material, same: Vec::new(), swapped: Vec::new(), order };
                    this.classes.push(class);
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

    /// The rules of the classes.
    #[must_use]
    pub fn options(&self) -> &RuleOptions {
        &self.options
    }

    /// What the distances of the classes measure.
    #[must_use]
    pub fn metric(&self) -> Metric {
        Metric::of(&self.options)
    }

    /// The largest number of pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The class of a material and the correspondence of its pieces; `None` if the material has too many pieces.
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

    /// The class with this id.
    #[must_use]
    pub fn get(&self, id: ClassId) -> &Class {
        &self.classes[id.0]
    }

    /// Number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are no classes, which holds below two pieces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The classes that one capture leads to from this class, without duplicates.
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

    /// A class and all classes that sequences of captures lead to from it, grouped by number of pieces, fewest first.
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
    let black_orders = orders(&side(Color::Black), options);
    orders(&side(Color::White), options)
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

/// The orders of one side's pieces that can give the smallest signature, which begins with the kinds of the pieces: all
/// permutations with ascending kinds.
fn orders(pieces: &[Piece], options: &RuleOptions) -> Vec<Vec<Piece>> {
    if pieces.len() <= 1 {
        return vec![pieces.to_vec()];
    }
    let least = pieces.iter().map(|&piece| kind(piece, options)).min();
    let mut all = Vec::new();
    for i in (0..pieces.len()).filter(|&i| Some(kind(pieces[i], options)) == least) {
        let mut rest = pieces.to_vec();
        let first = rest.remove(i);
        for mut tail in orders(&rest, options) {
            tail.insert(0, first);
            all.push(tail);
        }
    }
    all
}
