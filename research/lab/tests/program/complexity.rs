//! The hardness proof as a program: gadgets against their lemmas, formulas, circuits, and games on the board.

use crate::program;

use doushouqi::board::Color;
use hardness::measure::{self, all_formulas, random_formula, winner_by};
use hardness::opponent::Style;
use hardness::play::{Reduction, SolvedClaims};
use hardness::{
    Circuit, Formula, Gadget, GadgetError, GadgetKind, Layout, Solved, catalog, check, crossover, gadget, gadgets,
    half_crossover, reachable,
};

/// The maximum number of states of a claim in the short test. Larger claims take seconds and are left to the long test.
const QUICK: usize = 400_000;

fn parse(text: &str) -> Gadget {
    Gadget::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn source(file: &str) -> &'static str {
    catalog::FILES.iter().find(|(name, _)| *name == file).expect("a file of the catalog").1
}

/// The first small claim that does not hold.
fn refuted(gadget: &Gadget) -> Option<String> {
    let fails = |claim: &&hardness::Claim| check(gadget, claim, QUICK).is_ok_and(|checked| !checked.holds);
    gadget.claims.iter().find(fails).map(|claim| claim.text.clone())
}

#[test]
fn every_lemma_holds() {
    let (mut states, mut large) = (0, 0);
    for gadget in gadgets() {
        for claim in &gadget.claims {
            match check(&gadget, claim, QUICK) {
                Ok(checked) => {
                    assert!(checked.holds, "{}: {}", gadget.name, claim.text);
                    // The preventing side can pass infinitely often, unless the supply of pieces is unlimited.
                    assert_ne!(checked.free, Some(false), "{}: {}", gadget.name, claim.text);
                    states += checked.states;
                }
                Err(GadgetError::TooLarge { .. }) => large += 1,
                Err(error) => panic!("{}: {}: {error}", gadget.name, claim.text),
            }
        }
    }
    assert!(states > 1_000_000, "{states}");
    // Four forced claims, of which smaller ones state at least as much, and one of three panthers at two edge protectors.
    assert_eq!(large, 5, "claims for the long test");
}

#[test]
#[ignore = "half a minute, 3 GB: ./test every_lemma -- --ignored, or dsq-lab gadgets check"]
fn every_lemma_holds_with_nothing_left_out() {
    for gadget in gadgets() {
        for claim in &gadget.claims {
            let checked = check(&gadget, claim, usize::MAX).unwrap();
            assert!(checked.holds, "{}: {}", gadget.name, claim.text);
        }
    }
}

#[test]
fn a_broken_gadget_is_refuted() {
    // Removed traps, removed or changed pieces, added walls.
    let cases = [
        ("white-edge.txt", "~.^.~\n~^C^~\n~.^.~\n", "~...~\n~.C.~\n~...~\n"),
        ("white-edge.txt", "~^C^~", "~^.^~"),
        ("black-edge.txt", "~.vdv.~", "~.vd..~"),
        ("black-edge.txt", "~.vdv.~", "~.v.v.~"),
        ("fanout.txt", "~Pv..~", "~P...~"),
        ("fanout.txt", "~vd..~", "~v...~"),
        ("choice.txt", "~...~\n~~.~~", "~.~.~\n~~.~~"),
        ("start.txt", "~.p.~\n~.P.~", "~...~\n~.P.~"),
        ("den.txt", "~~d~~", "~~.~~"),
        ("and.txt", "~.e.~", "~.c.~"),
        ("outflow-upright.txt", "~.^P~", "~.^.~"),
        ("outflow-upright.txt", "~.e.~", "~...~"),
        ("variable.txt", "~.p.~\n~.P.~", "~.p.~\n~p.P~"),
        ("double-white-edge.txt", "~^C^~", "~^.^~"),
        ("double-white-edge.txt", "~~.~~\n~~.~~", "~~.~~\n~.e.~"),
        ("white-edge-both.txt", "~.e.~", "~...~"),
        ("black-edge-both.txt", "~~.E.~~", "~~...~~"),
    ];
    for (file, from, to) in cases {
        let text = source(file);
        assert!(text.contains(from), "{file}: {from}");
        let broken = parse(&text.replacen(from, to, 1));
        assert!(refuted(&broken).is_some(), "{file} with {to:?} is not refuted");
    }
}

