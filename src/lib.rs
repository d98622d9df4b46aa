//! Dou Shou Qi (Jungle chess): the rules on bitboards, perft, and exact endgame tables by retrograde analysis.

pub mod board;
pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;
mod pages;
pub mod perft;
pub mod reproduce;
pub mod search;
pub mod tablebase;
pub mod text;
