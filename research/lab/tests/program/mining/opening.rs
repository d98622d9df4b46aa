//! The opening: the tree against plain recursion, and the program.

use super::*;
use crate::program::{failure, folder};
use doushouqi::search::Score;
use mining::opening::Opening;
use std::collections::BTreeSet;

/// A score for a position that depends on nothing but the position.
fn score(position: &Position) -> Score {
    Score::estimate((position.key() % 401) as i32 - 200)
}

/// The slow twin: the scores of a position and of its moves by recursion over all lines.
fn minimax(position: &Position, rules: &Rules, plies: usize) -> Score {
    if plies == 0 {
        return score(position);
    }
    let value = |mv| minimax(&position.make(mv), rules, plies - 1).before_move();
    position.moves(rules).into_iter().map(value).max().unwrap()
}

fn reached(position: &Position, rules: &Rules, plies: usize, all: &mut BTreeSet<String>) {
    if plies == 0 {
        all.insert(position.to_fen());
        return;
    }
    position.moves(rules).into_iter().for_each(|mv| reached(&position.make(mv), rules, plies - 1, all));
}

#[test]
fn the_tree_is_that_of_plain_recursion() {
    let (start, rules) = (Position::start(), Rules::new(PAPER));
    let opening = Opening::new(&start, &rules, 3);
    for plies in 0..=3 {
        let mut all = BTreeSet::new();
        reached(&start, &rules, plies, &mut all);
        let found: BTreeSet<String> = (0..opening.len(plies)).map(|i| opening.position(plies, i).to_fen()).collect();
        assert_eq!((found.len(), &found), (opening.len(plies), &all), "{plies}");
        // No position is the mirror image of another one.
        assert!(
            found.iter().all(|fen| !found.contains(&Position::from_fen(fen).unwrap().mirror().to_fen())),
            "{plies}"
        );
    }
    let scores = (0..opening.len(3)).map(|i| score(&opening.position(3, i))).collect();
    let tree = opening.tree(scores, 10);
    for ply in 0..3 {
        for i in (0..tree.opening().len(ply)).step_by(7) {
            let (node, position) = (tree.node(ply, i), tree.opening().position(ply, i));
            assert_eq!(node.score, minimax(&position, &rules, 3 - ply), "{}", node.fen);
            let of = |mv: &str| position.make(doushouqi::board::Move::parse(mv, &position, &rules).unwrap());
            assert!(node.moves.iter().all(|(mv, score)| *score == minimax(&of(mv), &rules, 2 - ply).before_move()));
            assert_eq!(node.moves.len(), position.moves(&rules).len());
            let good = node.moves.iter().filter(|(_, score)| score.value() >= node.score.value() - 10).count();
            assert_eq!((node.good, node.line.len()), (good, 3 - ply));
        }
    }
    let (path, longest) = tree.longest_only();
    let mut position = start;
    for mv in path {
        position = position.make(doushouqi::board::Move::parse(&mv, &position, &rules).unwrap());
    }
    assert_eq!(position.to_fen(), longest.fen);
    // From there the side to move has one good move after the other; from no position it has more of them.
    let only = |position: &Position, ply: usize| -> usize {
        let (mut position, mut only) = (position.clone(), 0);
        for left in (1..=3 - ply).rev() {
            let mut moves: Vec<_> = position
                .moves(&rules)
                .into_iter()
                .map(|mv| (minimax(&position.make(mv), &rules, left - 1).before_move(), mv))
                .collect();
            moves.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
            if moves[1].0.value() >= moves[0].0.value() - 10 {
                break;
            }
            only += 1;
            position = position.make(moves[0].1);
        }
        only
    };
    assert_eq!(only(&position, longest.ply), usize::from(longest.only));
    for ply in 0..3 {
        let all = (0..tree.opening().len(ply)).step_by(11).map(|i| only(&tree.opening().position(ply, i), ply));
        assert!(all.max().unwrap() <= usize::from(longest.only));
    }
}

/// A run that was interrupted continues to the same file, and other options are refused.
#[test]
fn the_program_continues_its_scores() {
    let dir = folder("opening");
    let (whole, part) = (dir.join("whole"), dir.join("part"));
    let run = |out: &std::path::Path, more: &[&str]| {
        let options = ["opening-tree", "--plies", "2", "--nodes", "50", "--out", out.to_str().unwrap()];
        json(&[&options[..], more].concat())
    };
    let nodes = run(&whole, &["--json", "--depth", "1", "--threads", "2"]);
    assert_eq!(nodes.len(), 1 + 24);
    assert_eq!(nodes[0]["moves"].as_array().unwrap().len(), 24);
    let scores = std::fs::read_to_string(&whole).unwrap();
    let lines: Vec<&str> = scores.lines().collect();
    assert_eq!(lines.len(), 1 + 24 * 24);
    std::fs::write(&part, lines[..100].join("\n") + "\n-1").unwrap();
    assert_eq!(run(&part, &["--json", "--depth", "1", "--threads", "1"]), nodes);
    assert_eq!(std::fs::read_to_string(&part).unwrap(), scores);
    let refused = |more: &[&str]| {
        failure(2, &[&["opening-tree", "--plies", "2", "--out", part.to_str().unwrap()][..], more].concat())
    };
    assert!(refused(&["--nodes", "51"]).contains("--nodes"));
    assert!(refused(&["--nodes", "50", "--rules", "chinese"]).contains("--rules"));
    std::fs::write(&part, lines[..10].join("\n") + "\nx\n").unwrap();
    assert!(refused(&["--nodes", "50"]).contains("line 11"));
    let summary = stdout(&["opening-tree", "--plies", "2", "--nodes", "50", "--out", whole.to_str().unwrap()]);
    assert!(summary.contains("1, 24, 576") && summary.contains("best line: "), "{summary}");
}