/// Whether the target of a claim can be forced, even if the claim says that it is prevented.
fn is_forced(file: &str, claim: &str) -> bool {
    let gadget = parse(source(file));
    let claim = gadget.claim(0, claim).unwrap_or_else(|error| panic!("{error}"));
    check(&gadget, &claim, QUICK).unwrap().forced
}

#[test]
fn edge_protectors_fail_alone_when_attacked_from_both_sides() {
    // A protector stops any number from one side, or one from each side, but not two and one.
    assert!(!is_forced("white-edge.txt", "black dog bottom=2 > top=1 prevented unlimited"));
    assert!(!is_forced("white-edge-both.txt", "black dog bottom=1 > top=1 prevented"));
    assert!(is_forced("white-edge-both.txt", "black dog bottom=2 > top=1 prevented"));
    assert!(is_forced("black-edge-both.txt", "top=1 > bottom=1 prevented"));
}

#[test]
fn two_white_edge_protectors_hold_against_both_sides() {
    let gadget = parse(source("double-white-edge.txt"));
    let claim = gadget.claim(0, "black dog bottom=2 top=1 > middle=1 prevented unlimited").unwrap();
    let checked = check(&gadget, &claim, usize::MAX).unwrap();
    assert!(!checked.forced && checked.free.is_none(), "{checked:?}");
    // Attacks by finitely many pieces leave White free moves.
    let claim = gadget.claim(0, "black dog bottom=2 top=1 > middle=1 prevented").unwrap();
    let checked = check(&gadget, &claim, usize::MAX).unwrap();
    assert!(!checked.forced && checked.free == Some(true), "{checked:?}");
}

#[test]
fn unlimited_supply_does_not_run_out() {
    // Of three panthers one is lost, so three cannot pass; with more panthers behind them, any number can.
    assert!(!is_forced("black-edge.txt", "top=3 > bottom=3 prevented"));
    assert!(is_forced("black-edge.txt", "top=7 > bottom=3 prevented unlimited"));
    // But no panther passes before one is lost.
    assert!(!is_forced("black-edge.txt", "top=7 > bottom=1 prevented unlimited unharmed"));
    assert!(is_forced("black-edge.txt", "top=2 > bottom=1 prevented"));
    // With more pieces inside than allowed at once, the target counts as reached.
    assert!(is_forced("white-edge.txt", "black dog bottom=1 > top=1 prevented unlimited"));
}

#[test]
fn as_printed_means_printed_in_the_paper() {
    let printed = [
        ("AND", "~~.~~ ~.^.~ ~^C^~ ~.^.~ ~.e.~ ~.^.~ ~^C^~ ~.^.~ ~.~.~"),
        ("OR", "~~.~~ ~.^.~ ~^C^~ ~.^.~ ~.e.~ ~.^.~ ~^C^~ ~.^P~ ~.~.~"),
        ("FANOUT", "~.~~.~ ~....~ ~vd..~ ~Pv..~ ~~~.~~"),
        ("CHOICE", "~.~.~ ~...~ ~~.~~"),
        ("VARIABLE", "~~.~~ ~...~ ~.p.~ ~.P.~ ~~.~~"),
        ("BLACK EDGE PROTECTOR", "~~~.~~~ ~~...~~ ~~.~.~~ ~.vdv.~ ~~~.~~~"),
        ("WHITE EDGE PROTECTOR", "~~.~~ ~.^.~ ~^C^~ ~.^.~ ~~.~~"),
        ("OUTFLOW PROTECTOR", "~~~~~~~~~ ~.^...^.~ .^C^e^C^. ~P^...^.~ ~~~~~~~~~"),
    ];
    let marked: Vec<Gadget> = gadgets().into_iter().filter(|gadget| gadget.figure.is_some()).collect();
    assert_eq!(marked.iter().map(|g| g.name.as_str()).collect::<Vec<_>>(), printed.map(|(name, _)| name));
    for (gadget, (name, board)) in marked.iter().zip(printed) {
        let door = gadget.position.board().name(gadget.entrances[0].place);
        let same = parse(&format!("{}\n\nname: X\nentrance door: {door}\n", board.replace(' ', "\n")));
        assert_eq!(gadget.position, same.position, "{name}");
    }
    // Gadgets with a lemma in the paper are printed there.
    assert!(gadgets().iter().all(|gadget| gadget.lemma.is_none() || gadget.figure.is_some()));
}

