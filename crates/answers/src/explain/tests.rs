use super::*;
use crate::class_cache::ClassCache;
use doushouqi::board::Piece;
use doushouqi::game::random::Random;
use doushouqi::tablebase::Classes;

const RULES: RuleOptions = RuleOptions::PAPER;

/// The tables of three pieces, and the explanations that are checked with them.
struct Explained {
    tables: RuleTables,
    pool: Arc<ThreadPool>,
    trees: Trees,
    stop: AtomicBool,
}

impl Explained {
    fn new() -> Explained {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
        let (stop, cache) = (AtomicBool::new(false), Arc::new(ClassCache::new(1 << 30)));
        let tables = RuleTables::new(RULES, None, None, pool.clone(), cache, &stop).unwrap();
        Explained { tables, pool, trees: Trees::default(), stop }
    }

    fn tables(&self) -> RequestTables<'_> {
        RequestTables::new(&self.tables, RULES, &self.stop)
    }

    fn report(&self, position: &Position) -> TreeReport {
        self.trees.report(&self.pool, &self.tables(), position).unwrap()
    }

    /// Checks the reasons for the result of a position.
    fn check(&self, position: &Position) {
        let report = self.report(position);
        let text = format!("{}: {}", position.to_fen(), report.sentence);
        let (turn, value) = (position.turn(), report.value.unwrap().wdl);
        let winner = match value {
            Wdl::Win => Some(turn),
            Wdl::Draw => None,
            Wdl::Loss => Some(!turn),
        };
        let result = winner.map_or("The position is a draw".to_owned(), |winner| format!("{winner} wins"));
        assert!(report.sentence.starts_with(&result), "{text}");
        let for_sides = |clauses: &[ClauseReport]| -> Vec<Option<Color>> {
            clauses
                .iter()
                .map(|clause| side_of(clause).unwrap_or_else(|| panic!("{clause:?} is no reason: {text}")))
                .collect()
        };
        let (because, although) = (for_sides(&report.clauses), for_sides(&report.although));
        assert!(because.len() <= 2 && although.len() <= 2, "{text}");
        assert!(because.is_empty() || although.is_empty(), "{text}");
        let all = report.clauses.iter().chain(&report.although);
        assert!(all.clone().all(|clause| report.sentence.contains(&clause.text)), "{text}");
        let counted = |side: Color| because.iter().filter(|&&named| named == Some(side)).count();
        match winner {
            Some(winner) => {
                assert_eq!(counted(!winner), 0, "{text}");
                assert!(although.iter().all(|&side| side == Some(!winner)), "{text}");
            }
            None => assert_eq!(counted(Color::White), counted(Color::Black), "{text}"),
        }
        assert_eq!(report.sentence.contains("because"), !because.is_empty(), "{text}");
        assert_eq!(report.sentence.contains("although"), !although.is_empty(), "{text}");
    }
}

/// The side that a clause speaks for, from its data alone: `Some(None)` for neither, `None` if it is no reason.
fn side_of(clause: &ClauseReport) -> Option<Option<Color>> {
    let piece = |i: usize| Piece::from_letter(clause.pieces[i]).unwrap();
    let own = || match clause.side {
        Some("white") => Color::White,
        Some(_) => Color::Black,
        None => piece(0).color,
    };
    let number = clause.numbers.first().copied().unwrap_or_default();
    Some(match clause.key {
        "closest.nearer" | "closest.as_near" | "unopposed.yes" | "can_cross.yes" | "den.at_most" | "takes.yes" => {
            Some(own())
        }
        "unopposed.no" | "can_cross.no" | "den.more_than" | "trapped.yes" => Some(!own()),
        "lead.more_than" | "margin.more_than" if number >= 0 => Some(own()),
        "lead.at_most" | "margin.at_most" if number < 0 => Some(!own()),
        "rank.one" | "rank.several" => {
            let (from, to) = match own() {
                Color::White => (clause.numbers[0], clause.numbers[1]),
                Color::Black => (10 - clause.numbers[1], 10 - clause.numbers[0]),
            };
            match (from >= 6, to <= 4) {
                (true, _) => Some(own()),
                (_, true) => Some(!own()),
                _ => return None,
            }
        }
        "chase.at_most" | "chase.more_than" => {
            let (hunter, prey) = (piece(0), piece(1));
            let takes = RULES.may_capture(hunter.color, hunter.animal, Square::A4, prey.animal, Square::A5);
            takes.then(|| if clause.key == "chase.at_most" { hunter.color } else { prey.color })
        }
        key if ["own_den.", "apart.", "parity.", "adjacent.", "wing.", "wet.", "ahead.", "beside."]
            .iter()
            .any(|neutral| key.starts_with(neutral)) =>
        {
            None
        }
        _ => return None,
    })
}

