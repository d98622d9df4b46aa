//! Lessons, puzzles, the endgame trainer, and another try at mistakes.

use super::{DRAW, LION, Page, REVIEWED, TURN, at, play};
use crate::dsq;
use crate::serve::folder;
use doushouqi::board::{Move, Position, Rules};
use doushouqi::tablebase::Material;
use serde_json::{Value, json};

/// The moves that solve each lesson.
const SOLUTIONS: &[(&str, &str)] = &[
    ("step", "d4d5 d5d6"),
    ("capture", "d4d5"),
    ("rat", "a4a5"),
    ("swim", "a4b4 b4c4 c4d4"),
    ("shore", "b4b3 b3a3 a3a4"),
    ("leap", "b3b7"),
    ("tiger", "a5d5"),
    ("block", "b3c3 c3c7 c7b7"),
    ("trap", "d3d2"),
    ("den", "d7d8 d8d9"),
    ("end", "c3d3 d3d4 d4d5"),
];

const TEXT: &str = "document.querySelector('#exercisetext').textContent";

/// White enters the den at once.
const DEN: &str = "7/3E3/7/7/7/7/r6/7/7_w";

/// Whether the board marks the goal of a lesson, and the label of the first lesson's goal.
const MARKED: &str = "(document.querySelector('.picture .goal') !== null)";
const GOAL: &str = "document.querySelector('#grid [data-square=d6]').getAttribute('aria-label')";

#[test]
fn the_tutorial_teaches_the_chosen_rules() {
    let Some(page) = Page::start() else { return };
    let learn = "document.querySelector('#learn').textContent";
    page.open("/?rules=chinese&view=learn");
    page.click("[data-lesson=capture]");
    page.wait(&format!("{learn}.includes('the wolf (4) is stronger')"));
    page.open("/?rules=paper&view=learn");
    page.wait("document.querySelectorAll('[data-lesson]').length === 11");
    page.click("[data-lesson=step]");
    for (i, (name, moves)) in SOLUTIONS.iter().enumerate() {
        page.wait(&format!("document.querySelector('#exercisehead').textContent.startsWith('Lesson {} of 11')", i + 1));
        match *name {
            "step" => {
                page.wait(&format!("{GOAL} === 'd6, empty, goal'"));
                play(&page, "d4c5");
                page.wait(&format!("{TEXT}.includes('diagonally')"));
            }
            "capture" => page.wait(&format!("{learn}.includes('the dog (4) is stronger')")),
            "leap" => {
                play(&page, "b3b4");
                page.wait(&format!("{TEXT}.includes('Only the rat')"));
            }
            _ => {}
        }
        page.wait(MARKED);
        for uci in moves.split(' ') {
            page.wait(&format!(
                "document.querySelector('#grid [data-square={}]').getAttribute('aria-label').includes('White')",
                &uci[..2]
            ));
            play(&page, uci);
        }
        page.wait(&format!("{TEXT} === 'Right!' && !{MARKED}"));
        if i + 1 < SOLUTIONS.len() {
            page.click("#nextlesson");
        }
    }
    page.screenshot("lesson");
    // After the last lesson comes a first game.
    page.click("#firstgame");
    page.expect(TURN, "Your move");
    page.expect("document.querySelector('#far .who').textContent", "Rat");
    // Without leaps of the tiger and without traps there are fewer lessons.
    page.open("/?rules=paper,tiger-leap=none,traps=none&view=learn");
    page.wait("document.querySelectorAll('[data-lesson]').length === 9");
    page.silent();
}

