//! The board has one owner at a time. What was asked before another owner took it changes nothing, however late the answer
//! comes, and an owner returns the rules and the position that it has borrowed.

use super::webdriver::{Browser, Options};
use super::{LION, Page, REVIEWED, TURN, TWO, at, play};
use crate::site;
use serde_json::{Value, json};

/// Short names for the scripts of this module.
const HELP: &str = "const click = (s) => document.querySelector(s).dispatchEvent(new MouseEvent('click', {bubbles: true}));
    const set = (s, value, event = 'change') => { const e = document.querySelector(s); e.value = value; e.dispatchEvent(new Event(event, {bubbles: true})); };";

/// What asks for something to put on the board or on paper: the view, the script, and the request that it sends.
const QUESTIONS: [(&str, &str, &str); 10] = [
    ("learn", "click('#puzzlestart')", "/puzzles"),
    ("learn", "click('#dailypuzzle')", "/puzzles"),
    ("learn", "click('#trainerstart')", "/stats/"),
    ("endgames", "click('#randomany')", "/random"),
    ("material", "click('.hit')", "/random"),
    ("material", "click('[data-longest]')", "/mainline"),
    ("position", "click('#bestline')", "/mainline"),
    ("position", "document.querySelector('#fen').value = '7/7/3e3/7/7/7/3E3/7/7 b'; click('#setfen')", "/probe"),
    ("play", "click('#you-b'); set('#from', 'board'); click('#playstart')", "/bestmove"),
    ("learn", "window.print = () => undefined; click('#printpuzzles')", "/puzzles"),
];

/// What is opened before the answer comes.
const MEANWHILE: [(&str, &str); 5] = [
    (
        "a game",
        "click('#tab-play'); document.querySelector('#leavegame')?.click(); click('#you-both'); click('#playstart')",
    ),
    ("a lesson", "click('#tab-learn'); click('[data-lesson=step]')"),
    ("another view", "click('#tab-analyse'); click('#view-explore')"),
    ("other rules", "set('#rules', 'bell')"),
    (
        "a move",
        "document.querySelector('#leavegame')?.click(); document.querySelector('#movein').value = 'd2d3'; click('#movein + button')",
    ),
];

/// What the board and the paper show, and who owns the board.
const SHOWN: &str = "JSON.stringify([document.querySelector('#fen').value, document.querySelector('#rules').value, \
    document.documentElement.dataset.mode, document.querySelector('#scrubber').max, document.querySelector('#sheet') !== null])";

/// Asks, opens something else before the answer comes, and checks that the answer changes nothing.
fn is_dropped(page: &Browser, latency: u64, question: usize, meanwhile: usize) {
    let ((view, ask, request), (name, act)) = (QUESTIONS[question], MEANWHILE[meanwhile]);
    page.latency(0);
    page.open(&format!("/?fen={LION}&view={view}"));
    page.wait("document.querySelector('#view-material')?.ariaSelected !== 'true' || document.querySelector('.hit')");
    page.quiet();
    page.latency(latency);
    page.hold();
    page.run(&format!("{HELP} {ask}"));
    page.wait(&format!("window.pending().some((what) => what.includes('{request}'))"));
    page.run(&format!("{HELP} {act}"));
    let shown = page.now(SHOWN);
    page.release();
    page.stays(SHOWN, shown);
    page.stays("document.querySelector('#ask').open", false);
    assert_eq!(page.console(), Vec::<String>::new(), "{ask}, then {name}");
}

#[test]
fn a_late_answer_changes_nothing() {
    let Some(page) = Page::start() else { return };
    for question in 0..QUESTIONS.len() {
        for meanwhile in 0..MEANWHILE.len() {
            // The reply of the engine belongs to the game, whatever view is shown; in the longest line the move is illegal.
            if ![(8, 2), (5, 4)].contains(&(question, meanwhile)) {
                is_dropped(&page, 500, question, meanwhile);
            }
        }
    }
    is_dropped(&page, 3000, 0, 0);
    is_dropped(&page, 3000, 3, 1);
    is_dropped(&page, 3000, 8, 1);
}

