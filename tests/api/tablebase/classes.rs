//! The classes of materials with equal values.

use super::{check_by_one_move, material, rule_sets, rules, solved};
use doushouqi::board::{Color, Piece, RuleOptions};
use doushouqi::tablebase::{Classes, Material, Options};
use std::collections::{BTreeSet, HashSet};

#[test]
fn the_classes_are_as_many_as_expected() {
    let classes = Classes::new(&RuleOptions::PAPER, 5);
    for (pieces, expected, materials) in [(2, 10, 64), (3, 42, 448), (4, 134, 1_680), (5, 340, 4_256)] {
        assert_eq!(classes.level(pieces).count(), expected, "classes of {pieces} pieces");
        assert_eq!(Material::all(pieces).len(), materials);
        let members: usize = classes.level(pieces).map(|(_, c)| c.same.len() + c.swapped.len()).sum();
        assert_eq!(members, materials, "materials of {pieces} pieces");
    }
    assert_eq!(classes.len(), 10 + 42 + 134 + 340);
    assert_eq!((classes.pieces(), classes.is_empty()), (5, false));
    assert_eq!(classes.options(), &RuleOptions::PAPER);
    assert!(classes.member(material("ELTvPDW")).is_none());
}

#[test]
fn every_material_is_in_one_class() {
    for options in rule_sets() {
        let classes = Classes::new(&options, 4);
        let mut seen = BTreeSet::new();
        let mut before = None;
        for (id, class) in classes.iter() {
            let members = class.same.iter().map(|&m| (m, false)).chain(class.swapped.iter().map(|&m| (m, true)));
            let first = members.clone().map(|(m, _)| m).min();
            assert_eq!(first, Some(class.representative), "the first in the order of spelling");
            assert!(class.same.contains(&class.representative));
            for (material, swapped) in members {
                assert!(seen.insert(material), "{material} is in two classes");
                let member = classes.member(material).expect("a member");
                assert_eq!((member.class, member.swapped), (id, swapped), "{material}");
                let (here, there): (Vec<_>, Vec<_>) = member.pieces.iter().copied().unzip();
                let set = |pieces: &[Piece]| pieces.iter().copied().collect::<HashSet<_>>();
                assert_eq!(set(&here), material.pieces().collect(), "{material}");
                assert_eq!(set(&there), class.representative.pieces().collect(), "{material}");
                for (Piece { color: here, .. }, Piece { color: there, .. }) in &member.pieces {
                    assert_eq!(*there, if swapped { !*here } else { *here }, "{material}");
                }
            }
            let order = (class.representative.len(), class.representative);
            assert!(before.replace(order) < Some(order), "classes come in order");
            for capture in classes.captures(id) {
                assert_eq!(classes.get(capture).representative.len() + 1, class.representative.len());
            }
        }
        assert_eq!(seen.len(), 64 + 448 + 1_680);
    }
}

#[test]
fn materials_of_one_class() {
    let paper = Classes::new(&RuleOptions::PAPER, 4);
    let class = |classes: &Classes, name| classes.member(material(name)).expect("a class").class;
    assert_eq!(class(&paper, "EPvLR"), class(&paper, "ECvTR"));
    assert_eq!(class(&paper, "EPvLR"), class(&paper, "LRvEP"));
    assert_eq!(class(&paper, "PvC"), class(&paper, "DvW"));
    assert_ne!(class(&paper, "LvT"), class(&paper, "PvD"), "leapers are no others");
    let no_leap = Classes::new(&rules("paper,tiger-leap=none"), 4);
    assert_eq!(class(&no_leap, "TvD"), class(&no_leap, "PvD"));
    let panther = Classes::new(&rules("panther-leap=ranks"), 4);
    assert_ne!(class(&panther, "PvC"), class(&panther, "DvW"), "the panther leaps");
    assert_ne!(class(&panther, "PvC"), class(&panther, "TvC"), "the tiger leaps along files, too");
    let sideways = Classes::new(&rules("panther-leap=ranks,tiger-leap=ranks"), 4);
    assert_eq!(class(&sideways, "PvC"), class(&sideways, "TvC"));

    // The same counts and values, although only one material was solved.
    let first = solved(&RuleOptions::PAPER, material("EPvLR"), Options::default());
    for (name, swapped) in [("ECvTR", false), ("LRvEP", true)] {
        let (stats, other) = (first.stats(material("EPvLR")), first.stats(material(name)));
        let (stats, other) = (stats.expect("solved"), other.expect("solved"));
        for color in Color::ALL {
            assert_eq!(other[color], stats[if swapped { !color } else { color }], "{name}");
        }
        check_by_one_move(&first, material(name), &RuleOptions::PAPER, 6, 10_000);
    }
}
