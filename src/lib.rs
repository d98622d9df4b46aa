//! Dou Shou Qi (Jungle chess): the rules on bitboards, perft, and exact endgame tables by retrograde analysis.

pub mod benchmark;
pub mod board;
pub mod cluster;
pub mod complexity;
pub mod cpu;
pub mod game;
pub mod general;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod matches;
pub mod mining;
mod pages;
pub mod perft;
pub mod plot;
pub mod reproduce;
pub mod search;
#[cfg(feature = "serve")]
pub mod serve;
pub mod tablebase;
pub mod text;
pub mod uci;