/// Positions of a material with either side to move: all of two pieces, and some of more.
fn positions(material: Material, some: usize) -> Vec<Position> {
    let rules = Rules::new(RULES);
    if material.len() == 2 {
        let index = doushouqi::tablebase::Index::new(material, &RULES).unwrap();
        let all = Color::ALL.into_iter().flat_map(|turn| (0..index.cells()).map(move |cell| (cell, turn)));
        return all.filter_map(|(cell, turn)| index.position(cell, turn)).collect();
    }
    let (mut random, pieces) = (Random::new(17), material.pieces().collect::<Vec<_>>());
    (0..some).filter_map(|_| random.placement(&pieces, &rules)).collect()
}

fn classes(pieces: usize) -> Vec<Material> {
    Classes::new(&RULES, pieces).level(pieces).map(|(_, class)| class.representative).collect()
}

#[test]
fn reasons_do_not_contradict_the_result() {
    let explained = Explained::new();
    for fen in ["7/7/7/r6/7/7/P6/7/6C w", "7/7/4t2/7/7/6L/4R2/7/7 w"] {
        explained.check(&Position::from_fen(fen).unwrap());
    }
    let mut some = classes(3);
    Random::new(5).shuffle(&mut some);
    for material in classes(2).into_iter().chain(some.into_iter().take(3)) {
        positions(material, 1500).iter().step_by(5).for_each(|position| explained.check(position));
    }
}

#[test]
#[ignore = "takes minutes"]
fn reasons_do_not_contradict_the_result_in_any_class() {
    let explained = Explained::new();
    for material in classes(2).into_iter().chain(classes(3)) {
        positions(material, 2000).iter().for_each(|position| explained.check(position));
    }
}

/// A lion that draws against two animals is the defender, whichever side needs fewer squares.
#[test]
fn a_draw_is_held_by_the_weaker_side() {
    let explained = Explained::new();
    let start = Position::from_fen("1p2t2/7/7/7/7/7/1L5/7/7 w").unwrap();
    for (position, defender) in [(start.clone(), Color::White), (start.swap_colors(), Color::Black)] {
        let found = fortress(&explained.tables(), &position).unwrap();
        assert_eq!(found.defender, Some(defender.name()), "{}", found.sentence);
        assert!(found.sentence.starts_with(&defender.to_string()), "{}", found.sentence);
    }
}

/// In drawn positions of four pieces, three against one, the one holds the draw.
#[test]
#[ignore = "takes minutes"]
fn a_draw_of_four_pieces_is_held_by_the_single_piece() {
    let explained = Explained::new();
    let (mut random, mut seen) = (Random::new(23), 0);
    let all: Vec<Material> = Material::all(4).into_iter().filter(|all| all.side(Color::White).len() != 2).collect();
    while seen < 2000 {
        let material = *random.choose(&all).unwrap();
        for position in positions(material, 40) {
            let found = fortress(&explained.tables(), &position).unwrap();
            let single = if material.side(Color::White).len() == 1 { Color::White } else { Color::Black };
            let is_right = found.defender.is_none_or(|defender| defender == single.name());
            assert!(is_right, "{}: {}", position.to_fen(), found.sentence);
            seen += 1;
        }
    }
}
