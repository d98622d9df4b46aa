//! The gadgets that come with the program.

use super::gadget::Gadget;

/// Name of each file, and its text: those of the paper first, then composed ones and what the reduction adds.
pub const FILES: [(&str, &str); 17] = [
    ("and.txt", include_str!("gadgets/and.txt")),
    ("or.txt", include_str!("gadgets/or.txt")),
    ("fanout.txt", include_str!("gadgets/fanout.txt")),
    ("choice.txt", include_str!("gadgets/choice.txt")),
    ("variable.txt", include_str!("gadgets/variable.txt")),
    ("black-edge.txt", include_str!("gadgets/black-edge.txt")),
    ("white-edge.txt", include_str!("gadgets/white-edge.txt")),
    ("outflow.txt", include_str!("gadgets/outflow.txt")),
    ("white-edge-both.txt", include_str!("gadgets/white-edge-both.txt")),
    ("double-white-edge.txt", include_str!("gadgets/double-white-edge.txt")),
    ("black-edge-both.txt", include_str!("gadgets/black-edge-both.txt")),
    ("double-black-edge.txt", include_str!("gadgets/double-black-edge.txt")),
    ("channel-top.txt", include_str!("gadgets/channel-top.txt")),
    ("channel-bottom.txt", include_str!("gadgets/channel-bottom.txt")),
    ("outflow-upright.txt", include_str!("gadgets/outflow-upright.txt")),
    ("start.txt", include_str!("gadgets/start.txt")),
    ("den.txt", include_str!("gadgets/den.txt")),
];

/// All gadgets that come with the program.
#[must_use]
pub fn gadgets() -> Vec<Gadget> {
    FILES.iter().map(|(file, text)| Gadget::parse(text).unwrap_or_else(|error| panic!("{file}: {error}"))).collect()
}

/// The gadget of that name, in any case.
#[must_use]
pub fn gadget(name: &str) -> Option<Gadget> {
    gadgets().into_iter().find(|gadget| gadget.name.eq_ignore_ascii_case(name))
}