#[test]
fn a_late_answer_of_the_site_changes_nothing() {
    let Some(dir) = site::dir().filter(|_| super::webdriver::available()) else { return };
    let host = site::Host::start(dir);
    let page = Browser::start(host.address, "/games", Options::default());
    for question in 0..QUESTIONS.len() {
        is_dropped(&page, 500, question, question % 2);
    }
}

/// Of two questions the newer one is answered, even if the older answer comes later.
#[test]
fn the_newer_question_wins() {
    let Some(page) = Page::start() else { return };
    let title = "document.querySelector('#exercisehead').textContent.startsWith('Puzzle of the day')";
    for (older, newer, is_daily) in [(0, 1, true), (1, 0, false), (2, 1, true)] {
        page.latency(0);
        page.open("/?view=learn");
        page.quiet();
        page.latency(1500);
        page.run(&format!("{HELP} {}", QUESTIONS[older].1));
        page.wait(&format!("window.pending().some((what) => what.includes('{}'))", QUESTIONS[older].2));
        page.latency(0);
        page.run(&format!("{HELP} {}", QUESTIONS[newer].1));
        page.wait("document.querySelector('#exercisehead')");
        page.stays(title, is_daily);
    }
    page.silent();
}

/// While an answer is slow, the page says so, and states nothing about what was shown before.
#[test]
fn a_slow_answer_is_awaited_in_sight() {
    let Some(page) = Page::start() else { return };
    let result = "document.querySelector('#resulttext').textContent";
    let marks = "document.querySelectorAll('.picture rect.tint, .picture .pill').length";
    let presets = "document.querySelector('#presets').textContent";
    page.open(&format!("/?fen={LION}&view=explore&overlay=whatif:g6"));
    page.wait(&format!("{marks} > 60 && document.querySelectorAll('#presets tr').length === 7"));
    page.quiet();
    page.hold();
    play(&page, "g6g5");
    page.expect(result, "One moment…");
    page.expect(presets, "One moment…");
    page.expect("document.querySelector('#overlaytext').textContent", "One moment…");
    page.expect("document.querySelector('#fen').value.endsWith(' b')", true);
    assert_eq!(page.now(marks), json!(0));
    page.release();
    page.wait(&format!("{result}.startsWith('White wins in') && {marks} > 60"));
    // What was asked for the position before is not drawn on this one.
    page.hold();
    page.click("input[value=race]");
    page.wait("window.pending().some((what) => what.includes('/race'))");
    play(&page, "d8d7");
    page.expect(result, "One moment…");
    page.release();
    page.wait("document.querySelectorAll('.picture .route').length === 2");
    page.stays(marks, 0);
    // Moves of the position before are no longer offered, whatever the tables say later.
    page.show("position");
    page.hold();
    play(&page, "g5g4");
    page.expect(result, "One moment…");
    let moves = "[...document.querySelectorAll('#moves tbody tr')].map((row) => row.dataset.uci).sort().join()";
    let offered = page.now(moves);
    page.release();
    page.wait(&format!("{result}.startsWith('White wins in')"));
    page.stays(moves, offered);

    page.open("/?view=learn");
    page.quiet();
    page.hold();
    page.click("#trainerstart");
    page.expect("document.querySelector('#toast').textContent", "One moment…");
    page.release();
    page.wait("document.querySelector('#matchmessage')?.textContent.startsWith('White wins in')");
    let best = page.api(&format!("probe?fen={}", page.fen()))["moves"][0]["uci"].clone();
    page.quiet();
    page.hold();
    play(&page, best.as_str().unwrap());
    page.expect("document.querySelector('#matchmessage').textContent", "One moment…");
    page.release();
    page.wait("document.querySelector('#matchmessage')?.textContent.includes('is the fastest win') || document.querySelector('#gameover').open");
    page.silent();
}

