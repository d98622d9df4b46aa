//! The squares of a position's pieces in one register. Probes sort, reflect and compare them. In memory, a load of all
//! bytes would stall after the stores of single bytes.

use crate::board::Square;

/// A list of up to eight squares, a byte each, the first in the highest byte, so that lists compare as numbers.
/// Bytes after the last square have no meaning.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Squares(u64);

/// A mask of every second byte.
const EVEN: u64 = 0x00ff_00ff_00ff_00ff;

impl Squares {
    /// The list of these squares.
    #[inline]
    pub(crate) fn of(squares: impl Iterator<Item = Square>) -> Squares {
        squares.enumerate().fold(Squares::default(), |list, (place, square)| list.with(place, square.index() as u8))
    }

    /// The number of the square at a place below 8.
    #[inline]
    pub(crate) fn get(self, place: usize) -> u8 {
        (self.0 >> shift(place)) as u8
    }

    /// The list with a square at a place below 8, whose byte must be 0.
    #[inline]
    pub(crate) fn with(self, place: usize, square: u8) -> Squares {
        Squares(self.0 | u64::from(square) << shift(place))
    }

    /// The first `count` squares.
    #[inline]
    pub(crate) fn iter(self, count: usize) -> impl Iterator<Item = u8> {
        (0..count).map(move |place| self.get(place))
    }

    /// The first `count` squares as a number, in the lexicographic order of lists.
    #[inline]
    pub(crate) fn number(self, count: usize) -> u64 {
        self.0.checked_shr(u64::BITS - 8 * count as u32).unwrap_or(0)
    }

    /// The squares after a reflection in the d-file.
    #[inline]
    pub(crate) fn reflected(self) -> Squares {
        // A square s on the rank r = s / 7 becomes 14 r + 6 - s, and s / 7 is 37 s / 256 for all squares.
        let of = |squares: u64| 14 * ((37 * squares) >> 8 & EVEN) + (EVEN / 0xff * 6) - squares;
        Squares(of(self.0 & EVEN) | of(self.0 >> 8 & EVEN) << 8)
    }

    /// The list after a sorting network: of each pair of places in turn, the greater square goes to the second place.
    #[inline]
    pub(crate) fn sorted(mut self, exchanges: &[(u8, u8)]) -> Squares {
        for &(first, second) in exchanges {
            let [first, second] = [first, second].map(usize::from);
            let (a, b) = (self.get(first), self.get(second));
            let change = u64::from(if a > b { a ^ b } else { 0 });
            self.0 ^= change << shift(first) | change << shift(second);
        }
        self
    }
}

#[inline]
fn shift(place: usize) -> u32 {
    56 - 8 * (place as u32 % 8)
}

/// The sorting network that sorts the squares at these places: the comparisons of insertion sort.
pub(crate) fn exchanges(places: &[usize]) -> Vec<(u8, u8)> {
    let pairs = |last: usize| (0..last).rev().map(move |at| (places[at] as u8, places[at + 1] as u8));
    (1..places.len()).flat_map(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::random::Random;

    #[test]
    fn lists_are_sorted_reflected_and_compared() {
        let mut random = Random::numbered(3, 0);
        for _ in 0..2000 {
            let list: Vec<Square> = (0..8).map(|_| Square::new(random.below(63)).unwrap()).collect();
            let squares = Squares::of(list.iter().copied());
            let is_list = |squares: Squares, list: &[Square]| {
                assert!(squares.iter(list.len()).eq(list.iter().map(|square| square.index() as u8)), "{list:?}");
            };
            is_list(squares, &list);
            is_list(squares.reflected(), &list.iter().map(|square| square.mirror()).collect::<Vec<_>>());
            let places = [1, 2, 4, 7];
            let mut sorted: Vec<Square> = places.iter().map(|&place: &usize| list[place]).collect();
            sorted.sort();
            let mut expected = list.clone();
            places.iter().zip(sorted).for_each(|(&place, square)| expected[place] = square);
            is_list(squares.sorted(&exchanges(&places)), &expected);
            for count in 0..=8 {
                let (one, other) = (squares.number(count), squares.reflected().number(count));
                let reflected: Vec<Square> = list.iter().map(|square| square.mirror()).collect();
                assert_eq!(one.cmp(&other), list[..count].cmp(&reflected[..count]), "{list:?}");
            }
        }
    }
}
