//! Equivalence classes of materials. Only how a piece moves and who may take whom matters, names do not: cat against cat
//! is dog against dog, and exchanging the colours turns White to move into Black to move. One material of each class is
//! solved and stands for all.

use super::Material;
use crate::board::{Animal, Color, Direction, Position, RuleOptions, Square};
use crate::tablebase::index::piece_order;
use std::collections::HashMap;

/// What a class's tables depend on, for one order of the pieces.
type Signature = Vec<u8>;

/// A piece: whose and which.
pub type Man = (Color, Animal);

/// Names a class within [`Classes`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub(crate) usize);

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

/// How a material's pieces correspond to its class's.
#[derive(Clone, Debug)]
pub struct Member {
    pub class: ClassId,
    /// True if White here is Black there (and the board is flipped).
    pub swapped: bool,
    /// The piece of the representative for each piece here.
    pub men: Vec<(Man, Man)>,
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
    /// Finds the classes of 2 to `pieces` pieces.
    #[must_use]
    pub fn new(options: &RuleOptions, pieces: usize) -> Classes {
        let mut this = Classes { options: *options, pieces, classes: Vec::new(), members: HashMap::new() };
        for n in 2..=pieces {
            let mut by_signature: HashMap<Signature, (ClassId, Vec<Man>)> = HashMap::new();
            // In the order of spelling, so that the first of a class to come by is its representative.
            for material in Material::all(n) {
                let (signature, men) = canonical(material, false, options);
                let (swapped_signature, swapped_men) = canonical(material, true, options);
                let (swapped, id, men, class_men) = if let Some((id, class_men)) = by_signature.get(&signature) {
                    (false, *id, men, class_men.clone())
                } else if let Some((id, class_men)) = by_signature.get(&swapped_signature) {
                    (true, *id, swapped_men, class_men.clone())
                } else {
                    let id = ClassId(this.classes.len());
                    this.classes.push(Class { representative: material, same: Vec::new(), swapped: Vec::new() });
                    by_signature.insert(signature, (id, men.clone()));
                    (false, id, men.clone(), men)
                };
                let class = &mut this.classes[id.0];
                if swapped { &mut class.swapped } else { &mut class.same }.push(material);
                let men = men.into_iter().zip(class_men).collect();
                this.members.insert(material, Member { class: id, swapped, men });
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
            .filter_map(|(color, animal)| material.without(color, animal))
            .map(|rest| self.members[&rest].class)
            .collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

/// Where the value of a position is found.
#[derive(Clone, Debug)]
pub struct Place {
    pub class: ClassId,
    /// The side to move there.
    pub turn: Color,
    /// The squares there, in the order of the class's [`super::Index::men`].
    pub squares: Vec<Square>,
}

impl Classes {
    /// Where the value of a position is found; `None` if it has too many pieces or the game is over.
    #[must_use]
    pub fn locate(&self, position: &Position) -> Option<Place> {
        if position.winner().is_some() {
            return None;
        }
        let member = self.member(Material::of(position)?)?;
        let squares = piece_order(self.get(member.class).representative)
            .iter()
            .map(|man| {
                let &((color, animal), _) = member.men.iter().find(|(_, there)| there == man)?;
                let square = position.square_of(color, animal)?;
                Some(if member.swapped { square.flip() } else { square })
            })
            .collect::<Option<Vec<Square>>>()?;
        let turn = if member.swapped { !position.turn() } else { position.turn() };
        Some(Place { class: member.class, turn, squares })
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
fn canonical(material: Material, swap: bool, options: &RuleOptions) -> (Signature, Vec<Man>) {
    let side = |color: Color| -> Vec<Man> {
        let color = if swap { !color } else { color };
        material.side(color).strongest_first().map(|a| (color, a)).collect()
    };
    let black_orders = permutations(&side(Color::Black));
    permutations(&side(Color::White))
        .iter()
        .flat_map(|white| black_orders.iter().map(move |black| (white, black)))
        .map(|(white, black)| (signature(white, black, options), [&white[..], black].concat()))
        .min_by(|a, b| a.0.cmp(&b.0))
        .expect("a side has at least one order")
}

fn signature(first: &[Man], second: &[Man], options: &RuleOptions) -> Signature {
    let kind = |&(_, animal): &Man| {
        u8::from(animal.swims())
            | u8::from(options.leaps(animal, Direction::Up)) << 1
            | u8::from(options.leaps(animal, Direction::Right)) << 2
    };
    let mut signature = vec![first.len() as u8];
    signature.extend(first.iter().chain(second).map(kind));
    for (attackers, victims) in [(first, second), (second, first)] {
        for attacker in attackers {
            signature.extend(victims.iter().map(|victim| relation(*attacker, *victim, options)));
        }
    }
    signature
}

/// One bit for each of land and water on either side that says whether the capture is allowed. Traps treat all animals
/// alike, so they do not enter.
fn relation((color, attacker): Man, (_, victim): Man, options: &RuleOptions) -> u8 {
    let squares = |animal: Animal| if animal.swims() { &[Square::A4, Square::B4][..] } else { &[Square::A4] };
    let mut bits = 0;
    for &from in squares(attacker) {
        for &to in squares(victim) {
            bits = bits << 1 | u8::from(options.may_capture(color, attacker, from, victim, to));
        }
    }
    bits
}

fn permutations(men: &[Man]) -> Vec<Vec<Man>> {
    if men.len() <= 1 {
        return vec![men.to_vec()];
    }
    let mut all = Vec::new();
    for i in 0..men.len() {
        let mut rest = men.to_vec();
        let first = rest.remove(i);
        for mut tail in permutations(&rest) {
            tail.insert(0, first);
            all.push(tail);
        }
    }
    all
}