/// A review that ends while something else is on the board is kept and offered.
#[test]
fn a_late_review_is_offered() {
    let Some(page) = Page::start() else { return };
    for (name, act) in &MEANWHILE[..2] {
        page.latency(0);
        page.open(&format!("/?from={TWO}&line=d3d4.d7d6&at=2&view=game"));
        page.quiet();
        page.latency(500);
        page.hold();
        page.run(&format!("{HELP} click('#reviewline')"));
        page.wait("window.pending().includes('review')");
        page.run(&format!("{HELP} {act}"));
        let shown = page.now(SHOWN);
        page.release();
        page.stays(SHOWN, shown);
        assert!(page.text("document.querySelector('#toast').textContent").contains("review is ready"), "{name}");
        page.show("game");
        page.click("#reviewshow");
        page.wait(&format!("{REVIEWED}.length === 2"));
        page.stays("document.querySelector('#reviewshow')", Value::Null);
    }
    page.silent();
}

/// The review that is made while a result is shown is not that of another game.
#[test]
fn a_review_is_of_its_game() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.click("#you-both");
    page.click("#playstart");
    for (n, uci) in ["a3b3", "a7b7", "b3a3"].into_iter().enumerate() {
        play(&page, uci);
        at(&page, n + 1);
    }
    page.click("#resign");
    page.click("#resign");
    page.wait("document.querySelector('#gameaccuracy').textContent.includes('%')");
    page.click("#closeresult");
    page.show("game");
    page.run("document.querySelector('#gametext').value = '1. Eb3 ra6 *'");
    page.click("#review");
    page.wait(&format!("{REVIEWED}.length === 2"));
    page.silent();
}

const RULES: &str = "document.querySelector('#rules').value";
const MODE: &str = "document.documentElement.dataset.mode";

/// A puzzle and a famous endgame have rules of their own. After them the chosen rules hold, and the line is back.
#[test]
fn borrowed_rules_are_returned() {
    let Some(page) = Page::start() else { return };
    let learn = "document.querySelector('#learn').textContent";
    page.open("/?rules=quadibloc&line=a3b3.a7b7&at=2&view=learn");
    let before = page.fen();
    page.click("#puzzlestart");
    page.wait("document.querySelector('#closeexercise')");
    page.expect(&format!("{RULES} !== 'quadibloc'"), true);
    page.click("#closeexercise");
    page.expect(RULES, "quadibloc");
    assert_eq!(page.fen(), before);
    page.stays("document.querySelector('#scrubber').max", "2");
    // With its position kept for an analysis, the puzzle keeps its rules, but not for the next exercise.
    page.click("#puzzlestart");
    page.click("#showpuzzle");
    page.click("#analysepuzzle");
    page.expect(MODE, "");
    page.expect(&format!("{RULES} !== 'quadibloc'"), true);
    page.expect("document.querySelector('#view-position').getAttribute('aria-selected')", "true");
    page.show("learn");
    page.click("[data-lesson=shore]");
    page.wait(&format!("{learn}.includes('a rat in the water captures nothing on land')"));
    page.stays(RULES, "quadibloc");
    page.click("#closeexercise");
    page.show("endgames");
    page.click("[data-famous=wait]");
    page.wait("location.search.includes('fen=6e/7/6E')");
    page.stays(RULES, "paper");
    page.reload();
    page.show("learn");
    page.stays(RULES, "paper");
    page.click("#trainerstart");
    page.wait("document.querySelector('#matchmessage')?.textContent.startsWith('White wins in')");
    page.stays(RULES, "quadibloc");
    page.silent();
}

/// Rules that were changed and undone are not those of the next game.
#[test]
fn undone_rules_are_not_chosen() {
    let Some(page) = Page::start() else { return };
    page.open("/?rules=paper&view=play");
    page.choose("#rules", "chinese");
    page.expect("new URLSearchParams(location.search).get('rules')", "chinese");
    page.run("document.activeElement.blur()");
    page.keys(&["z"]);
    page.expect(RULES, "paper");
    page.click("#you-both");
    page.click("#playstart");
    page.expect(MODE, "match");
    page.stays(RULES, "paper");
    page.silent();
}