#[test]
fn a_puzzle_takes_only_its_move() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=learn");
    // The puzzle is the same in every run.
    page.run("Math.random = () => 0.5");
    page.click("#puzzlestart");
    page.wait("document.querySelector('#exercisehead')?.textContent.startsWith('Puzzle')");
    let fen = page.fen();
    let probe = page.api(&format!("probe?fen={fen}"));
    assert_eq!(probe["keeps_result"], json!(1), "{fen}");
    let moves = probe["moves"].as_array().unwrap();
    let uci = |mv: &Value| mv["uci"].as_str().unwrap().to_owned();
    play(&page, &uci(&moves[1]));
    let (rules, before) = (Rules::default(), Position::from_fen(&fen.replace('_', " ")).unwrap());
    let after = before.make(Move::parse(&uci(&moves[1]), &before, &rules).unwrap());
    let reply = page.api(&format!("probe?fen={}", after.to_fen().replace(' ', "_")))["moves"][0]["san"].clone();
    page.wait(&format!("{TEXT}.includes('because of {}')", reply.as_str().unwrap()));
    assert_eq!(page.fen(), fen, "a wrong move is not made");
    // The first try costs points, once.
    let gain = "document.querySelector('#puzzlegain').textContent";
    let lost = page.text(gain);
    assert!(lost.starts_with("Rating 11") && lost.contains("(−"), "{lost}");
    let level = page.text("document.querySelector('#exercisehead').textContent.match(/difficulty (\\d)/)[1]");
    let drawn = page.api(&format!("puzzles?rules=paper&difficulty={level}&count=50&seed={}", 1_u32 << 31));
    let solution = drawn["puzzles"][0]["solution"].as_array().unwrap();
    assert_eq!(solution[0], moves[0]["uci"]);
    for (i, uci) in solution.iter().enumerate().step_by(2) {
        page.stays("document.querySelector('#nextpuzzle')", Value::Null);
        play(&page, uci.as_str().unwrap());
        page.expect(TEXT, if i + 2 < solution.len() { "Right. Go on." } else { "Solved." });
    }
    page.wait("document.querySelector('#nextpuzzle')");
    page.stays(gain, lost);
    page.screenshot("puzzle");
    page.silent();
}

/// Puzzles are of the chosen rules: the next one, that of the day, and those on paper. Rules without puzzles get others.
#[test]
fn puzzles_have_the_chosen_rules() {
    let Some(page) = Page::start() else { return };
    let rules = "document.querySelector('#rules').value";
    page.open("/?rules=chinese&view=learn");
    page.run("Math.random = () => 0.5; window.print = () => undefined");
    page.choose("#puzzlelevel", "5");
    let drawn = page.api(&format!("puzzles?rules=chinese&difficulty=5&count=50&seed={}", 1_u32 << 31));
    assert_eq!((&drawn["total"], &drawn["puzzles"][0]["rules"]), (&json!(60), &json!("chinese")));
    page.click("#puzzlestart");
    page.wait("document.querySelector('#showpuzzle')");
    let puzzle = &drawn["puzzles"][0];
    assert_eq!(json!(page.fen()), puzzle["fen"].as_str().unwrap().replace(' ', "_"));
    page.stays(rules, "chinese");
    let solution: Vec<&str> = puzzle["solution"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (i, uci) in solution.iter().enumerate().step_by(2) {
        play(&page, uci);
        at(&page, (i + 2).min(solution.len()));
    }
    page.expect(TEXT, "Solved at the first try!");
    assert!(page.text("document.querySelector('#puzzlegain').textContent").contains("(+"));
    page.click("#dailypuzzle");
    page.wait("document.querySelector('#exercisehead')?.textContent.startsWith('Puzzle of the day')");
    page.stays(rules, "chinese");
    page.click("#printpuzzles");
    page.wait("document.querySelectorAll('#sheet .miniature').length === 6");
    page.open("/?rules=bell&view=learn");
    page.click("#dailypuzzle");
    page.wait("document.querySelector('#exercisehead')?.textContent.startsWith('Puzzle of the day')");
    page.expect(&format!("['paper', 'chinese'].includes({rules})"), true);
    page.silent();
}

/// A chosen theme is one of the puzzle's.
#[test]
fn puzzles_have_a_theme() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=learn");
    page.choose("#puzzletheme", "trap");
    page.click("#puzzlestart");
    page.click("#showpuzzle");
    page.wait("document.querySelector('#nextpuzzle')");
    page.wait("/ · .*trap/.test(document.querySelector('#exercisehead').parentElement.textContent)");
    page.silent();
}

