//! The built-in gadgets.

use super::gadget::Gadget;

/// Name and text of each file: first the gadgets of the paper, then composed ones and additional ones of the reduction.
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

/// All built-in gadgets.
#[must_use]
pub fn gadgets() -> Vec<Gadget> {
    FILES.iter().map(|(file, text)| Gadget::parse(text).unwrap_or_else(|error| panic!("{file}: {error}"))).collect()
}

/// The gadget with this name, ignoring case.
#[must_use]
pub fn gadget(name: &str) -> Option<Gadget> {
    gadgets().into_iter().find(|gadget| gadget.name.eq_ignore_ascii_case(name))
}
