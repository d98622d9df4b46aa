//! Squares, distances and sets of squares.

use doushouqi::board::{Bitboard, File, Rank, Square};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeSet;

#[test]
fn squares_are_read_and_written() {
    for square in Square::all() {
        assert_eq!(square.to_string().parse(), Ok(square));
        assert_eq!(Square::new(square.index()), Some(square));
        assert_eq!(Square::from_coords(square.file(), square.rank()), square);
        assert_eq!(square.index(), square.rank().index() * 7 + square.file().index());
    }
    assert_eq!(Square::new(63), None);
    for (i, letter) in "abcdefg".chars().enumerate() {
        let file = letter.to_string().parse::<File>().unwrap();
        assert_eq!(
            (File::new(i), file.index(), file.letter(), file.to_string()),
            (Some(file), i, letter, letter.into())
        );
        assert_eq!(file.mirror().index(), 6 - i);
    }
    for (i, digit) in "123456789".chars().enumerate() {
        let rank = digit.to_string().parse::<Rank>().unwrap();
        assert_eq!((Rank::new(i), rank.index(), rank.number(), rank.to_string()), (Some(rank), i, i + 1, digit.into()));
        assert_eq!(rank.flip().index(), 8 - i);
    }
    assert_eq!((File::new(7), Rank::new(9)), (None, None));
    assert!(["h", "A", "`"].into_iter().all(|letter| letter.parse::<File>().is_err()));
    assert!(["0", ":", "a"].into_iter().all(|digit| digit.parse::<Rank>().is_err()));
    for text in ["", "a", "a0", "h1", "A1", "a10", "a1 ", "ä1"] {
        let error = text.parse::<Square>().unwrap_err();
        assert_eq!(error.text(), text);
        assert!(error.to_string().starts_with(&format!("{text:?} is not a square")), "{error}");
    }
}

#[test]
fn distances_are_single_steps() {
    for a in Square::all() {
        for b in Square::all() {
            let files = a.file().index().abs_diff(b.file().index());
            let ranks = a.rank().index().abs_diff(b.rank().index());
            assert_eq!((a.file().distance(b.file()), a.rank().distance(b.rank())), (files, ranks));
            assert_eq!(a.distance(b), files + ranks);
        }
    }
}

#[test]
fn sets_of_squares_are_as_sets_of_the_library() {
    const SEED: u64 = 31;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    let mut draw = || {
        let set = Bitboard::new(random.next_u64() & random.next_u64());
        (set, set.into_iter().collect::<BTreeSet<Square>>())
    };
    for _ in 0..300 {
        let ((a, slow_a), (b, slow_b)) = (draw(), draw());
        let is =
            |fast: Bitboard, slow: BTreeSet<Square>| assert!(fast.into_iter().eq(slow), "{a:?} and {b:?}: {fast:?}");
        is(a | b, &slow_a | &slow_b);
        is(a & b, &slow_a & &slow_b);
        is(a ^ b, &slow_a ^ &slow_b);
        is(a - b, &slow_a - &slow_b);
        let assigned = |assign: fn(&mut Bitboard, Bitboard)| {
            let mut set = a;
            assign(&mut set, b);
            set
        };
        assert_eq!(assigned(|set, b| *set |= b), a | b);
        assert_eq!(assigned(|set, b| *set &= b), a & b);
        assert_eq!(assigned(|set, b| *set ^= b), a ^ b);
        assert_eq!(assigned(|set, b| *set -= b), a - b);
        is(!a, &Square::all().collect::<BTreeSet<_>>() - &slow_a);
        is(a.mirror(), slow_a.iter().map(|s| s.mirror()).collect());
        is(a.flip(), slow_a.iter().map(|s| s.flip()).collect());
        is(a.rotate(), slow_a.iter().map(|s| s.rotate()).collect());
        assert_eq!((a.len(), a.is_empty()), (slow_a.len(), slow_a.is_empty()));
        assert_eq!((a.first(), a.last()), (slow_a.first().copied(), slow_a.last().copied()));
        assert!(a.into_iter().rev().eq(slow_a.iter().rev().copied()));
        assert_eq!(a.into_iter().len(), a.len());
        assert_eq!(a.to_string().parse(), Ok(a));
        for square in Square::all() {
            let (mut more, mut less) = (a, a);
            assert_eq!(a.contains(square), slow_a.contains(&square));
            assert_eq!(more.insert(square), !a.contains(square));
            assert_eq!(less.remove(square), a.contains(square));
            assert_eq!((more, less), (a.with(square), a.without(square)));
            assert_eq!((more, less), (a | square.into(), a - square.into()));
        }
    }
    for square in Square::all() {
        assert_eq!(Bitboard::from(square.file()) & Bitboard::from(square.rank()), square.into());
    }
    for wrong in ["11", "1 x", &".".repeat(62), &".".repeat(64), &"x".repeat(63)] {
        let error = wrong.parse::<Bitboard>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{wrong:?} is not a set of squares: expected 63 marks, 1 for a square of the set and . for any other"
            )
        );
    }
}
