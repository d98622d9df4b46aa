//! The openings of a match.

use doushouqi::board::{Animal, Color, Fen, Move, ParseFenError, Position, Rules};
use doushouqi::game::random::Random;
use doushouqi::game::{Game, ParseRecordError, Record};
use doushouqi::tablebase::AnimalSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use thiserror::Error;

/// Half of the built-in book of biased openings, written by `dsq-lab openings`; the other half are the mirror images.
const BIASED: &str = include_str!("biased.epd");

/// The built-in book. A mirror image is another opening for the search, whose order of moves has no symmetry.
fn biased() -> Result<Openings, OpeningsError> {
    let mirrored = |line: &str| {
        let (board, rest) = line.split_once(' ')?;
        let ranks: Vec<String> = board.split('/').map(|rank| rank.chars().rev().collect()).collect();
        Some(format!("{} {rest}\n", ranks.join("/")))
    };
    let images: String = BIASED.lines().filter(|line| !line.starts_with('#')).filter_map(mirrored).collect();
    Openings::book("biased", &format!("{BIASED}{images}"), 0)
}

/// The openings of a match. Their text is `start`, `random:PLIES:SEED`, `without:ANIMALS:PLIES:SEED` or `biased`;
/// [`Openings::book`] parses a book. `biased` is a built-in book of positions in which one side stands clearly better ([`crate::BiasedOpenings`]), and then
/// their mirror images.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Openings {
    /// Every game begins in the initial position.
    Start,
    /// Every pair of games begins after its own random legal moves from the initial position.
    Random {
        /// The number of moves.
        plies: u32,
        /// The seed of the moves.
        seed: u64,
    },
    /// A handicap: the first player lacks some animals. Every pair of games begins after its own random legal moves of the
    /// other animals, which capture nothing; then the first player's are taken from their home squares.
    Without {
        /// The animals, at most all but one.
        animals: AnimalSet,
        /// The number of moves.
        plies: u32,
        /// The seed of the moves.
        seed: u64,
    },
    /// Every pair of games begins with the next opening of a list, which repeats from the start.
    Book {
        /// The name in reports.
        name: String,
        /// The openings; at least one.
        openings: Arc<[Opening]>,
    },
}

/// One opening of a book: a position and moves from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The first position with its halfmove clock.
    pub start: Fen,
    /// The moves.
    pub moves: Vec<Move>,
}

/// Why openings cannot be read or played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpeningsError {
    /// The text names no openings.
    #[error(
        "{text:?} is not an opening: write start, biased, random:PLIES:SEED with at most {} plies, as in random:8:1, or \
         without:ANIMALS:PLIES:SEED, as in without:R:8:1",
        Openings::MAX_PLIES
    )]
    Text {
        /// The text.
        text: String,
    },
    /// A line of a book is not a position.
    #[error("line {line}: {error}")]
    Fen {
        /// The number of the line, from 1.
        line: usize,
        /// The error in the position.
        error: ParseFenError,
    },
    /// A book is not a list of saved games.
    #[error(transparent)]
    Games(#[from] ParseRecordError),
    /// A book contains no opening.
    #[error("there is no opening: write one FEN on each line, or saved games")]
    Empty,
    /// Every attempt at this number of random plies ends the game.
    #[error("every try of {plies} random plies ends the game; use fewer plies")]
    Random {
        /// The number of plies.
        plies: u32,
    },
    /// An opening of a book is not legal under the rules of the match, or ends the game.
    #[error("opening {number} of {book} {problem}")]
    Book {
        /// The name of the book.
        book: String,
        /// The number of the opening, from 1.
        number: usize,
        /// The error, as the end of a sentence.
        problem: String,
    },
}

impl Openings {
    const MAX_PLIES: u32 = 200;

