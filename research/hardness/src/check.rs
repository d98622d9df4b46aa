//! Decides claims about gadgets by exhaustive search, with plays as evidence.

use super::attractor::{NEVER, Ranks, ReachabilityGame, StateGraph};
use super::gadget::{Claim, Gadget, GadgetError};
use super::game::{Action, GadgetGame, State};

/// Default limit on the states of a claim, which corresponds to about 4 GB of memory.
pub const DEFAULT_BOUND: usize = 60_000_000;

/// The result for a claim.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Whether the sender's side can force the target.
    pub forced: bool,
    /// Whether the claim holds.
    pub holds: bool,
    /// Number of states explored.
    pub states: usize,
    /// Plies that the sender's side needs; `None` if it cannot force the target.
    pub plies: Option<u16>,
    /// For a prevented target, whether the preventing side can pass infinitely often. If not, the opponent can keep it
    /// busy forever. `None` with an unlimited supply, since the opponent can then lose a piece at every move.
    pub free: Option<bool>,
}

/// A claim with its game solved.
pub struct Solved {
    /// The gadget.
    pub(crate) gadget: Gadget,
    /// The solved claim.
    pub(crate) claim: Claim,
    /// The rules of the claim's game.
    pub(crate) game: GadgetGame,
    /// All states with the moves between them.
    pub(crate) graph: StateGraph,
    /// The rank of each state.
    pub(crate) ranks: Ranks,
}

impl Solved {
    /// Explores and solves the game of a claim, of at most `bound` states.
    ///
    /// # Errors
    /// If the game has more states, or the gadget is too large.
    pub fn new(gadget: &Gadget, claim: &Claim, bound: usize) -> Result<Solved, GadgetError> {
        let game = GadgetGame::new(gadget, claim)?;
        let start = game.pack(&game.start());
        let graph = StateGraph::explore(&game, &[start], bound)
            .map_err(|error| GadgetError::TooLarge { reason: error.to_string() })?;
        let ranks = graph.solve(&game, |key| game.reached(key));
        Ok(Solved { gadget: gadget.clone(), claim: claim.clone(), game, graph, ranks })
    }

    /// The result.
    #[must_use]
    pub fn result(&self) -> Checked {
        let forced = self.ranks[0] != NEVER;
        Checked {
            forced,
            holds: forced == self.claim.forced,
            states: self.graph.len(),
            plies: forced.then_some(self.ranks[0]),
            free: (!forced && !self.claim.unlimited).then(|| self.graph.can_pass_forever(&self.game, &self.ranks)),
        }
    }

    /// The rank of a state; `None` if it cannot be reached.
    #[must_use]
    pub(crate) fn rank(&self, state: &State) -> Option<u16> {
        self.graph.find(self.game.pack(state)).map(|index| self.ranks[index])
    }

    /// The best action for the side to move: the attacker takes the shortest way to the target, the defender prevents
    /// it or delays it as long as possible.
    #[must_use]
    pub(crate) fn best(&self, state: &State) -> Option<(Action, State)> {
        let attacks = self.game.attacks(self.game.pack(state));
        let mut best: Option<(u16, Action, State)> = None;
        self.game.actions(state, |action, next| {
            let Some(rank) = self.rank(&next) else { return };
            let better = best.as_ref().is_none_or(|b| if attacks { rank < b.0 } else { rank > b.0 });
            if better {
                best = Some((rank, action, next));
            }
        });
        best.map(|(_, action, next)| (action, next))
    }

    /// A play that shows the result, as lines of text, of at most `longest` plies: best moves of both sides up to the
    /// target, or the defender's answers to random attempts if the target is prevented. With `boards` it draws every
    /// position.
    #[must_use]
    pub fn play(&self, longest: usize, boards: bool) -> Vec<String> {
        let mut state = self.game.start();
        let mut lines = vec![self.game.picture(&state)];
        let mut random = 1u64;
        for ply in 1..=longest {
            let key = self.game.pack(&state);
            if self.game.reached(key) {
                lines.push(format!("reached: {}", self.claim.text));
                return lines;
            }
            let attacks = self.game.attacks(key);
            let next = if attacks && self.rank(&state) == Some(NEVER) {
                random = crate::general::solver::mix(random);
                self.attempt(&state, random)
            } else {
                self.best(&state)
            };
            let Some((action, next)) = next else { break };
            lines.push(format!("{ply:3}. {}", self.game.describe(&self.gadget, &state, action)));
            if boards {
                lines.push(self.game.picture(&next));
            }
            state = next;
        }
        if self.ranks[0] == NEVER {
            lines.push("and so on: it is never reached".to_owned());
        }
        lines
    }

    /// A random action of the attacker; a pass only if no other is legal.
    fn attempt(&self, state: &State, random: u64) -> Option<(Action, State)> {
        let mut all = Vec::new();
        self.game.actions(state, |action, next| {
            if self.rank(&next).is_some() {
                all.push((action, next));
            }
        });
        let active: Vec<_> = all.iter().filter(|(action, _)| *action != Action::Pass).copied().collect();
        let from = if active.is_empty() { all } else { active };
        (!from.is_empty()).then(|| from[(random % from.len() as u64) as usize])
    }
}

/// Decides one claim.
///
/// # Errors
/// If the game is too large.
pub fn check(gadget: &Gadget, claim: &Claim, bound: usize) -> Result<Checked, GadgetError> {
    Ok(Solved::new(gadget, claim, bound)?.result())
}