/// A reload during an exercise shows the exercise again, and no value.
#[test]
fn a_reload_keeps_the_exercise() {
    let Some(page) = Page::start() else { return };
    let values = "document.querySelectorAll('.picture .pill').length";
    for (start, mode) in
        [("[data-lesson=capture]", "exercise"), ("#puzzlestart", "exercise"), ("#trainerstart", "match")]
    {
        page.open("/?rules=chinese&view=learn");
        page.click(start);
        page.expect(MODE, mode);
        page.quiet();
        let shown = page.text(SHOWN);
        page.reload();
        page.expect(MODE, mode);
        page.stays(SHOWN, shown);
        page.stays(values, 0);
    }
    // The trainer goes on after a move, and a lesson gives the line before it back.
    let probe = page.api(&format!("probe?fen={}&rules=chinese", page.fen()));
    play(&page, probe["moves"][0]["uci"].as_str().unwrap());
    at(&page, 2);
    page.reload();
    page.expect(TURN, "Your move");
    page.open(&format!("/?fen={TWO}&view=learn"));
    page.click("[data-lesson=capture]");
    page.expect(MODE, "exercise");
    page.reload();
    page.click("#closeexercise");
    page.expect("document.querySelector('#fen').value", TWO.replace('_', " "));
    page.silent();
}

/// Makes the moves of a solution for the side to move; the page makes the others.
fn solve(page: &Page, solution: &[&str]) {
    for (i, uci) in solution.iter().enumerate().step_by(2) {
        play(page, uci);
        at(page, (i + 2).min(solution.len()));
    }
    page.wait("document.querySelector('#nextpuzzle')");
}

/// A puzzle that was tried, or whose solution was shown, is not one that was solved at the first try, whatever follows.
#[test]
fn only_the_first_try_counts() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=learn");
    let day = page.text("new Date().toLocaleDateString('sv').replaceAll('-', '')");
    let puzzle = page.api(&format!("puzzles?rules=paper&difficulty=3&count=1&seed={day}"))["puzzles"][0].clone();
    let solution: Vec<&str> = puzzle["solution"].as_array().unwrap().iter().map(|uci| uci.as_str().unwrap()).collect();
    let fen = puzzle["fen"].as_str().unwrap().replace(' ', "_");
    let moves = page.api(&format!("probe?fen={fen}"))["moves"].clone();
    let start = || {
        page.click("#dailypuzzle");
        page.wait("document.querySelector('#showpuzzle')");
    };
    let state = "document.querySelector('#puzzlestate').textContent";
    let daily = "document.querySelector('#dailypuzzle').textContent";
    // A wrong move, then a reload.
    start();
    play(&page, moves.as_array().unwrap().last().unwrap()["uci"].as_str().unwrap());
    page.wait("document.querySelector('#puzzlegain').textContent.includes('(−')");
    page.reload();
    page.wait("document.querySelector('#showpuzzle')");
    solve(&page, &solution);
    page.expect("document.querySelector('#exercisetext').textContent", "Solved.");
    page.wait(&format!("{state}.includes('1 solved, 0 of them')"));
    page.expect(daily, "Puzzle of the day ✓");
    // The solution, then the puzzle once more.
    page.run("localStorage.clear()");
    page.open("/?view=learn");
    start();
    page.click("#showpuzzle");
    page.wait("document.querySelector('#nextpuzzle')");
    page.click("#againpuzzle");
    page.wait("document.querySelector('#showpuzzle')");
    solve(&page, &solution);
    page.stays(&format!("{state}.includes('solved')"), false);
    page.expect(daily, "Puzzle of the day");
    page.silent();
}