/// Paper shows six diagrams on one page, their solutions on the next, and nothing else of the page.
#[test]
fn puzzles_are_printed() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=learn&theme=dark");
    page.run("window.print = () => undefined");
    page.click("#printpuzzles");
    page.wait("document.querySelectorAll('#sheet .miniature').length === 6");
    page.stays("document.querySelector('#sheet').checkVisibility()", false);
    page.chromium("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    page.expect(
        "['#app', '#sheet'].filter((part) => document.querySelector(part).checkVisibility())",
        json!(["#sheet"]),
    );
    page.expect("getComputedStyle(document.documentElement).colorScheme", "light");
    page.screenshot("sheet");
    page.chromium("Emulation.setEmulatedMedia", &json!({"media": ""}));
    let solutions = "[...document.querySelectorAll('#sheet ol:last-child li')].map((li) => li.textContent)";
    page.expect(&format!("{solutions}.filter((text) => /^[RCWDPTLE]x?[a-g][1-9]/.test(text)).length"), 6);
    // When the paper is printed the sheet is gone.
    let paper = page.chromium("Page.printToPDF", &json!({"paperWidth": 8.27, "paperHeight": 11.69}));
    let pages = format!("return atob({}).match(/\\/Type\\s*\\/Page\\b/g).length", paper["data"]);
    assert_eq!(page.run(&pages), json!(2));
    page.run("dispatchEvent(new Event('afterprint'))");
    page.expect("document.querySelector('#sheet')", Value::Null);
    page.silent();
}

/// A teacher's link has tasks, which a pupil wins or holds, and a text with the results.
#[test]
fn a_class_has_tasks() {
    let Some(page) = Page::start() else { return };
    let copying = "navigator.clipboard.writeText = async (text) => { window.copied = text; }";
    page.open_position(DEN, "&view=learn");
    page.run(copying);
    page.type_into("#tasktitle", "Now: the den");
    page.click("#taskadd");
    page.wait("document.querySelectorAll('#tasks li').length === 1");
    page.click("#classlink");
    page.wait("window.copied");
    let link = page.text("(({ pathname, search }) => pathname + search)(new URL(window.copied))");
    page.open(&link);
    page.run(copying);
    let shown = "document.querySelector('#tasks button')?.textContent";
    page.expect(shown, "Now: the den: not solved; tries: 0");
    for (name, width, height) in [("desktop", 1280, 800), ("phone", 390, 844)] {
        page.size(width, height);
        page.run("document.querySelector('#classhead').scrollIntoView()");
        page.screenshot(&format!("class-{name}"));
    }
    page.click("#tasks button");
    page.expect("document.querySelector('#matchmessage')?.textContent", "White wins in 1 move. Win it.");
    play(&page, "d8d9");
    page.wait("document.querySelector('#gameover').open");
    page.click("#closeresult");
    let won = "Now: the den: solved in 1 move; tries: 1, hints: 0, takebacks: 0";
    page.expect(shown, won);
    page.reload();
    page.run(copying);
    page.expect(shown, won);
    page.click("#results");
    page.expect("window.copied", won);
    // A draw is held by the side to move.
    page.open(&format!("/?view=learn&task={DRAW}:draw"));
    page.click("#tasks button");
    page.expect("document.querySelector('#matchmessage')?.textContent", "White to move and draw");
    while page.get("document.querySelector('#gameover').open") == json!(false) {
        page.expect(TURN, "Your move");
        let best = page.api(&format!("probe?fen={}", page.fen()))["moves"][0]["uci"].clone();
        play(&page, best.as_str().unwrap());
    }
    page.click("#closeresult");
    page.expect(&format!("{shown}.startsWith('draw: solved in ')"), true);
    // The teacher chooses the order.
    page.open(&format!("/?view=learn&task={DRAW}:one&task={DEN}:two&task={LION}:three"));
    let order = "[...document.querySelectorAll('#tasks li')].map((li) => li.textContent.split(':')[0]).join()";
    page.click("#tasks li:nth-child(3) [data-key^=up]");
    page.expect(order, "one,three,two");
    page.expect(
        "new URLSearchParams(location.search).getAll('task').map((task) => task.split(':')[1]).join()",
        "one,three,two",
    );
    // What is no position is left out, and a position that the tables do not know is no task.
    page.open("/?view=learn&task=nothing:x&task=7/7/3e3/7/7/7/CDWE3/7/7_w:four");
    page.expect("document.querySelector('#notice').textContent", "1 task of this link cannot be read.");
    page.expect(shown, "four: not solved; tries: 0");
    page.click("#tasks button");
    page.wait("document.querySelector('#learn').textContent.includes('do not know this position')");
    page.click("#tasks button + button");
    page.wait("document.querySelectorAll('#tasks li').length === 0");
    page.wait("!location.search.includes('task')");
    page.silent();
}

