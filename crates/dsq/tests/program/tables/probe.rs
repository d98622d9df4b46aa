//! Values of positions.

use super::*;

#[test]
fn probes_are_the_solved_values() {
    let dir = tables(3);
    let set = prober(dir.path());
    let rules = set.rules();
    let solver = solved(&RuleOptions::PAPER, 3);
    for name in ["EvR", "RvR", "ERvR", "LTvT", "EvCR"] {
        let id = solver.classes().member(material(name)).unwrap().class;
        let representative = solver.classes().get(id).representative;
        let index = Index::new(representative, &RuleOptions::PAPER).unwrap();
        let mut count = 0;
        for cell in 0..index.rows * ROW_CELLS {
            let Some(squares) = index.squares(cell) else { continue };
            for turn in Color::ALL {
                let mut setup = Setup::empty(turn);
                for (&piece, square) in index.pieces.iter().zip(&squares) {
                    setup.squares[square.index()] = Some(piece);
                }
                let position = Position::from_setup(&setup).unwrap();
                assert_eq!(set.cell_value(&position).unwrap(), solver.cell_value(&position), "{}", position.to_fen());
                count += 1;
            }
        }
        assert!(count > 4000, "{name}: {count}");
    }
    let all: Vec<Material> = [Material::all(2), Material::all(3)].concat();
    for position in random_positions(6, &all, 20_000) {
        let value = solver.cell_value(&position);
        assert!(value.is_some());
        assert_eq!(set.cell_value(&position).unwrap(), value, "{}", position.to_fen());
    }
    // Best play is as long as the distance in the tables, and no draw ends.
    let mut ended = 0;
    for position in random_positions(7, &all, 400) {
        let verdict = set.value(&position).unwrap().unwrap();
        assert_eq!(verdict, Value::of(solver.cell_value(&position).unwrap(), rules));
        let line = set.line(&position).unwrap();
        let Some(plies) = verdict.dtw else {
            assert!(line.is_empty());
            continue;
        };
        assert_eq!(line.len(), usize::from(plies), "{}", position.to_fen());
        let mut current = position.clone();
        for (mv, before) in &line {
            assert_eq!(current.to_fen(), before.to_fen());
            assert!(current.moves(rules).into_iter().any(|legal| legal == *mv));
            current = current.make(*mv);
        }
        let winner = if plies % 2 == 1 { position.turn() } else { !position.turn() };
        assert_eq!(current.winner(), Some(winner), "{}", position.to_fen());
        ended += 1;
    }
    assert!(ended > 300, "{ended}");
}

#[test]
fn the_papers_positions() {
    let dir = tables(3);
    let at = text(dir.path());
    let fens = [
        (LOST_IN_12, "loss", Some(12)),
        ("t6/7/T6/7/7/7/7/7/7 w", "win", Some(19)),
        ("d6/7/7/7/7/7/5C1/7/7 w", "draw", None),
        ("7/7/3e3/7/6L/7/7/7/7 w", "loss", None),
    ];
    for (fen, wdl, dtw) in fens {
        let report = &json(&["probe", "--tables", at, "--json", "--line", fen])[0];
        assert_eq!(
            report.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["dtw", "fen", "line", "moves", "wdl"],
            "{fen}"
        );
        assert_eq!((report["fen"].as_str(), report["wdl"].as_str()), (Some(fen), Some(wdl)));
        assert!(dtw.is_none() || report["dtw"] == Json::from(dtw), "{report}");
        assert_eq!(report["dtw"].is_null(), wdl == "draw");
        assert_eq!(report["line"].as_array().unwrap().len() as u64, report["dtw"].as_u64().unwrap_or(0));
        let moves = report["moves"].as_array().unwrap();
        let position = Position::from_fen(fen).unwrap();
        assert_eq!(moves.len(), position.moves(&Rules::new(RuleOptions::PAPER)).into_iter().count());
        for mv in moves {
            assert_eq!(mv.as_object().unwrap().keys().collect::<Vec<_>>(), ["dtw", "move", "wdl"]);
        }
        assert_eq!((&moves[0]["wdl"], &moves[0]["dtw"]), (&report["wdl"], &report["dtw"]), "the best move comes first");
        let words = stdout(&["probe", "--tables", at, fen]);
        let dtw = report["dtw"].as_u64().map_or("draw".to_owned(), |dtw| format!("{wdl} in {dtw} plies"));
        assert!(words.contains(&format!("{fen}: {dtw}\n")), "{words}");
    }
}

