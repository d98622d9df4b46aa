//! Materials as text.

use super::material;
use doushouqi::board::{Animal, Color, Piece, Position};
use doushouqi::tablebase::{Material, ParseMaterialError};
use proptest::prelude::*;
use std::collections::HashSet;

#[test]
fn materials_are_read_and_written() {
    for pieces in 2..=4 {
        let all = Material::all(pieces);
        for m in &all {
            assert_eq!(m.to_string().parse(), Ok(*m));
            assert_eq!(m.to_string().to_lowercase().parse(), Ok(*m));
            assert_eq!(m.len(), pieces);
            assert_eq!(m.swap().swap(), *m);
            assert_eq!(m.pieces().count(), pieces);
        }
        assert!(all.is_sorted() && all.iter().collect::<HashSet<_>>().len() == all.len());
    }
    assert_eq!(material("rlVpe").to_string(), "LRvEP");
    assert_eq!(format!("{:?}", material("rlVpe")), "LRvEP");
    assert_eq!(material("ELTPDWCRvELTPDWCR").len(), 16);
    // Letter by letter in the alphabet ELTPDWCRv.
    let spelled = ["ELvT", "ERvT", "EvLT", "EvL", "LvE", "RvC"].map(material);
    assert!(spelled.is_sorted(), "{spelled:?}");
    let white = |animal| Piece { color: Color::White, animal };
    assert_eq!(material("EPvLR").without(white(Animal::Panther)), Some(material("EvLR")));
    assert_eq!(material("EvLR").without(white(Animal::Elephant)), None);
    let position = Position::from_fen("7/3L3/7/7/7/7/7/6r/6e w").expect("a position");
    assert_eq!(Material::of(&position), Some(material("LvER")));
    for alone in ["7/3L3/7/7/7/7/7/7/7 w", "7/7/7/7/7/7/7/6r/7 w"] {
        assert_eq!(Material::of(&Position::from_fen(alone).expect("a position")), None, "{alone}");
    }
    assert_eq!(Material::of_pieces([]), None);
    assert_eq!(Material::of_pieces([white(Animal::Rat), white(Animal::Elephant)]), None);
    assert_eq!(Material::of_pieces(material("EPvLR").pieces()), Some(material("EPvLR")));
}

#[test]
fn texts_that_are_no_material() {
    let error = |text: &str| text.parse::<Material>().expect_err(text);
    let text = |text: &str| text.to_owned();
    assert_eq!(error(""), ParseMaterialError::NoVersus { text: text("") });
    assert_eq!(error("EL"), ParseMaterialError::NoVersus { text: text("EL") });
    assert_eq!(error("EvX"), ParseMaterialError::UnknownAnimal { text: text("EvX"), letter: 'X' });
    assert_eq!(error("EvLvT"), ParseMaterialError::UnknownAnimal { text: text("EvLvT"), letter: 'v' });
    assert_eq!(error("E vL"), ParseMaterialError::UnknownAnimal { text: text("E vL"), letter: ' ' });
    assert_eq!(error("ElLvT"), ParseMaterialError::Duplicate { text: text("ElLvT"), animal: Animal::Lion });
    assert_eq!(error("vT"), ParseMaterialError::EmptySide { text: text("vT"), color: Color::White });
    assert_eq!(error("Tv"), ParseMaterialError::EmptySide { text: text("Tv"), color: Color::Black });
    for wrong in ["", "EvX", "ElLvT", "vT"] {
        assert!(error(wrong).to_string().contains(&format!("{wrong:?}")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_a_material_or_an_error(
        text in prop_oneof![any::<String>(), "[ELTPDWCReltpdwcrvV x]{0,9}", "[ELTP]{0,2}[DWCR]{0,2}v[ELTP]{0,2}[DWCR]{0,2}"]
    ) {
        match text.parse::<Material>() {
            Ok(material) => {
                prop_assert_eq!(material.to_string().parse(), Ok(material));
                prop_assert_eq!(material.len() + 1, text.chars().count());
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