/// The puzzle of the day is the same after a reload, and solving it at once wins points.
#[test]
fn a_day_has_its_puzzle() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=learn");
    let start = || {
        page.click("#dailypuzzle");
        page.wait("document.querySelector('#exercisehead')?.textContent.startsWith('Puzzle of the day')");
        page.fen()
    };
    let fen = start();
    page.open("/?view=learn");
    assert_eq!(start(), fen);
    let day = page.text("new Date().toLocaleDateString('sv').replaceAll('-', '')");
    let puzzle = page.api(&format!("puzzles?rules=paper&difficulty=3&count=1&seed={day}"))["puzzles"][0].clone();
    let solution: Vec<&str> = puzzle["solution"].as_array().unwrap().iter().map(|uci| uci.as_str().unwrap()).collect();
    for (i, uci) in solution.iter().enumerate().step_by(2) {
        play(&page, uci);
        page.wait(&format!("new URLSearchParams(location.search).get('at') === '{}'", (i + 2).min(solution.len())));
    }
    page.wait("document.querySelector('#puzzlegain').textContent.includes('(+')");
    page.wait("document.querySelector('#dailypuzzle').textContent.endsWith('✓')");
    assert!(page.text("document.querySelector('#puzzlestate').textContent").contains("1 solved, 1 of them"));
    // A page that is looked at again after midnight offers the puzzle of the new day.
    page.click("#closeexercise, #analysepuzzle");
    page.show("learn");
    page.run("const Real = Date; Date = class extends Real { constructor(...given) { super(...(given.length ? given : [Real.now() + 864e5])); } }; document.dispatchEvent(new Event('visibilitychange'))");
    page.wait("document.querySelector('#dailypuzzle').textContent === 'Puzzle of the day'");
    page.click("#dailypuzzle");
    page.wait("document.querySelector('#exercisehead')?.textContent.startsWith('Puzzle of the day')");
    page.expect("Boolean(document.querySelector('#exercisetext.solved'))", false);
    let tomorrow = page.text("new Date().toLocaleDateString('sv').replaceAll('-', '')");
    let puzzle = page.api(&format!("puzzles?rules=paper&difficulty=3&count=1&seed={tomorrow}"))["puzzles"][0].clone();
    assert_eq!(json!(page.fen()), puzzle["fen"].as_str().unwrap().replace(' ', "_"));
    page.silent();
}

/// The famous endgames have the values that the page states.
#[test]
fn famous_endgames_have_their_values() {
    let Some(page) = Page::start() else { return };
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../explorer/src/assets/famous-endgames.js"));
    let (text, tables) = (text.unwrap(), folder("famous"));
    let value = |line: &str, field: &str| -> String {
        let rest = line.split(&format!("{field}: ")).nth(1).unwrap();
        rest.split([',', '}']).next().unwrap().trim().trim_matches('"').to_owned()
    };
    let endgames: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("{ key:")).collect();
    assert!(endgames.len() >= 7);
    for line in &endgames {
        let fen = value(line, "fen").replace(' ', "_");
        let pieces = fen.bytes().filter(u8::is_ascii_alphabetic).count() - 1;
        let found = if pieces > 3 {
            // The server of this test has three pieces in memory and counts no others.
            let material = Material::of(&Position::from_fen(&fen.replace('_', " ")).unwrap()).unwrap();
            let [tables, material] = [tables.to_str().unwrap(), &material.to_string()];
            dsq::stdout(&["generate", "--material", material, "--backend", "cpu", "--out", tables, "--json"]);
            serde_json::from_str(&dsq::stdout(&["probe", "--tables", tables, "--json", &fen.replace('_', " ")]))
                .unwrap()
        } else {
            page.api(&format!("probe?fen={fen}"))["value"].clone()
        };
        assert_eq!(found["wdl"], json!(value(line, "wdl")), "{fen}");
        assert_eq!(found["dtw"].to_string(), value(line, "dtw"), "{fen}");
    }
    std::fs::remove_dir_all(tables).unwrap();
    page.open("/?rules=chinese&view=endgames");
    page.click("[data-famous=wait]");
    page.wait("document.querySelector('#resulttext').textContent === 'Black wins in 17 moves'");
    page.expect("document.querySelector('#rules').value", "paper");
    page.click("[data-win=hunt]");
    page.wait("document.querySelector('#matchmessage')?.textContent === 'White wins in 34 moves. Win it.'");
    play(&page, "g6g7");
    page.wait("document.querySelector('#matchmessage').textContent.includes('is the fastest win: 33 moves')");
    // Each that can be won is played by the side that wins.
    page.expect(
        "document.querySelectorAll('[data-win]').length",
        endgames.iter().filter(|line| value(line, "dtw") != "null").count(),
    );
    page.open("/?view=endgames");
    page.click("[data-win=wait]");
    at(&page, 1);
    page.expect(TURN, "Your move");
    page.expect("document.querySelector('#near').ariaLabel", "You, Black");
    page.expect("document.querySelector('#matchmessage').textContent", "Black wins in 17 moves. Win it.");
    page.silent();
}