    /// Parses a book: one FEN on each line, optionally followed by a halfmove clock and EPD operations (`FEN id
    /// "name";`), or saved games ([`Record`]), whose first `plies` plies are the opening. Of the operations, `hmvc` is
    /// the halfmove clock; the others have no effect. Empty lines and lines that begin with `#` are skipped, and a byte
    /// order mark at the beginning.
    ///
    /// ```
    /// use matches::Openings;
    /// let book = Openings::book("mine", "7/7/3e3/7/7/7/3E3/7/7 w id \"elephants\";\n", 8)?;
    /// assert_eq!(book.to_string(), "mine (1)");
    /// # Ok::<(), matches::OpeningsError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is neither a list of positions nor of games, or contains no opening.
    pub fn book(name: &str, text: &str, plies: usize) -> Result<Openings, OpeningsError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let first = text.trim_start();
        let openings: Vec<Opening> = if first.starts_with('[') || first.starts_with("1.") {
            let opening = |record: Record| {
                let moves = record.game.moves().iter().take(plies).copied().collect();
                Opening { start: record.game.start_fen(), moves }
            };
            Record::parse_all(text)?.into_iter().map(opening).collect()
        } else {
            let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
            lines
                .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
                .map(|(line, text)| {
                    let start = parse_epd(text).map_err(|error| OpeningsError::Fen { line, error })?;
                    Ok(Opening { start, moves: Vec::new() })
                })
                .collect::<Result<_, OpeningsError>>()?
        };
        if openings.is_empty() {
            return Err(OpeningsError::Empty);
        }
        Ok(Openings::Book { name: name.to_owned(), openings: openings.into() })
    }

    /// The seed of all random choices in a match.
    #[must_use]
    pub fn seed(&self) -> u64 {
        match self {
            Openings::Start | Openings::Book { .. } => 0,
            Openings::Random { seed, .. } | Openings::Without { seed, .. } => *seed,
        }
    }

    /// The opening of a game, counted from 0. Games 2k and 2k + 1 are a pair; the first player is White in the first one. The
    /// game is not over; the result depends only on the arguments.
    ///
    /// # Errors
    /// If every try of random moves ends the game, or the opening of the book is not legal or ends the game.
    pub fn game(&self, number: u64, rules: &Rules, no_capture_limit: Option<u32>) -> Result<Game, OpeningsError> {
        let pair = number / 2;
        match self {
            Openings::Start => Ok(Game::new(Position::start(), rules.clone(), no_capture_limit)),
            Openings::Random { plies, seed } => {
                let start = Game::new(Position::start(), rules.clone(), no_capture_limit);
                let mut random = Random::numbered(*seed, pair);
                let games = (0..1000).map(|_| {
                    let mut game = start.clone();
                    random.play(&mut game, *plies as usize);
                    game
                });
                games.into_iter().find(|game| game.end().is_none()).ok_or(OpeningsError::Random { plies: *plies })
            }
            Openings::Without { animals, plies, seed } => {
                let first = Color::ALL[(number % 2) as usize];
                let mut random = Random::numbered(*seed, pair);
                (0..1000)
                    .find_map(|_| without(*animals, first, &mut random, *plies, rules))
                    .map(|position| Game::new(position, rules.clone(), no_capture_limit))
                    .ok_or(OpeningsError::Random { plies: *plies })
            }
            Openings::Book { name, openings } => {
                let number = (pair % openings.len() as u64) as usize;
                let wrong = |problem: String| OpeningsError::Book { book: name.clone(), number: number + 1, problem };
                let Opening { start, moves } = &openings[number];
                let mut game = Game::from_fen(start.clone(), rules.clone(), no_capture_limit);
                for &mv in moves {
                    game.play(mv).map_err(|error| wrong(format!("cannot be played: {error}")))?;
                }
                if game.end().is_some() { Err(wrong("ends the game".to_owned())) } else { Ok(game) }
            }
        }
    }

    /// The number of openings, after which they repeat; `None` if it is not limited.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        match self {
            Openings::Start => Some(1),
            Openings::Random { .. } | Openings::Without { .. } => None,
            Openings::Book { openings, .. } => Some(openings.len() as u64),
        }
    }

    /// Checks that the openings of the first `pairs` pairs can be played; for random openings only the first one.
    ///
    /// # Errors
    /// As [`Openings::game`].
    pub fn check(&self, pairs: u64, rules: &Rules, no_capture_limit: Option<u32>) -> Result<(), OpeningsError> {
        (0..pairs.max(1).min(self.count().unwrap_or(1)))
            .try_for_each(|pair| self.game(2 * pair, rules, no_capture_limit).map(|_| ()))
    }
}

/// The position after random moves of the other animals, without those of `first`; `None` if there are fewer moves or the game
/// is over.
fn without(animals: AnimalSet, first: Color, random: &mut Random, plies: u32, rules: &Rules) -> Option<Position> {
    let mut position = Position::start();
    for _ in 0..plies {
        let is_quiet = |mv: &&Move| !animals.contains(mv.animal) && position.piece_at(mv.to).is_none();
        let quiet: Vec<Move> = position.moves(rules).iter().filter(is_quiet).copied().collect();
        position = position.make(*random.choose(&quiet)?);
        position.outcome(rules).is_none().then_some(())?;
    }
    let mut setup = position.to_setup();
    let taken = |animal: Animal| animals.contains(animal).then(|| position.square_of(first, animal)).flatten();
    Animal::ALL.into_iter().filter_map(taken).for_each(|square| setup.squares[square.index()] = None);
    Position::from_setup(&setup).ok().filter(|position| position.outcome(rules).is_none())
}

