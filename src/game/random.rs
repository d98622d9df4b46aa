//! Random moves, games and positions from a seed, for openings, self-play, measurements and tests.

use super::Game;
use crate::board::geometry::habitat;
use crate::board::{Animal, Color, Piece, Position, Rules, Setup, Square};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A stream of random choices (PCG64; O'Neill 2014), the same for the same seed on every machine.
///
/// ```
/// use doushouqi::board::{Position, Rules};
/// use doushouqi::game::random::Random;
///
/// let rules = Rules::default();
/// let position = Random::new(1).position(5, &rules);
/// assert_eq!(position.occupied().len(), 5);
/// assert_eq!(position, Random::new(1).position(5, &rules));
///
/// let game = Random::new(2).walk(&Position::start(), &rules, 40);
/// assert_eq!(game.len(), 41);
/// ```
#[derive(Clone, Debug)]
pub struct Random(Pcg64);

impl Random {
    /// The stream with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(Pcg64::seed_from_u64(seed))
    }

    /// A separate stream for each number under one seed, for instance for each game of a match.
    #[must_use]
    pub fn numbered(seed: u64, number: u64) -> Random {
        // An odd factor keeps the products distinct; this one spreads them over all words.
        Random::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A random number below `n`, all with the same probability but for less than one part in 2^15.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The seeds of published results need the upper bits for small numbers. Few bits favour the low of many numbers.
        let bits = if n <= 1 << 16 { self.bits() >> 33 } else { self.bits() };
        (bits % n as u64) as usize
    }

    /// A random item, all with the same probability; `None` if the slice is empty.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        // Not `below`: the seeds of published results need this mapping of the bits.
        items.get((self.bits() % items.len().max(1) as u64) as usize)
    }

    /// Puts a list in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, (self.bits() % (i as u64 + 1)) as usize);
        }
    }

    /// A random side.
    pub fn color(&mut self) -> Color {
        Color::ALL[self.below(2)]
    }

    /// Puts `tries` random pieces on random squares, with `turn` to move. A piece that is already on the board, or
    /// whose square is taken, is left out. `None` if a piece is on a square that it may not enter; the game may be
    /// over.
    pub fn scatter(&mut self, turn: Color, tries: usize) -> Option<Position> {
        let mut setup = Setup::empty(turn);
        for _ in 0..tries {
            let piece = Piece { color: self.color(), animal: Animal::ALL[self.below(Animal::COUNT)] };
            let square = self.below(Square::COUNT);
            if setup.squares[square].is_none() && !setup.squares.contains(&Some(piece)) {
                setup.squares[square] = Some(piece);
            }
        }
        Position::from_setup(&setup).ok()
    }

    /// A position of `count` random pieces, 2 to 16, in which the game is not over.
    ///
    /// # Panics
    /// If `count` is less than 2 or more than 16.
    #[must_use]
    pub fn position(&mut self, count: usize, rules: &Rules) -> Position {
        assert!((2..=2 * Animal::COUNT).contains(&count), "a position contains 2 to 16 pieces, not {count}");
        let mut pieces: Vec<Piece> =
            Color::ALL.iter().flat_map(|&color| Animal::ALL.map(|animal| Piece { color, animal })).collect();
        loop {
            self.shuffle(&mut pieces);
            if let Some(position) = self.placement(&pieces[..count], rules) {
                return position;
            }
        }
    }

    /// A position of these pieces in which the game is not over, with either side to move, all with the same
    /// probability. `None` if a piece occurs twice, a side has no piece, or a limited number of random placements finds
    /// no position.
    #[must_use]
    pub fn placement(&mut self, pieces: &[Piece], rules: &Rules) -> Option<Position> {
        const TRIES: usize = 100_000;
        let named_twice = pieces.iter().enumerate().any(|(i, piece)| pieces[..i].contains(piece));
        if named_twice || Color::ALL.iter().any(|&color| pieces.iter().all(|piece| piece.color != color)) {
            return None;
        }
        let squares: Vec<Vec<Square>> =
            pieces.iter().map(|piece| habitat(piece.color, piece.animal).into_iter().collect()).collect();
        (0..TRIES).find_map(|_| {
            let mut setup = Setup::empty(self.color());
            for (&piece, squares) in pieces.iter().zip(&squares) {
                let square = *self.choose(squares)?;
                if setup.squares[square.index()].replace(piece).is_some() {
                    return None;
                }
            }
            Position::from_setup(&setup).ok().filter(|position| position.outcome(rules).is_none())
        })
    }

    /// The positions of `plies` random moves, `start` first; fewer if one of them ends the game.
    #[must_use]
    pub fn walk(&mut self, start: &Position, rules: &Rules, plies: usize) -> Vec<Position> {
        let mut positions = vec![start.clone()];
        let mut position = start.clone();
        for _ in 0..plies {
            let Some(&mv) = self.choose(&position.moves(rules)) else { break };
            position = position.make(mv);
            positions.push(position.clone());
        }
        positions
    }

    /// Plays up to `plies` random moves; fewer if the game ends. It always draws `plies` random numbers, so
    /// later choices do not depend on where the game ended.
    pub fn play(&mut self, game: &mut Game, plies: usize) {
        for _ in 0..plies {
            if let Some(&mv) = self.choose(&game.legal_moves()) {
                game.play(mv).expect("it is a legal move");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_the_stream() {
        let bits = |mut random: Random| [random.bits(), random.bits()];
        assert_eq!(bits(Random::new(7)), bits(Random::new(7)));
        assert_ne!(bits(Random::new(7)), bits(Random::new(8)));
        assert_ne!(bits(Random::numbered(7, 1)), bits(Random::numbered(7, 2)));
    }

    #[test]
    fn all_numbers_below_come_up_and_no_others() {
        let mut random = Random::new(2);
        for n in 1..=20 {
            let mut times = vec![0; n];
            (0..200 * n).for_each(|_| times[random.below(n)] += 1);
            assert!(times.iter().all(|count| (130..=270).contains(count)), "{times:?}");
        }
    }

    /// Numbers below a limit of more than 31 bits reach its top, and each third comes up as often.
    #[test]
    fn numbers_below_large_limits_are_spread_evenly() {
        let mut random = Random::new(5);
        for n in [3 << 29, usize::MAX] {
            let mut thirds = [0; 3];
            (0..3000).for_each(|_| thirds[(random.below(n) / (n / 3)).min(2)] += 1);
            assert!(thirds.iter().all(|count| (880..=1120).contains(count)), "{n}: {thirds:?}");
        }
    }

    /// One more try adds one piece or none, and moves no piece.
    #[test]
    fn scattered_pieces_stay_where_they_fell() {
        let mut seen = 0;
        for seed in 0..300 {
            let pieces = |tries| Some(Random::new(seed).scatter(Color::White, tries)?.pieces().collect::<Vec<_>>());
            for tries in 1..40 {
                let (Some(before), Some(after)) = (pieces(tries), pieces(tries + 1)) else { break };
                assert!(before.iter().all(|piece| after.contains(piece)), "{before:?} {after:?}");
                assert!(after.len() <= before.len() + 1);
                seen = seen.max(after.len());
            }
        }
        assert!(seen > 8, "{seen}");
    }

    #[test]
    fn positions_have_the_pieces_asked_for_and_are_not_over() {
        let mut random = Random::new(1);
        let rules = Rules::default();
        for pieces in 2..=9 {
            let position = random.position(pieces, &rules);
            assert_eq!(position.occupied().len(), pieces);
            assert!(position.outcome(&rules).is_none());
            let named: Vec<Piece> = position.pieces().map(|(piece, _)| piece).collect();
            let again = random.placement(&named, &rules).unwrap();
            assert_eq!(again.pieces().map(|(piece, _)| piece).collect::<Vec<_>>(), named);
            assert!(again.outcome(&rules).is_none());
        }
        let all: Vec<Piece> = Position::start().pieces().map(|(piece, _)| piece).collect();
        assert_eq!(random.placement(&all, &rules).unwrap().occupied().len(), 16);
        let rat = Piece { color: Color::White, animal: Animal::Rat };
        assert_eq!(random.placement(&[rat], &rules), None);
        assert_eq!(random.placement(&[rat, rat], &rules), None);
    }

    /// A thousand random placements of two rats are spread about evenly over the ranks.
    #[test]
    fn placements_are_spread_evenly() {
        let mut random = Random::new(3);
        let rules = Rules::default();
        let rats = Color::ALL.map(|color| Piece { color, animal: Animal::Rat });
        let mut ranks = [0; 9];
        for _ in 0..1800 {
            let position = random.placement(&rats, &rules).unwrap();
            ranks[position.square_of(Color::White, Animal::Rat).unwrap().index() / 7] += 1;
        }
        // The outer ranks have slightly fewer placements: a rat's own den is forbidden, and the enemy's den ends the
        // game.
        assert!(ranks.iter().all(|count| (140..=260).contains(count)), "{ranks:?}");
    }

    #[test]
    fn walks_and_games_follow_the_rules() {
        let rules = Rules::default();
        let mut random = Random::new(4);
        let walk = random.walk(&Position::start(), &rules, 60);
        for pair in walk.windows(2) {
            assert!(pair[0].moves(&rules).iter().any(|&mv| pair[0].make(mv) == pair[1]));
        }
        let mut game = Game::new(Position::start(), rules, Some(20));
        random.play(&mut game, 1000);
        assert!(game.end().is_some());
        let mut items: Vec<u32> = (0..20).collect();
        random.shuffle(&mut items);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