#[test]
fn a_play_shows_why() {
    let gadget = gadget("black edge protector").unwrap();
    let claim = gadget.claims.iter().find(|c| c.text.starts_with("top=2 > bottom=1")).unwrap();
    let solved = Solved::new(&gadget, claim, QUICK).unwrap();
    let play = solved.play(100, true);
    assert!(play.last().unwrap().starts_with("reached"), "{play:?}");
    assert!(play.iter().any(|line| line.contains("dxP") || line.contains('x')), "{play:?}");
    let claim = gadget.claims.iter().find(|c| c.text == "top=1 > bottom=1 prevented").unwrap();
    let play = Solved::new(&gadget, claim, QUICK).unwrap().play(30, false);
    assert!(play.last().unwrap().contains("never"), "{play:?}");
}

#[test]
fn the_plan_counts_moves_that_the_checker_finds() {
    for kind in GadgetKind::ALL {
        let gadget = gadget(kind.name()).unwrap();
        let forced = gadget.claims.iter().filter(|c| c.forced && c.sender.color == Color::White);
        let single = forced.filter(|c| c.waiting.iter().all(|&n| n < 2) && c.target.iter().sum::<usize>() <= 2);
        let plies = single.filter_map(|c| check(&gadget, c, QUICK).ok()?.plies).max().unwrap();
        // White moves first and last.
        assert_eq!(kind.moves() * 2 - 1, u64::from(plies), "{kind:?}");
    }
}

