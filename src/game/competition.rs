//! The rules of competition: against loops of one side ([`Loop`]), and on draws ([`Judge`]). `docs/rules.md` has their texts.

use super::Game;
use crate::board::geometry::TRAPS;
use crate::board::{Animal, Bitboard, ByColor, Color, Judge, Loop, Move};

impl Game {
    /// The moves of one side, the last first; `skip` is 0 for the side that moved last, 1 for the side to move.
    fn moves_back(&self, skip: usize) -> impl Iterator<Item = &Move> + Clone {
        self.moves.iter().rev().skip(skip).step_by(2)
    }

    /// Whether the rules against loops forbid this move, which is legal otherwise.
    pub(super) fn is_forbidden(&self, mv: Move) -> bool {
        match self.rules.options().loop_rule {
            Loop::SevenThree => self.breaks_7_3(mv),
            Loop::SeventeenFive => self.breaks_17_5(mv),
            Loop::Servers => self.breaks_7_3(mv) || self.breaks_17_5(mv),
            Loop::None | Loop::SevenThreeLoses | Loop::FiveTwo | Loop::TwoOne | Loop::RepeatEnd => false,
        }
    }

    fn breaks_7_3(&self, mv: Move) -> bool {
        let own = self.moves_back(1).take(7).filter(|own| own.animal == mv.animal);
        let entries = own.clone().filter(|own| own.to == mv.to).count();
        let is_chased = || self.position().pass().moves(&self.rules).iter().any(|reply| reply.to == mv.from);
        entries >= 3 && !own.clone().any(is_into_trap) && !is_chased()
    }

    fn breaks_17_5(&self, mv: Move) -> bool {
        let own = self.moves_back(1).take(17);
        let squares: Bitboard = own.clone().map(|own| own.to).collect();
        own.clone().count() == 17
            && own.clone().all(|own| own.animal == mv.animal && !is_into_trap(own))
            && squares.len() <= 5
            && squares.contains(mv.to)
    }

    /// The side for which a rule against loops has decided the game by the last move.
    pub(super) fn winner_by_loop(&self) -> Option<Color> {
        let (entries, moves) = match self.rules.options().loop_rule {
            Loop::SevenThreeLoses => (4, 8),
            Loop::FiveTwo => (3, 6),
            Loop::TwoOne => (2, 3),
            Loop::RepeatEnd => return self.winner_by_repetition(),
            Loop::None | Loop::SevenThree | Loop::SeventeenFive | Loop::Servers => return None,
        };
        let (last, turn) = (self.moves.last()?, self.position().turn());
        let in_a_row = |own: &&Move| own.animal == last.animal && !TRAPS[!turn].contains(own.to);
        let own = self.moves_back(0).take(moves).take_while(in_a_row);
        (own.filter(|own| own.to == last.to).count() >= entries).then_some(turn)
    }

    /// The winner if a position of the last eight rounds has occurred again. Who moved the same animal into it has lost.
    fn winner_by_repetition(&self) -> Option<Color> {
        let (turn, here) = (self.position().turn(), self.moves.len());
        let before = (2..=16).step_by(2).map_while(|back| here.checked_sub(back));
        // How the first position came about is unknown.
        let mut same = before.filter(|&ply| ply > 0 && self.positions[ply] == *self.position());
        let earlier = self.moves[same.next()? - 1];
        Some(if self.moves[here - 1].animal == earlier.animal { turn } else { !turn })
    }

    /// The side that a draw in the current position goes to; `None` if it is a draw.
    #[must_use]
    pub fn winner_of_draw(&self) -> Option<Color> {
        let weight: fn(Animal) -> u32 = match self.rules.options().judge {
            Judge::None => return None,
            Judge::Number => |_| 1,
            Judge::Weight => weight,
        };
        let total = ByColor::from_fn(|color| {
            let own = self.position().pieces().filter(|(piece, _)| piece.color == color);
            own.map(|(piece, _)| weight(piece.animal)).sum::<u32>()
        });
        Color::ALL.into_iter().find(|&color| total[color] > total[!color])
    }

    /// Leaves the best of these moves by the rules against loops that end games: those that win at once, or else those that
    /// do not lose at once, if there are any.
    #[cfg_attr(not(feature = "search"), allow(dead_code, reason = "the search does not know these rules"))]
    pub(crate) fn keep_best_of_loops(&self, moves: &mut crate::board::MoveList) {
        if !self.rules.options().has_loop_rule() {
            return;
        }
        let (mut game, turn) = (self.clone(), self.position().turn());
        let mut rank = |mv: Move| {
            let Ok(()) = game.play(mv) else { return 0 };
            let winner = game.position().winner().or_else(|| game.winner_by_loop());
            game.undo();
            winner.map_or(1, |winner| if winner == turn { 2 } else { 0 })
        };
        let best = moves.iter().map(|&mv| rank(mv)).max();
        moves.retain(|mv| Some(rank(mv)) == best);
    }
}

fn is_into_trap(mv: &Move) -> bool {
    Color::ALL.iter().any(|&color| TRAPS[color].contains(mv.to))
}

/// The weight of an animal where draws are judged by weight.
fn weight(animal: Animal) -> u32 {
    match animal {
        Animal::Cat | Animal::Wolf | Animal::Dog | Animal::Panther => 1,
        Animal::Tiger => 2,
        Animal::Rat => 3,
        Animal::Lion => 4,
        Animal::Elephant => 5,
    }
}
