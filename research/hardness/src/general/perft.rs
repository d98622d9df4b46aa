use super::{GeneralMove, GeneralPosition};
use doushouqi::board::RuleOptions;

/// The number of lines of `depth` plies. A finished game has no lines; at the last ply moves are counted, not made.
#[must_use]
pub fn perft(position: &GeneralPosition, rules: &RuleOptions, depth: u32) -> u64 {
    count(&mut position.clone(), rules, depth)
}

/// The count after each move, in the order of squares.
#[must_use]
pub fn divide(position: &GeneralPosition, rules: &RuleOptions, depth: u32) -> Vec<(GeneralMove, u64)> {
    let mut position = position.clone();
    let mut moves = if depth == 0 { Vec::new() } else { position.moves(rules) };
    moves.sort_unstable();
    let mut behind = |mv| {
        let undo = position.make(mv);
        let nodes = count(&mut position, rules, depth - 1);
        position.undo(undo);
        (mv, nodes)
    };
    moves.into_iter().map(&mut behind).collect()
}

fn count(position: &mut GeneralPosition, rules: &RuleOptions, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = position.moves(rules);
    if depth == 1 {
        return moves.len() as u64;
    }
    let mut nodes = 0;
    for mv in moves {
        let undo = position.make(mv);
        nodes += count(position, rules, depth - 1);
        position.undo(undo);
    }
    nodes
}