/// The solution that is asked for while the page replies goes on from the reply.
#[test]
fn a_solution_is_shown_during_a_reply() {
    let Some(page) = Page::start() else { return };
    let puzzles = page.api("puzzles?rules=paper&difficulty=5&count=50&seed=1")["puzzles"].clone();
    let long = |puzzle: &&Value| puzzle["solution"].as_array().unwrap().len() >= 3;
    let puzzle = puzzles.as_array().unwrap().iter().find(long).expect("a puzzle of three plies");
    page.open("/?view=learn");
    page.run(&format!(
        "const ask = window.fetch; const text = {};
         window.fetch = (address, options) => String(address).includes('/puzzles?') ? Promise.resolve(new Response(text)) : ask(address, options);",
        json!(json!({"puzzles": [puzzle]}).to_string())
    ));
    page.click("#puzzlestart");
    page.wait("document.querySelector('#showpuzzle')");
    // Both within one task, so that no reply comes between them.
    let first = puzzle["solution"][0].as_str().unwrap();
    page.run(&format!(
        "{HELP} document.querySelector('#movein').value = '{first}'; click('#movein + button');
         click('#showpuzzle');"
    ));
    page.wait("document.querySelector('#nextpuzzle')");
    let mut game = json!({"fen": puzzle["fen"], "moves": puzzle["solution"]});
    game["rules"] = puzzle["rules"].clone();
    let review = page.server.connect().post("/api/v1/review", &game.to_string()).json();
    let last = review["moves"].as_array().unwrap().last().unwrap()["fen"].clone();
    page.stays("document.querySelector('#fen').value", last);
    page.silent();
}

/// An engine that fails once is asked again on demand, and the message is gone with its move.
#[test]
fn an_engine_that_failed_is_asked_again() {
    let Some(page) = Page::start() else { return };
    page.open(&format!("/?fen={TWO}&view=play"));
    page.choose("#from", "board");
    page.run(
        "const ask = window.fetch; let failures = 1; const error = {code: 'internal', message: 'no'};
         window.fetch = (address, options) => String(address).includes('bestmove') && failures-- > 0
           ? Promise.resolve(new Response(JSON.stringify({error}), {status: 500})) : ask(address, options);",
    );
    page.click("#playstart");
    play(&page, "d3d4");
    page.expect(TURN, "The computer cannot move here");
    page.click("#askagain");
    at(&page, 2);
    page.expect(TURN, "Your move");
    page.stays("document.querySelector('#askagain')", Value::Null);
    page.silent();
}

/// A review of the user's own game asks for better moves of the user only.
#[test]
fn the_engines_mistakes_are_not_mine() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    for (you, asks) in [("w", false), ("b", true)] {
        let game = json!({
            "id": "one", "date": "2026-11-29T12:00:00Z", "rules": "paper", "plies": 2, "left": null, "line": "c3b3.e2d2",
            "setup": {"you": you, "level": "C", "time": ""}, "start": "7/7/7/7/7/7/2c4/4D2/7 b",
            "result": {"winner": "white", "reason": "resignation"}
        });
        page.run(&format!("localStorage.setItem('doushouqi.games', {})", json!(json!([game]).to_string())));
        page.open("/?view=play");
        page.click("#stored li button");
        page.click("#panelreview");
        page.wait(&format!("{REVIEWED}.length === 2"));
        // It opens with the result, and with the user's mistakes unless the user wants the opponent's, too.
        page.expect("document.querySelector('#resulttext').textContent", "White has won: Black resigned");
        page.stays("document.querySelector('#nextmistake') !== null", asks);
        if asks {
            page.expect("document.querySelector('#nextmistake').textContent", "Learn from your mistakes");
        } else {
            page.click("#theirs");
            page.expect("document.querySelector('#nextmistake').textContent", "Next mistake");
        }
        page.expect("document.querySelector('#reviewstate').textContent.startsWith('1 move, ')", true);
    }
    page.silent();
}

/// An endgame that was lost can be tried again.
#[test]
fn an_endgame_is_tried_again() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=learn");
    page.click("#trainerstart");
    page.wait("document.querySelector('#matchmessage')?.textContent.startsWith('White wins in')");
    let fen = page.fen();
    play(&page, page.api(&format!("probe?fen={fen}"))["moves"][0]["uci"].as_str().unwrap());
    page.wait("document.querySelector('#gameover').open || document.querySelector('#takeback:enabled')");
    if page.get("document.querySelector('#gameover').open") == json!(false) {
        page.click("#resign");
        page.click("#resign");
    }
    page.wait("document.querySelector('#gameover').open");
    assert!(page.text("document.querySelector('#gameovertext').textContent").contains("has won"));
    page.click("#again");
    page.wait("!document.querySelector('#gameover').open");
    page.expect("document.querySelector('#fen').value", fen.replace('_', " "));
    page.expect(MODE, "match");
    page.silent();
}