/// Parses a position with its halfmove clock and the EPD operation for it.
fn parse_epd(text: &str) -> Result<Fen, ParseFenError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_counter = |word: &&&str| **word == "-" || word.bytes().all(|b| b.is_ascii_digit());
    let fields = words.iter().skip(2).take_while(is_counter).count() + 2;
    // Without a semicolon at the end there are no operations, and further words are an error.
    if !text.ends_with(';') || fields >= words.len() {
        return text.trim_end_matches(';').parse();
    }
    let mut fen: Fen = words[..fields].join(" ").parse()?;
    let operations = words[fields..].join(" ");
    let unquoted: Vec<&str> = operations.split('"').step_by(2).collect();
    for operation in unquoted.join("\"").split(';') {
        let mut words = operation.split_whitespace();
        match words.next() {
            Some("hmvc") => {
                let found = words.collect::<Vec<_>>().join(" ");
                let clock = found.parse().ok().filter(|&clock| clock <= Fen::MAX_HALFMOVE_CLOCK);
                // Two clocks must agree.
                let clock = clock.filter(|&clock| fen.halfmove_clock == 0 || fen.halfmove_clock == clock);
                fen.halfmove_clock = clock.ok_or(ParseFenError::HalfmoveClock { found })?;
            }
            Some(word) if !word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') => {
                return Err(ParseFenError::TrailingText { found: word.to_owned() });
            }
            _ => {}
        }
    }
    Ok(fen)
}

impl fmt::Display for Openings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Openings::Start => f.write_str("start"),
            Openings::Random { plies, seed } => write!(f, "random:{plies}:{seed}"),
            Openings::Without { animals, plies, seed } => write!(f, "without:{animals}:{plies}:{seed}"),
            Openings::Book { name, openings } => write!(f, "{name} ({})", openings.len()),
        }
    }
}

impl FromStr for Openings {
    type Err = OpeningsError;