#[test]
fn the_trainer_watches_every_move() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=learn");
    page.choose("#trainerlevel", "2");
    page.click("#trainerstart");
    page.wait("document.querySelector('#matchmessage')?.textContent.startsWith('White wins in')");
    let probe = page.api(&format!("probe?fen={}", page.fen()));
    let dtw = probe["value"]["dtw"].as_u64().unwrap();
    assert!((11..=17).contains(&dtw), "{dtw}");
    play(&page, probe["moves"][0]["uci"].as_str().unwrap());
    page.wait(&format!(
        "document.querySelector('#matchmessage').textContent.includes('is the fastest win: {} move')",
        dtw / 2
    ));
    page.expect(TURN, "Your move");
    let probe = page.api(&format!("probe?fen={}", page.fen()));
    let worst = probe["moves"].as_array().unwrap().last().unwrap().clone();
    play(&page, worst["uci"].as_str().unwrap());
    if worst["value"]["wdl"] != "win" {
        page.wait("document.querySelector('#matchmessage').textContent.includes('turned the win')");
    }
    page.silent();
}

/// Reviews a game of `plies` plies, and waits for its table and graph.
fn review(page: &Page, text: &str, plies: usize) {
    page.open("/?view=game");
    page.run(&format!("document.querySelector('#gametext').value = {}", json!(text)));
    page.click("#review");
    page.wait(&format!("{REVIEWED}.length === {plies}"));
    page.wait("document.querySelector('#evaluation')");
}

/// The review of a whole game fits a desktop and a phone.
#[test]
fn a_whole_game_is_reviewed() {
    let Some(page) = Page::start() else { return };
    let text = "1. c3d3 a9a8 2. d3d4 a8a9 3. d4d5 a9a8 4. d5d6 a8a9 5. d6d7 a9a8 6. d7d8 a8a9 7. d8d9 1-0\n";
    for (name, width, height) in [("desktop", 1280, 800), ("phone", 390, 844)] {
        page.size(width, height);
        review(&page, text, 13);
        let accuracy = page.text("document.querySelector('#accuracy').textContent");
        // Paper shows it, too, and not the button beside it.
        page.chromium("Emulation.setEmulatedMedia", &json!({"media": "print"}));
        page.expect("document.querySelector('#accuracy').checkVisibility()", true);
        page.expect("[...document.querySelectorAll('#accuracy ~ button')].some((e) => e.checkVisibility())", false);
        page.chromium("Emulation.setEmulatedMedia", &json!({"media": ""}));
        assert!(accuracy.starts_with("Accuracy: White ") && accuracy.contains(", Black "), "{accuracy}");
        page.run("document.querySelector('#evaluation').scrollIntoView()");
        page.screenshot(&format!("review-{name}"));
        let hidden = "(box => box.scrollWidth - box.clientWidth)(document.querySelector('#reviewtable').parentElement)";
        assert_eq!(page.get(hidden), json!(0), "{name}: the table fits the page");
        for scheme in ["light", "dark"] {
            page.prefer("prefers-color-scheme", scheme);
            super::checks::contrast(&page, &format!("a review, {name}, {scheme}"));
        }
        // Both sides' moves stand in two columns, and the graph stays while they scroll.
        page.expect("document.querySelectorAll('#reviewtable tbody tr').length", 7);
        page.run("document.querySelector('#reviewtable tbody tr:last-child').scrollIntoView({block: 'center'})");
        page.stays("(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector('#evaluation').getBoundingClientRect())", true);
    }
    page.silent();
}

