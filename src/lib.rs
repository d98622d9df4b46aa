//! Dou Shou Qi (Jungle chess): the rules on bitboards, perft, and exact endgame tables by retrograde analysis.

pub mod board;
pub mod cpu;
pub mod game;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod matches;
pub mod perft;
pub mod reproduce;
pub mod search;
pub mod tablebase;
pub mod text;
pub mod uci;
