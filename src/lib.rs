//! Dou Shou Qi (Jungle chess): the rules on bitboards, perft, search, and exact endgame tables by retrograde analysis.

pub mod board;
pub mod search;