#[test]
fn a_mistake_is_tried_again() {
    let Some(page) = Page::start() else { return };
    review(&page, "[FEN \"7/4d2/2C4/7/7/7/7/7/7 w\"]\n\n1. Cb7 Dd8 *\n", 2);
    page.click("#reviewtable [data-key='1']");
    page.wait("document.querySelector('#reviewmove').textContent.includes('Better: Cc8')");
    page.expect("document.querySelectorAll('#evaluation .mark').length", 1);
    page.click("#reviewed .retry");
    page.wait("document.querySelector('#retrytext').textContent.includes('Find a better move')");
    play(&page, "c7b7");
    page.wait("document.querySelector('#retrytext').textContent.includes('played in the game')");
    play(&page, "c7d7");
    page.wait("document.querySelector('#retrytext').textContent.includes('not good enough')");
    play(&page, "c7c8");
    page.wait("document.querySelector('#retrytext').textContent.includes('is the best move')");
    page.screenshot("retry");
    page.click("#retryclose");
    page.wait("document.querySelector('#retry').textContent === ''");
    // There is one mistake only: the next one is the same again, now from the summary.
    page.click("#nextmistake");
    page.wait("document.querySelector('#retrytext').textContent.includes('Find a better move')");
    page.click("#retryshow");
    page.wait("document.querySelector('#retrynext')");
    page.click("#retrynext");
    page.wait("document.querySelector('#retrytext').textContent.includes('Find a better move')");
    page.click("#retryclose");
    page.wait("document.querySelector('#retry').textContent === ''");
    // Undone, the game on the board is another one, without a review; done again, its moves are those of the board.
    page.click("#undo");
    page.expect("document.querySelector('#reviewtable')", json!(null));
    page.click("#redo");
    page.click("#reviewtable [data-key='2']");
    page.wait("location.search.includes('at=2')");
    page.click("#reviewtable [data-key='1']");
    page.click("#reviewed .retry");
    page.wait("document.querySelector('#retrytext').textContent.includes('Find a better move')");
    play(&page, "c7c8");
    page.wait("document.querySelector('#retrytext').textContent.includes('is the best move')");
    page.silent();
}

/// After a start button anywhere on the page, the board, the task and the actions of a game are in view.
#[test]
fn exercises_begin_in_sight() {
    let Some(page) = Page::start() else { return };
    let seen = |part: &str| {
        let rectangle = format!("document.querySelector('{part}').getBoundingClientRect()");
        let inside = format!("(r => r.height > 0 && r.top >= 0 && r.bottom <= innerHeight)({rectangle})");
        page.wait(&inside);
    };
    for (width, height) in [(1280, 800), (390, 844)] {
        page.size(width, height);
        for (button, task) in
            [("#puzzlestart", "#resulttext"), ("#trainerstart", "#resign"), ("[data-lesson]", "#resulttext")]
        {
            page.open("/?view=learn");
            page.settled();
            page.click(button);
            page.wait("document.documentElement.dataset.mode !== ''");
            seen("#board");
            seen(task);
            page.screenshot(&format!("begin-{}-{width}", button.trim_matches(['#', '[', ']'])));
        }
    }
    page.silent();
}

/// A link that names no position opens the choices, in the language and the colours that it names.
#[test]
fn a_link_of_settings_opens_the_start() {
    let Some(page) = Page::start() else { return };
    page.open("/?lang=zh&theme=dark&rules=bell");
    page.wait("document.querySelector('#home-play')");
    page.expect("document.documentElement.lang", "zh-Hans");
    page.expect("document.querySelector('#rules').value", "bell");
    page.silent();
}