#[test]
fn gadget_files_with_mistakes_are_refused() {
    for (text, needle) in [
        ("~.~\n\noutput out: b1\n", "no name"),
        ("~.~\n\nname: X\n", "no entrance"),
        ("~.~\n\nname: X\noutput out: a1\n", "line 4"),
        ("~.~\n\nname: X\noutput out: z9\n", "line 4"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: > out=1\n", "neither forced nor prevented"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: > in=1 forced\n", "line 5"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: > out=9 forced\n", "0 to 3"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: out=4 > out=1 forced\n", "0 to 3"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: out=4 > out=4 prevented unlimited\n", "0 to 3"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: out=2 > out=1 forced unlimited\n", "unlimited is only for"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: > out=1 prevented unlimited\n", "unlimited is only for"),
        ("~.~\n\nname: X\nrepairs: Y\n", "line 4"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: unicorn > out=1 forced\n", "an unknown word"),
        ("~.~\n\nname: X\noutput out: b1\nclaim: prevented\n", "no output"),
        ("~.~\n\nname: X\nfrobnicate: b1\n", "line 4"),
        ("~.~\n~.\n\nname: X\n", "line 2"),
    ] {
        let error = Gadget::parse(text).expect_err(text).to_string();
        assert!(error.contains(needle), "{text:?}: {error}");
    }
    let wide = format!("{}\n\nname: X\noutput out: a1\nclaim: > out=1 forced\n", ".".repeat(100));
    let gadget = parse(&wide);
    assert!(matches!(check(&gadget, &gadget.claims[0], QUICK), Err(GadgetError::TooLarge { .. })));
}

#[test]
fn crossovers_cross() {
    for inputs in 0..4u64 {
        let half: &[u64] = match inputs {
            0 => &[0],
            3 => &[3],
            _ => &[1, 2],
        };
        assert_eq!(reachable(&half_crossover(0), inputs), half, "half, {inputs:02b}");
        let swapped = (inputs & 1) << 1 | inputs >> 1;
        assert_eq!(reachable(&crossover(0), inputs), [swapped], "{inputs:02b}");
    }
    // Without any one of its steps, the crossover fails.
    let all = crossover(0);
    let broken = |skip: usize| {
        let steps: Vec<_> = all.iter().enumerate().filter(|(i, _)| *i != skip).map(|(_, s)| *s).collect();
        (0..4u64).any(|inputs| reachable(&steps, inputs) != [(inputs & 1) << 1 | inputs >> 1])
    };
    assert!((0..all.len()).all(broken));
}

/// The maximum number of wires inside a crossover, without its inputs and outputs, for any set of finished gates.
fn wires_inside_a_crossover() -> usize {
    let mut row = vec![0, 1];
    let mut wires = 2;
    let gates: Vec<(Vec<usize>, Vec<usize>)> = crossover(0)
        .iter()
        .map(|step| {
            let outputs: Vec<usize> = (wires..wires + step.gate.outputs()).collect();
            wires += outputs.len();
            let inputs = row.splice(step.wire..step.wire + step.gate.inputs(), outputs.clone()).collect();
            (inputs, outputs)
        })
        .collect();
    let mut seen = std::collections::BTreeSet::from([0u32]);
    let mut open = vec![0u32];
    let mut most = 0;
    while let Some(done) = open.pop() {
        let mut inside: std::collections::BTreeSet<usize> = std::collections::BTreeSet::new();
        let made = |inside: &std::collections::BTreeSet<usize>, wire: usize| wire < 2 || inside.contains(&wire);
        let is_done = |gate: usize| done >> gate & 1 != 0;
        for (gate, (_, outputs)) in gates.iter().enumerate() {
            if is_done(gate) {
                inside.extend(outputs);
            }
        }
        for (gate, (inputs, _)) in gates.iter().enumerate() {
            if !is_done(gate) && inputs.iter().all(|&wire| made(&inside, wire)) && seen.insert(done | 1 << gate) {
                open.push(done | 1 << gate);
            }
        }
        for (gate, (inputs, _)) in gates.iter().enumerate() {
            if is_done(gate) {
                inputs.iter().for_each(|wire| {
                    inside.remove(wire);
                });
            }
        }
        most = most.max(inside.iter().filter(|wire| !row.contains(wire)).count());
    }
    most
}

#[test]
fn positions_are_within_the_polynomial_bound() {
    // The two constants of the derivation.
    assert_eq!((crossover(0).len(), wires_inside_a_crossover()), (22, 7));
    let full = |n: usize| Formula::new(n, &vec![(0..n).collect::<Vec<_>>(); n]);
    let random = (0..24).map(|i| random_formula(1 + i % 6, 1 + i % 5, 1 + i % 3, i as u64));
    let formulas: Vec<Formula> = (1..=4).map(full).chain(random).collect();
    for (i, formula) in formulas.iter().enumerate() {
        let channels = 1 + 2 * (i % 2);
        let circuit = Circuit::of(formula);
        let layout = Layout::build(&circuit, formula.variables(), channels).unwrap();
        let size = measure::size(formula, &circuit, &layout);
        let bound = measure::bound(size.variables, size.literals, channels);
        let within = |n: usize, most: u128| n as u128 <= most;
        assert!(within(size.gates, bound.gates), "{formula}: {size:?}, {bound:?}");
        assert!(within(size.gadgets, bound.gadgets), "{formula}: {size:?}, {bound:?}");
        assert!(within(size.pieces, bound.pieces), "{formula}: {size:?}, {bound:?}");
        assert!(within(size.squares, bound.squares), "{formula}: {size:?}, {bound:?}");
    }
    // Twice the variables and literals: four times the gates and pieces, sixteen times the squares.
    let (one, two) = (measure::bound(1000, 3000, 3), measure::bound(2000, 6000, 3));
    assert!(two.gates == 4 * one.gates && two.pieces <= 4 * one.pieces && two.squares <= 16 * one.squares);
}

#[test]
fn errors_of_formulas_have_a_caret() {
    for (text, column, word) in [
        ("(x | y", 6, "not closed"),
        ("(x | y) & ", 10, "the formula ends"),
        ("(x | !y)", 5, "negation"),
        ("(x | y) | z", 8, "between clauses"),
        ("(x & y)", 3, "close its parenthesis"),
        ("x)", 1, "not opened"),
        ("(x || y)", 4, "expected a variable"),
        ("", 0, "the formula ends"),
        ("(x) & (3)", 7, "expected a variable"),
        ("p cnf 2 1\n1 -2 0", 2, "negation"),
        ("p cnf 2 1\n1 3 0", 2, "1 to 2"),
        ("p cnf 2 1\n1\t3 0", 2, "1 to 2"),
        ("p cnf 2 1\n1 2", 3, "does not end"),
        ("p cnf 2 2\n1 2 0", 5, "announced"),
        ("p cnf 99999999 2\n1 2 0", 0, "p cnf"),
        ("p cnf 2 1\n0", 0, "never true"),
    ] {
        let error = text.parse::<Formula>().expect_err(text);
        assert_eq!(error.column, column, "{text:?}: {error}");
        assert!(error.reason.contains(word), "{text:?}: {error}");
        let shown = error.to_string();
        let caret = shown.lines().last().unwrap();
        assert_eq!(caret.find('^'), Some(column + 2), "{shown}");
    }
    let dimacs: Formula = "c a comment\np cnf 4 2\n1 2 0\n1 3\n4 0\n".parse().unwrap();
    assert_eq!(dimacs.to_string(), "(x1 | x2) & (x1 | x3 | x4)");
    assert_eq!("c\ta comment\np\tcnf\t4 2\n1\t2 0\n1 3\t4\t0\n".parse(), Ok(dimacs.clone()));
    assert_eq!("p & (c | q)".parse::<Formula>().unwrap().clauses().len(), 2);
    assert_eq!("(x1|x2)&( x1 ∨ x3|x4 )".parse::<Formula>().unwrap().to_string(), dimacs.to_string());
}

#[test]
fn the_formula_game_is_what_plain_search_says() {
    for seed in 0..300 {
        let n = 1 + seed as usize % 8;
        let formula = random_formula(n, 1 + seed as usize % 7, 1 + seed as usize % 3, seed);
        let plain = winner_by(n, |set| formula.is_true(|v| set >> v & 1 != 0));
        assert_eq!(formula.game().unwrap().winner(), plain, "{formula}");
    }
    // Twenty variables.
    let formula = random_formula(20, 30, 4, 5);
    let mut game = formula.game().unwrap();
    let winner = game.winner();
    // Best play leads to this winner.
    let (mut is_true, mut is_false, mut turn) = (0u32, 0u32, Color::White);
    while let Some(variable) = game.best(is_true, is_false, turn) {
        if turn == Color::White {
            is_true |= 1 << variable
        } else {
            is_false |= 1 << variable
        }
        turn = !turn;
        assert_eq!(game.winner_at(is_true, is_false, turn), winner);
    }
    assert_eq!(formula.is_true(|v| is_true >> v & 1 != 0), winner == Color::White);
    assert!(Formula::new(33, &[vec![0, 32]]).game().is_err());
}

/// Checks the winner of the game on the circuit, computed gate by gate with the tables that the lemmas prove.
fn circuit_agrees(formula: &Formula) {
    let circuit = Circuit::of(formula);
    let by_circuit = winner_by(formula.variables(), |set| circuit.evaluate_gates(|v| set >> v & 1 != 0));
    assert_eq!(by_circuit, formula.game().unwrap().winner(), "{formula}");
}

#[test]
fn circuits_have_the_winner_of_the_formula_game() {
    let all = all_formulas(4, 4);
    assert_eq!(all.len(), 15 + 105 + 455 + 1365);
    all.iter().for_each(circuit_agrees);
    for seed in 0..1000 {
        let i = seed as usize;
        circuit_agrees(&random_formula(5 + i % 4, 3 + i % 5, 2 + i % 2, seed));
    }
}

#[test]
fn positions_are_well_formed() {
    for (formula, channels) in [("(a)", 3), ("(a | b) & (b | c) & (a | c)", 1), ("(a | b) & (c | d) & (b | c)", 2)] {
        let formula: Formula = formula.parse().unwrap();
        let circuit = Circuit::of(&formula);
        let layout = Layout::build(&circuit, formula.variables(), channels).unwrap();
        let board = layout.position.board();
        // Every gadget on the board equals its file.
        for part in &layout.parts {
            let gadget = gadget(part.kind.name()).unwrap();
            let small = gadget.position.board();
            for place in small.places() {
                let (row, column) = small.row_column(place);
                let on_board = board.at(part.row + row, part.column + column).unwrap();
                assert_eq!(layout.position.piece_at(on_board), gadget.position.piece_at(place), "{part:?}");
                if small.terrain(place) != hardness::general::Terrain::Water {
                    assert_eq!(board.terrain(on_board), small.terrain(place), "{part:?}");
                }
            }
        }
        // Every corridor is one square wide and touches only its ends.
        let land = |p| board.terrain(p) != hardness::general::Terrain::Water;
        for route in &layout.routes {
            for stretch in route {
                let hardness::layout::Stretch::Corridor(squares) = stretch else { continue };
                for &square in squares {
                    let around = doushouqi::board::Direction::ALL.into_iter();
                    let open = around.filter_map(|d| board.neighbour(square, d)).filter(|&p| land(p)).count();
                    assert_eq!(open, 2, "{formula}: {}", board.name(square));
                }
            }
        }
        let attackers = most_black_pieces_between_white_edges(&layout);
        assert_eq!(attackers, 1, "{formula}: an edge protector is attacked from a side by one piece at most");
        assert!(layout.slack_plies() > 0);
        assert_eq!(layout.run.len() as u64, layout.run_moves() + 1);
        if board.width().max(board.height()) <= 512 {
            let text = layout.position.to_text();
            assert_eq!(hardness::general::GeneralPosition::parse(&text).unwrap(), layout.position);
        }
    }
}

/// The maximum number of black pieces that can meet without passing two adjacent white edge protectors.
fn most_black_pieces_between_white_edges(layout: &Layout) -> usize {
    let board = layout.position.board();
    let mut seen = vec![false; board.len()];
    let small = gadget(GadgetKind::WhiteEdge.name()).unwrap();
    let edges: Vec<_> = layout.parts.iter().filter(|part| part.kind == GadgetKind::WhiteEdge).collect();
    for part in &edges {
        let (height, width) = (small.position.board().height(), small.position.board().width());
        // Protectors come in pairs: another one is directly above or below.
        let is_next =
            |other: &&hardness::layout::Part| other.column == part.column && other.row.abs_diff(part.row) == height;
        assert!(edges.iter().any(is_next), "{part:?}");
        for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
            seen[board.at(part.row + row, part.column + column).unwrap().index()] = true;
        }
    }
    let mut most = 0;
    for place in board.places() {
        let mut open = vec![place];
        let mut black = 0;
        while let Some(place) = open.pop() {
            if board.terrain(place) == hardness::general::Terrain::Water
                || std::mem::replace(&mut seen[place.index()], true)
            {
                continue;
            }
            black += usize::from(layout.position.piece_at(place).is_some_and(|piece| piece.color == Color::Black));
            open.extend(doushouqi::board::Direction::ALL.into_iter().filter_map(|d| board.neighbour(place, d)));
        }
        most = most.max(black);
    }
    most
}

fn win_all(channels: usize, each: u64, seed: u64, formulas: &[&str]) {
    let tables = SolvedClaims::new().unwrap();
    for text in formulas {
        let formula: Formula = text.parse().unwrap();
        let circuit = Circuit::of(&formula);
        let layout = Layout::build(&circuit, formula.variables(), channels).unwrap();
        let reduction = Reduction::new(&formula, &circuit, &layout, &tables);
        for style in Style::ALL {
            let games = measure::games(&reduction, style, each, seed).unwrap();
            assert_eq!(games.won, each, "{games:?}, seeds from {seed}");
            // White always has a proved move. Black's model of a gadget lacks some moves of panthers on the board.
            assert!(games.winner == "black" || games.improvised == 0, "{games:?}");
            assert!(games.slack_plies.is_none_or(|slack| slack >= layout.slack_plies() as u64), "{games:?}");
        }
    }
}

#[test]
fn the_winner_of_the_formula_wins_on_the_board() {
    let small: Vec<&str> = measure::SUITE.into_iter().filter(|text| text.len() < 24).collect();
    win_all(1, 2, 17, &small);
    // Through crossovers, as White.
    let tables = SolvedClaims::new().unwrap();
    let formula: Formula = "(a | b) & (b | c) & (a | c)".parse().unwrap();
    let circuit = Circuit::of(&formula);
    assert!(circuit.crossovers() > 0);
    let layout = Layout::build(&circuit, 3, 1).unwrap();
    let games = measure::games(&Reduction::new(&formula, &circuit, &layout, &tables), Style::Greedy, 2, 17).unwrap();
    assert_eq!((games.won, games.improvised), (2, 0), "{games:?}");
}

#[test]
#[ignore = "an hour: ./test hundred_games -- --ignored, or dsq-lab reduce report results"]
fn hundred_games_a_formula() {
    win_all(3, 34, 1, &measure::SUITE);
}

#[test]
fn the_program_checks_shows_and_reduces() {
    let text = program::stdout(&["gadgets", "check", "CHOICE", "fanout", "--json"]);
    let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["gadget"], "CHOICE");
    assert_eq!(lines[0]["lemma"], "2.4");
    assert!(lines.iter().all(|l| l["holds"] == true && l["as_printed"] == true && l["states"].as_u64().unwrap() > 0));
    let text = program::stdout(&["gadgets", "check", "START", "DEN", "TWO WHITE EDGE PROTECTORS", "--json"]);
    let added: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(added.len() == 3 && added.iter().all(|l| l["holds"] == true && l["as_printed"] == false), "{text}");
    assert!(program::stdout(&["gadgets", "show", "AND"]).contains("lemma 2.1"));
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.txt");
    std::fs::write(&broken, source("fanout.txt").replace("~Pv..~", "~P...~")).unwrap();
    let output = program::run(&["gadgets", "check", broken.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("does not hold") && shown.contains("reached"), "{shown}");
    assert_eq!(program::run(&["gadgets", "show", "NOSUCH"]).status.code(), Some(2));
    let svg = folder.path().join("position.svg");
    let text = program::stdout(&["reduce", "(x | y) & (x | z)", "--json", "--out", svg.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["winner"], "white");
    assert!(json["squares"].as_u64().unwrap() > 1000 && json["slack_plies"].as_i64().unwrap() > 0);
    assert!(std::fs::read_to_string(svg).unwrap().contains("<circle"));
    for more in [&["--games", "1"][..], &["--json"]] {
        let output = program::run(&[&["reduce", "(x | y)", "--out", "-"], more].concat());
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{more:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(more[0]), "{more:?}");
    }
    // A path is never read as a formula.
    let (cnf, missing) = (folder.path().join("my formula.cnf"), folder.path().join("missing.cnf"));
    std::fs::write(&cnf, "p cnf 2 1\n1 2 0\n").unwrap();
    assert!(program::stdout(&["reduce", cnf.to_str().unwrap()]).starts_with("(x1 | x2): White wins it"));
    for (path, code) in [(missing.to_str().unwrap(), 2), (folder.path().to_str().unwrap(), 3), ("formula", 2)] {
        let output = program::run(&["reduce", path]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains("cannot read") && error.contains(path), "{error}");
    }
    let output = program::run(&["reduce", "(x | y"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("\n        ^"));
}