#[test]
fn probes_from_standard_input() {
    let dir = tables(3);
    let at = text(dir.path());
    let pipe = |input: &[u8]| {
        let mut child = command(&["probe", "--tables", at, "--json", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program may end before it has read all input.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    };
    let all: Vec<Material> = [Material::all(2), Material::all(3)].concat();
    let positions = random_positions(8, &all, 300);
    let input: String = positions.iter().map(|p| format!("{}\n\n", p.to_fen())).collect();
    let output = pipe(input.as_bytes());
    assert_eq!(output.status.code(), Some(0));
    let set = prober(dir.path());
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), positions.len());
    for (line, position) in lines.lines().zip(&positions) {
        let report: Json = serde_json::from_str(line).unwrap();
        let verdict = set.value(position).unwrap().unwrap();
        assert_eq!(report["fen"], position.to_fen());
        assert_eq!(report["dtw"], Json::from(verdict.dtw));
        assert_eq!(report["wdl"], serde_json::to_value(verdict.wdl).unwrap());
        assert!(report.get("line").is_none());
        let name =
            |(mv, value): &(Move, Value)| object!({"move": mv.notation(position), "wdl": value.wdl, "dtw": value.dtw});
        let moves: Vec<Json> = set.moves(position).unwrap().unwrap().iter().map(name).collect();
        assert_eq!(report["moves"], Json::from(moves));
    }
    // Lines up to a bad one are answered.
    let output = pipe(format!("{LOST_IN_12}\nrubbish\n{LOST_IN_12}\n").as_bytes());
    failed(&output, &[2], &["rubbish"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    failed(&pipe(b"\xff\xfe\n"), &[2], &["standard input"]);
    assert_eq!(pipe(b"").status.code(), Some(0));
}

/// A caller may wait for each answer before it writes the next position.
#[test]
fn each_line_is_answered_when_it_arrives() {
    let dir = tables(2);
    let mut child = command(&["probe", "--tables", text(dir.path()), "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(output).lines();
    for _ in 0..3 {
        writeln!(input, "{LOST_IN_12}").unwrap();
        assert!(answers.next().unwrap().unwrap().contains("\"dtw\":12"));
    }
    drop(input);
    assert!(child.wait().unwrap().success() && answers.next().is_none());
}

#[test]
fn positions_without_a_table_and_finished_ones() {
    let dir = tables(3);
    let at = text(dir.path());
    let full = Position::start().to_fen();
    fails(2, &["probe", "--tables", at, &full], &["has 16 pieces", at, "go to 3"]);
    fails(2, &["probe", "--tables", at, "7/7/3el2/7/7/7/3EL2/7/7 w"], &["has 4 pieces", at, "go to 3"]);
    fails(2, &["probe", "--tables", at, "nonsense"], &["nonsense"]);
    // A den is entered, or the last enemy is captured: the side to move has lost, or has won.
    for (fen, wdl) in [
        ("3E3/7/7/7/7/7/e6/7/7 b", "loss"),
        ("3E3/7/7/7/7/7/e6/7/7 w", "win"),
        ("7/7/7/7/7/7/E6/7/7 b", "loss"),
        ("7/7/7/7/7/7/E6/7/7 w", "win"),
    ] {
        let report = &json(&["probe", "--tables", at, "--json", "--line", fen])[0];
        assert_eq!((report["wdl"].as_str(), report["dtw"].as_u64()), (Some(wdl), Some(0)), "{fen}");
        assert_eq!(report["moves"], Json::Array(Vec::new()), "{fen}");
        assert_eq!(report["line"], Json::Array(Vec::new()), "{fen}");
    }
}

#[test]
fn positions_are_written_as_text() {
    let dir = tables(3);
    let set = prober(dir.path());
    for name in ["EvL", "RvR", "ERvR"] {
        let mut text = Vec::new();
        let count = write_text(&set, material(name), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count() as u64, count);
        assert_eq!(count, material(name).positions(), "{name}");
        for line in text.lines().step_by(37) {
            let words: Vec<&str> = line.rsplitn(4, ' ').collect();
            let [plies, best, winner, fen] = words[..] else { panic!("{line}") };
            let position = Position::from_fen(fen).unwrap();
            let verdict = set.value(&position).unwrap().unwrap();
            let wins = match verdict.wdl {
                Wdl::Win => "w",
                Wdl::Draw => "d",
                Wdl::Loss => "b",
            };
            assert_eq!(winner, wins, "{line}");
            assert_eq!(plies, verdict.dtw.map_or("-".to_owned(), |plies| plies.to_string()), "{line}");
            match position.moves(set.rules()).iter().find(|mv| mv.notation(&position) == best) {
                Some(&mv) => assert_eq!(set.value(&position.make(mv)).unwrap().unwrap().before(), verdict, "{line}"),
                None => assert!(best == "-" && position.moves(set.rules()).is_empty(), "{line}"),
            }
        }
    }
    let arguments = ["export", "--tables", text(dir.path()), "--material", "EvL", "--format", "text"];
    assert_eq!(stdout(&arguments).lines().count() as u64, material("EvL").positions());
}
