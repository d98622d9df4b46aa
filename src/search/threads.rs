//! The threads of a search, and their vote for a move.

use super::deepening::Deepening;
use super::eval::State;
use super::history::ThreadData;
use super::info::Info;
use super::pvs::{Compiled, Worker};
use super::shared::Shared;
use crate::board::Move;
use crate::cpu::CpuLevel;
use std::sync::atomic::Ordering::Relaxed;

/// The stack of a thread in bytes: several times the stack that the longest line needs.
pub(super) const STACK: usize = 16 << 20;

/// Searches with a thread for each `thread_data`. The first is the calling thread, which reports.
pub(super) fn parallel(
    shared: &Shared<'_>,
    state: &State,
    roots: &[Move],
    multipv: usize,
    thread_data: &mut [ThreadData],
    scale: i32,
    report: &mut dyn FnMut(&Info),
) -> Vec<Info> {
    let compiled = Compiled::new(CpuLevel::get());
    let (main, helpers) = thread_data.split_first_mut().expect("there is a thread at least");
    std::thread::scope(|scope| {
        let mut started = Vec::new();
        for (i, thread_data) in helpers.iter_mut().enumerate() {
            let helper = move || {
                let worker = Worker::new(shared, compiled, i + 1, thread_data, scale);
                Deepening::new(worker, state, roots, 1).run(&mut |_| ())
            };
            // If a thread cannot be started, the search continues without it.
            started.extend(std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, helper));
        }
        let worker = Worker::new(shared, compiled, 0, main, scale);
        let mut lines = Deepening::new(worker, state, roots, multipv).run(report);
        shared.done.store(true, Relaxed);
        let found = started.into_iter().filter_map(|helper| helper.join().ok()?.into_iter().next());
        if multipv == 1 && vote(&mut lines, found.collect()) {
            lines.iter().for_each(report);
        }
        lines
    })
}

/// Replaces the line of the first thread by the line of another thread if that thread's move gets more votes. Returns
/// whether it did. Each thread votes for its move; the weight of a vote grows with the depth and the score. A win needs
/// no votes.
fn vote(lines: &mut [Info], helpers: Vec<Info>) -> bool {
    let [first] = lines else { return false };
    let threads = || helpers.iter().chain([&*first]);
    let Some(least) = threads().map(|line| line.score).min() else { return false };
    let weight = |line: &Info| i64::from(line.score.value() - least.value() + 14) * i64::from(line.depth);
    let rank = |line: &Info| {
        let votes: i64 = threads().filter(|other| other.pv[0] == line.pv[0]).map(weight).sum();
        let win = line.score.is_win().then_some(line.score);
        (win, votes, weight(line))
    };
    // The last of equal threads wins, which lets the first thread keep its line.
    let Some(best) = threads().max_by_key(|line| rank(line)).filter(|best| best.pv[0] != first.pv[0]).cloned() else {
        return false;
    };
    *first = Info { nodes: first.nodes, time: first.time, tbhits: first.tbhits, hashfull: first.hashfull, ..best };
    true
}

#[cfg(test)]
mod tests {
    use super::super::score::Score;
    use super::*;
    use crate::board::Position;
    use std::time::Duration;

    #[test]
    fn threads_vote_for_a_move() {
        let moves = Position::start().moves(&Default::default());
        let line = |mv: usize, depth, score| Info {
            depth,
            seldepth: depth,
            multipv: 1,
            score,
            nodes: 100 * u64::from(depth),
            time: Duration::ZERO,
            hashfull: 0,
            tbhits: 0,
            pv: vec![moves[mv]],
        };
        let estimate = |mv, depth, cp| line(mv, depth, Score::estimate(cp));
        let chosen = |first: &Info, helpers: &[Info]| {
            let mut lines = [first.clone()];
            let replaced = vote(&mut lines, helpers.to_vec());
            assert_eq!(replaced, lines[0].pv != first.pv);
            assert_eq!(lines[0].nodes, first.nodes);
            moves.iter().position(|&mv| mv == lines[0].pv[0]).unwrap()
        };
        let first = estimate(0, 10, 20);
        assert_eq!(chosen(&first, &[]), 0);
        assert_eq!(chosen(&first, &[estimate(1, 10, 20)]), 0);
        assert_eq!(chosen(&first, &[estimate(1, 11, 25)]), 1);
        assert_eq!(chosen(&first, &[estimate(1, 9, 25)]), 1);
        assert_eq!(chosen(&first, &[estimate(1, 9, 20), estimate(1, 9, 20)]), 1);
        assert_eq!(chosen(&first, &[estimate(1, 9, 20), estimate(2, 9, 20)]), 0);
        // The shortest proven win is chosen.
        assert_eq!(
            chosen(&first, &[line(1, 5, Score::win(9)), line(2, 7, Score::win(7)), line(0, 8, Score::win(8))]),
            2
        );
        assert_eq!(chosen(&line(0, 5, Score::win(5)), &[line(1, 9, Score::win(7))]), 0);
        // A thread whose score is a loss has little weight.
        assert_eq!(chosen(&line(0, 9, Score::loss(6)), &[estimate(1, 8, -300)]), 1);
        // Several lines stay.
        let mut lines = [estimate(0, 5, 10), estimate(1, 5, 5)];
        assert!(!vote(&mut lines, vec![estimate(2, 9, 90)]));
    }
}
