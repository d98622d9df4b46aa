//! Dou Shou Qi (Jungle chess): the rules on bitboards, perft, and exact endgame tables by retrograde analysis.

pub mod benchmark;
pub mod board;
pub mod cpu;
pub mod game;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod matches;
pub mod mining;
mod pages;
pub mod perft;
pub mod plot;
pub mod reproduce;
pub mod search;
#[cfg(feature = "gpu")]
mod shaders;
pub mod tablebase;
pub mod text;
pub mod uci;