    fn from_str(text: &str) -> Result<Openings, OpeningsError> {
        let parts: Vec<&str> = text.split(':').collect();
        let moves = |plies: &str, seed: &str| {
            plies.parse().ok().filter(|&plies| plies <= Openings::MAX_PLIES).zip(seed.parse().ok())
        };
        let parsed = match parts[..] {
            ["start"] => Some(Openings::Start),
            ["biased"] => biased().ok(),
            ["random", plies, seed] => moves(plies, seed).map(|(plies, seed)| Openings::Random { plies, seed }),
            ["without", animals, plies, seed] => {
                let animals = animals.parse().ok().filter(|animals: &AnimalSet| animals.len() < Animal::COUNT);
                let game = animals.zip(moves(plies, seed));
                game.map(|(animals, (plies, seed))| Openings::Without { animals, plies, seed })
            }
            _ => None,
        };
        parsed.ok_or_else(|| OpeningsError::Text { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(text: &str, plies: usize) -> Result<Openings, OpeningsError> {
        Openings::book("book", text, plies)
    }

    #[test]
    fn books_are_positions_or_games() {
        let rules = Rules::default();
        let text = "# elephants\n7/7/3e3/7/7/7/3E3/7/7 w\n\n7/7/3e3/7/7/7/3E3/7/7 b 12 id \"a; b\";\n";
        let openings = book(text, 8).unwrap();
        let fen = |pair: u64| openings.game(2 * pair + 1, &rules, Some(100)).unwrap().fen().to_string();
        let both = ["7/7/3e3/7/7/7/3E3/7/7 w", "7/7/3e3/7/7/7/3E3/7/7 b 12"];
        assert_eq!([fen(0), fen(1), fen(2)], [both[0], both[1], both[0]]);
        let games = "[White \"a\"]\n\n1. Eb3 rb7 2. Ea3 *\n\n1. Eb3 *\n";
        let openings = book(games, 2).unwrap();
        let moves = |pair: u64| openings.game(2 * pair, &rules, None).unwrap().moves().len();
        assert_eq!([moves(0), moves(1), moves(2)], [2, 1, 2]);
        for text in [text, games] {
            assert_eq!(book(&format!("\u{feff}{text}"), 2), book(text, 2));
        }
        assert_eq!(openings.check(10, &rules, None), Ok(()));
        assert_eq!(openings.to_string(), "book (2)");
    }

    #[test]
    fn wrong_books_are_refused() {
        assert_eq!(book("\n# nothing\n", 8), Err(OpeningsError::Empty));
        assert!(matches!(book("7/7/3e3/7/7/7/3E3/7/7 w\n7/7 w", 8), Err(OpeningsError::Fen { line: 2, .. })));
        assert!(matches!(book("7/7/3e3/7/7/7/3E3/7/7 w id \"x\"", 8), Err(OpeningsError::Fen { line: 1, .. })));
        assert!(matches!(book("[White \"a\"]\n\n1. Eb9 *\n", 8), Err(OpeningsError::Games(_))));
        for operations in ["hmvc abc;", "hmvc;", "hmvc -1;", "hmvc 5 6;", "id \"a\"; hmvc x;", "12; hmvc 12;"] {
            let text = format!("7/7/3e3/7/7/7/3E3/7/7 w {operations}");
            assert!(matches!(book(&text, 8), Err(OpeningsError::Fen { line: 1, .. })), "{operations}");
        }
        assert!(book("7/7/3e3/7/7/7/3E3/7/7 w 12 hmvc 13;", 8).is_err(), "two clocks");
        let over = book("3E3/7/3e3/7/7/7/7/7/7 b", 8).unwrap();
        assert!(matches!(over.check(1, &Rules::default(), None), Err(OpeningsError::Book { number: 1, .. })));
    }

    /// A position of which the clock is an EPD operation.
    #[test]
    fn epd_has_a_halfmove_clock() {
        for (operations, clock) in [
            ("hmvc 98;", 98),
            ("98 hmvc 98;", 98),
            ("id \"a; hmvc 5;\"; hmvc 98;", 98),
            ("bm Ed4; hmvc 0; ce 3;", 0),
            ("hmvcx 4; id \"hmvc 9\";", 0),
            ("12 id \"a\";", 12),
        ] {
            let openings = book(&format!("7/7/3e3/7/7/7/3E3/7/7 w {operations}"), 8).unwrap();
            let game = openings.game(0, &Rules::default(), Some(100)).unwrap();
            assert_eq!(game.halfmove_clock(), clock, "{operations}");
        }
    }

    /// Both games of a pair have the same position but for the animals that the first player lacks, White in the first game.
    #[test]
    fn handicaps_change_sides() {
        let rules = Rules::default();
        for (text, missing) in [("without:RL:8:1", "LR"), ("without:e:5:2", "E"), ("without::8:1", "")] {
            let openings: Openings = text.parse().unwrap();
            let mut seen = std::collections::HashSet::new();
            for pair in 0..50 {
                let both = [2 * pair, 2 * pair + 1].map(|number| openings.game(number, &rules, Some(100)).unwrap());
                let pieces = both.each_ref().map(|game| game.position().pieces().collect::<Vec<_>>());
                assert!(both.iter().all(|game| game.end().is_none() && game.halfmove_clock() == 0), "{text}");
                for (color, (has, lacks)) in Color::ALL.into_iter().zip([(1, 0), (0, 1)]) {
                    let of = |game: usize| pieces[game].iter().filter(move |(piece, _)| piece.color == color);
                    assert!(of(lacks).all(|piece| of(has).any(|other| other == piece)), "{text} {pair}");
                    let gone: Vec<_> = of(has).filter(|piece| of(lacks).all(|other| other != *piece)).collect();
                    assert!(gone.len() == missing.len() && of(has).count() == Animal::COUNT, "{text} {pair}");
                    for (piece, square) in gone {
                        assert!(missing.contains(piece.animal.letter()));
                        assert_eq!(Position::start().square_of(color, piece.animal), Some(*square));
                    }
                }
                seen.insert(both[0].fen().to_string());
            }
            assert!(seen.len() > 45, "{text}: {}", seen.len());
        }
        for wrong in ["without:ELTPDWCR:8:1", "without:RR:8:1", "without:X:8:1", "without:R:201:1", "without:R:8"] {
            assert!(wrong.parse::<Openings>().unwrap_err().to_string().contains("without:R:8:1"), "{wrong}");
        }
    }

    #[test]
    fn what_is_displayed_is_parsed() {
        let animals = AnimalSet::EMPTY.with(Animal::Rat).with(Animal::Lion);
        for openings in [
            Openings::Start,
            Openings::Random { plies: 0, seed: 3 },
            Openings::Random { plies: 200, seed: u64::MAX },
            Openings::Without { animals, plies: 8, seed: 2 },
        ] {
            assert_eq!(openings.to_string().parse::<Openings>().unwrap(), openings);
        }
    }
}
