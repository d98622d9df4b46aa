//! An exact solver of reachability games: an attacker tries to reach a set of states, a defender tries to prevent it.

use crate::general::solver::mix;
use std::fmt;

/// A game on a finite graph, with states packed into words.
pub(crate) trait ReachabilityGame {
    /// Adds the states after each move to `next`; none if the game is decided.
    fn successors(&self, state: u64, next: &mut Vec<u64>);
    /// Whether the attacker is to move.
    fn attacks(&self, state: u64) -> bool;
}

/// The states reachable from a start, with the moves between them.
pub(crate) struct StateGraph {
    keys: Vec<u64>,
    slots: Vec<u32>,
    first: Vec<u32>,
    from: Vec<u32>,
    moves: Vec<u8>,
}

/// The error of a game with more states than the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TooManyStates {
    /// The bound, in states.
    pub bound: usize,
}

impl fmt::Display for TooManyStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} states", self.bound)
    }
}

impl std::error::Error for TooManyStates {}

/// For each state the number of moves of either side in which the attacker forces the target; [`NEVER`] if the defender
/// prevents it forever.
pub(crate) type Ranks = Vec<u16>;

/// The rank of a state in which the defender prevents the target.
pub(crate) const NEVER: u16 = u16::MAX;

const NONE: u32 = u32::MAX;

impl StateGraph {
    /// Finds all states reachable from `starts`, at most `bound`.
    ///
    /// # Errors
    /// If more than `bound` states are reachable.
    pub(crate) fn explore(
        game: &impl ReachabilityGame,
        starts: &[u64],
        bound: usize,
    ) -> Result<StateGraph, TooManyStates> {
        let mut graph = StateGraph {
            keys: Vec::new(),
            slots: vec![NONE; 1 << 12],
            first: Vec::new(),
            from: Vec::new(),
            moves: Vec::new(),
        };
        for &start in starts {
            graph.insert(start);
        }
        let mut edges: Vec<u32> = Vec::new();
        let mut next = Vec::new();
        let mut done = 0;
        while done < graph.keys.len() {
            next.clear();
            game.successors(graph.keys[done], &mut next);
            next.sort_unstable();
            next.dedup();
            graph.moves.push(next.len() as u8);
            for &key in &next {
                edges.push(graph.insert(key));
            }
            if graph.keys.len() > bound || edges.len() > NONE as usize - 256 {
                return Err(TooManyStates { bound });
            }
            done += 1;
        }
        graph.turn_round(&edges);
        Ok(graph)
    }

    /// Builds the predecessors of each state from the successors.
    fn turn_round(&mut self, edges: &[u32]) {
        let mut first = vec![0u32; self.keys.len() + 1];
        for &to in edges {
            first[to as usize + 1] += 1;
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let mut place = first.clone();
        let mut from = vec![0u32; edges.len()];
        let mut edge = 0;
        for (state, &count) in self.moves.iter().enumerate() {
            for &to in &edges[edge..edge + usize::from(count)] {
                from[place[to as usize] as usize] = state as u32;
                place[to as usize] += 1;
            }
            edge += usize::from(count);
        }
        (self.first, self.from) = (first, from);
    }

    /// Number of states.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The index of a state, if it is reachable.
    #[must_use]
    pub(crate) fn find(&self, key: u64) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut slot = mix(key) as usize & mask;
        while self.slots[slot] != NONE {
            if self.keys[self.slots[slot] as usize] == key {
                return Some(self.slots[slot] as usize);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    fn insert(&mut self, key: u64) -> u32 {
        if let Some(found) = self.find(key) {
            return found as u32;
        }
        if (self.keys.len() + 1) * 2 > self.slots.len() {
            self.slots = vec![NONE; self.slots.len() * 2];
            for index in 0..self.keys.len() {
                self.place(index as u32);
            }
        }
        let index = self.keys.len() as u32;
        self.keys.push(key);
        self.place(index);
        index
    }

    fn place(&mut self, index: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = mix(self.keys[index as usize]) as usize & mask;
        while self.slots[slot] != NONE {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = index;
    }

    /// The ranks of all states for a set of target states.
    pub(crate) fn solve(&self, game: &impl ReachabilityGame, target: impl Fn(u64) -> bool) -> Ranks {
        let mut ranks = vec![NEVER; self.keys.len()];
        let mut open = self.moves.clone();
        let mut queue: Vec<u32> = Vec::new();
        for (state, &key) in self.keys.iter().enumerate() {
            if target(key) {
                ranks[state] = 0;
                queue.push(state as u32);
            }
        }
        let mut done = 0;
        while done < queue.len() {
            let state = queue[done] as usize;
            done += 1;
            let rank = ranks[state].saturating_add(1).min(NEVER - 1);
            for &before in &self.from[self.first[state] as usize..self.first[state + 1] as usize] {
                let before = before as usize;
                if ranks[before] != NEVER {
                    continue;
                }
                open[before] -= 1;
                if open[before] == 0 || game.attacks(self.keys[before]) {
                    ranks[before] = rank;
                    queue.push(before as u32);
                }
            }
        }
        ranks
    }

    /// Whether the defender can prevent the target from the start and pass infinitely often. A pass is the move that
    /// changes only the lowest bit of the key, the side to move.
    pub(crate) fn can_pass_forever(&self, game: &impl ReachabilityGame, ranks: &[u16]) -> bool {
        let mut kept: Vec<bool> = ranks.iter().map(|&rank| rank == NEVER).collect();
        loop {
            let reached = self.reach_pass(game, &kept);
            if reached == kept {
                return kept[0];
            }
            if !reached[0] {
                return false;
            }
            kept = reached;
        }
    }

    /// The states from which the defender, staying in `kept`, forces a state in which it may pass.
    fn reach_pass(&self, game: &impl ReachabilityGame, kept: &[bool]) -> Vec<bool> {
        let mut reached = vec![false; kept.len()];
        let mut open = self.moves.clone();
        let mut queue = Vec::new();
        for state in 0..kept.len() {
            let key = self.keys[state];
            let decided = self.moves[state] == 0;
            let passes = !game.attacks(key) && self.find(key ^ 1).is_some_and(|next| kept[next]);
            if kept[state] && (decided || passes) {
                reached[state] = true;
                queue.push(state);
            }
        }
        while let Some(state) = queue.pop() {
            for &before in &self.from[self.first[state] as usize..self.first[state + 1] as usize] {
                let before = before as usize;
                if reached[before] || !kept[before] {
                    continue;
                }
                open[before] -= 1;
                if open[before] == 0 || !game.attacks(self.keys[before]) {
                    reached[before] = true;
                    queue.push(before);
                }
            }
        }
        reached
    }
}
