//! One game, one truth: position, history, rules and no-capture limit travel together through the page, and nothing ends
//! a game without being asked.

use super::{ENTER, Page, REVIEWED, TURN, TWO, at, play};
use serde_json::{Value, json};

/// White's elephant and Black's rat walk to and fro: the start position occurs for the third time after eight plies.
const WALK: &str = "7/6r/7/7/7/7/7/1E5/7_w";
const LINE: &str = "b2c2.g8g7.c2b2.g7g8.b2c2.g8g7.c2b2.g7g8";

const RESULT: &str = "document.querySelector('#resulttext')?.textContent";

/// Starts a game of two players and plays its first ply.
fn two_players(page: &Page) {
    page.open("/?view=play");
    page.click("#you-both");
    page.click("#playstart");
    page.wait("!document.querySelector('#matchbar').hidden");
    play(page, "a3b3");
    at(page, 1);
}

/// The review of a line is the review of the whole game, also where repetition decides.
#[test]
fn a_review_knows_the_history() {
    let Some(page) = Page::start() else { return };
    page.open(&format!("/?from={WALK}&line={LINE}&at=8&view=game"));
    page.wait("document.querySelector('#reviewline')");
    page.click("#reviewline");
    page.wait(&format!("{REVIEWED}.length === 8"));
    let moves: Vec<&str> = LINE.split('.').collect();
    let game = json!({"fen": WALK.replace('_', " "), "moves": moves});
    let review = page.server.connect().post("/api/v1/review", &game.to_string()).json();
    let marks: Vec<&Value> = review["moves"].as_array().unwrap().iter().map(|mv| &mv["mark"]).collect();
    let shown = page.get(&format!("[...{REVIEWED}].map(move => move.dataset.mark)"));
    assert_eq!(shown, json!(marks));
    assert_eq!(
        page.text("document.querySelector('#reviewtable [data-key=\"8\"] small').textContent"),
        "0.00",
        "the last move draws"
    );
    // The results are in sight on a phone, too.
    page.size(390, 844);
    page.click("#reviewline");
    page.wait("document.querySelector('#reviewstate').textContent.startsWith('4 moves')");
    page.wait(
        "(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector('#evaluation').getBoundingClientRect())",
    );
    page.silent();
}

/// A game that is drawn by repetition or by the no-capture limit is drawn after a reload, too. The engine gets the history.
#[test]
fn a_drawn_game_stays_drawn() {
    let Some(page) = Page::start() else { return };
    let link = format!("/?from={WALK}&line={LINE}&at=8&view=position");
    page.open(&link);
    page.wait(&format!("{RESULT} === 'A draw by repetition'"));
    page.reload();
    page.wait(&format!("{RESULT} === 'A draw by repetition'"));
    page.expect("document.querySelector('#gauge').getAttribute('aria-label')", "The game is over");
    page.wait(
        "document.querySelector('#cost').textContent.includes('turned') || document.querySelector('#cost').hidden",
    );
    page.open(&format!("/?from={WALK}_99&line=b2c2&at=1"));
    page.wait(&format!("{RESULT} === 'A draw: 50 moves without a capture'"));
    // Under another limit it goes on, and the link keeps the limit.
    page.open(&format!("/?from={WALK}_99&line=b2c2&at=1&no_capture_limit=200"));
    page.wait(&format!("{RESULT}?.includes('wins in')"));
    page.wait("location.search.includes('no_capture_limit=200')");
    page.wait("document.querySelector('#fen').value.endsWith('b')");
    // The tables do not contain the start of the game, so the engine evaluates it.
    page.open("/?line=a3b3.a7b7.b3a3.b7a7&at=4&view=position");
    page.wait("performance.getEntriesByType('resource').some(e => e.name.includes('/analyze') && decodeURIComponent(e.name).includes('moves=a3b3,a7b7,b3a3,b7a7'))");
    page.silent();
}

/// Other rules replace the values of the line, and remove moves that they forbid.
#[test]
fn other_rules_hold_for_the_whole_line() {
    let Some(page) = Page::start() else { return };
    page.open_position(WALK, "&rules=paper");
    page.keys(&["n"]);
    page.wait("document.querySelector('#scrubber').max > 2");
    page.keys(&["."]);
    page.wait("document.querySelector('#ply').textContent.startsWith('1 /')");
    page.choose("#rules", "chinese");
    page.wait("location.search.includes('rules=chinese')");
    page.settled();
    let wdl = |fen: &str| page.api(&format!("probe?fen={fen}&rules=chinese"))["value"]["wdl"].clone();
    let (before, after) = (wdl(WALK), wdl(&page.fen()));
    let kept = [("win", "loss"), ("draw", "draw"), ("loss", "win")]
        .contains(&(before.as_str().unwrap(), after.as_str().unwrap()));
    page.wait(
        "document.querySelectorAll('#ribbon .hit').length > 2 || !document.querySelector('#ribbon').children.length",
    );
    let turned = page.get(
        "!document.querySelector('#cost').hidden && document.querySelector('#cost').textContent.includes('turned')",
    );
    assert_eq!(turned, json!(!kept), "{before} before, {after} for the other side");
    // A rat in the water takes a rat on land under the one rules, not under the others.
    let shore = "7/7/7/7/7/rR5/7/r6/6L_w".replace("/r6/", "/7/");
    page.open(&format!("/?from={shore}&line=b4a4&at=1&rules=paper&view=position"));
    page.wait("document.querySelectorAll('#tree button').length === 1");
    page.choose("#rules", "chinese");
    page.wait("document.querySelector('#notice').textContent.includes('Rxa4')");
    assert_eq!(page.fen(), shore);
    page.keys(&["z"]);
    page.wait(
        "document.querySelector('#rules').value === 'paper' && document.querySelectorAll('#tree button').length === 1",
    );
    page.silent();
}

/// A link plays no move that its rules forbid.
#[test]
fn links_obey_their_rules() {
    let Some(page) = Page::start() else { return };
    let shore = "7/7/7/7/7/rR5/7/7/6L_w";
    for (query, words) in [
        (format!("from={shore}&line=b4a4&at=1&rules=chinese"), "b4a4 is not a move there"),
        (format!("fen=7/7/7/7/7/R6/7/7/6L_b&from={shore}&line=b4a4&at=1&rules=chinese"), "b4a4 is not a move there"),
        ("line=a3b3.a7b7.b3a3.b7a7&at=4&rules=cazaux".to_owned(), "b7a7 is not a move there"),
    ] {
        page.open(&format!("/?{query}"));
        page.wait(&format!("document.querySelector('#notice').textContent.includes('{words}')"));
    }
    page.open(&format!("/?from={shore}&line=b4a4&at=1&rules=chinese"));
    assert_eq!(page.fen(), shore);
    page.open(&format!("/?from={shore}&line=b4a4&at=1"));
    page.wait("document.querySelector('#fen').value.startsWith('7/7/7/7/7/R6')");
    page.silent();
}

/// Nothing in an address or in the browser's storage leaves the page empty.
#[test]
fn the_page_starts_with_any_address() {
    let Some(page) = Page::start() else { return };
    let starts = |query: &str| {
        page.open(&format!("/?{query}"));
        page.wait("document.querySelectorAll('.picture .mover').length > 0");
        page.wait("document.querySelector('#panel').textContent.length > 20");
    };
    for query in [
        "lang=constructor&theme=toString&pieces=valueOf",
        "at=x&line=g3g4",
        "at=-3&line=g3g4&view=constructor&overlay=constructor",
        "fbclid=1&line=%ff((((&arrows=zz",
        "from=singlemessage&isappinstalled=0",
        "no_capture_limit=x&line=g3g4&at=1e99",
    ] {
        starts(query);
    }
    let script = |source: &str| {
        page.chromium("Page.addScriptToEvaluateOnNewDocument", &json!({"source": source}))["identifier"].clone()
    };
    let remove = |id: &Value| page.chromium("Page.removeScriptToEvaluateOnNewDocument", &json!({"identifier": id}));
    for source in [
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })",
        "localStorage.setItem('doushouqi', '{\"pieces\":1,\"theme\":null,\"language\":\"constructor\",\"sounds\":\"x\"}')",
        "for (const key of ['doushouqi', 'doushouqi.games', 'doushouqi.puzzles', 'doushouqi.lessons']) localStorage.setItem(key, '[null, 5]')",
        "for (const key of ['doushouqi', 'doushouqi.games', 'doushouqi.puzzles', 'doushouqi.lessons']) localStorage.setItem(key, '{')",
    ] {
        let id = script(source);
        for view in ["play", "learn"] {
            starts(&format!("view={view}"));
        }
        remove(&id);
    }
    page.run("localStorage.clear()");
    page.silent();
}

/// The editor's and the tree's keys do not touch a game, and what would end the game asks first.
#[test]
fn a_game_is_left_only_on_demand() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.click("#edit");
    page.wait("document.querySelector('#edit').ariaPressed === 'true'");
    page.click("#you-both");
    page.click("#playstart");
    page.wait("!document.querySelector('#matchbar').hidden");
    assert_eq!(page.get("document.querySelector('#editor').hidden"), json!(true), "the game closes the editor");
    play(&page, "a3b3");
    at(&page, 1);
    let running =
        "!document.querySelector('#matchbar').hidden && document.querySelectorAll('.picture .mover').length === 16";
    page.run("document.querySelector('#grid [data-square=g3]').focus()");
    page.keys(&["\u{e017}"]);
    page.show("position");
    page.run("document.querySelector('#tree button').focus()");
    page.keys(&["\u{e017}"]);
    page.stays(running, true);
    page.stays("document.querySelectorAll('#tree button').length", 1);
    // Each of these asks, and the game stays unless the user agrees.
    let start = "[...document.querySelectorAll('#panel button')].find((button) => button.textContent === 'Start of the game').click()";
    let rules = "const e = document.querySelector('#rules'); e.value = 'bell'; e.dispatchEvent(new Event('change', { bubbles: true }))";
    for action in [start, rules, "history.back()"] {
        page.run(action);
        page.wait("document.querySelector('#ask').open");
        page.click("#askno");
        page.wait("!document.querySelector('#ask').open");
        assert_eq!(page.get(running), json!(true), "{action}");
        page.stays("document.querySelector('#rules').value", "paper");
        at(&page, 1);
    }
    page.screenshot("ask");
    page.run(start);
    page.wait("document.querySelector('#ask').open");
    page.keys(&[ENTER]);
    page.wait("!document.querySelector('#ask').open");
    assert_eq!(page.get(running), json!(true), "Enter does not agree");
    // The event that a dialog has closed comes later; it does not answer a question that is asked before.
    page.run(start);
    page.wait("document.querySelector('#ask').open");
    page.run(&format!("document.querySelector('#askno').click(); {rules}"));
    page.wait("document.querySelector('#ask').open");
    page.click("#askyes");
    page.wait("document.querySelector('#matchbar').hidden && document.querySelector('#rules').value === 'bell'");
    // Without a move there is nothing to ask about.
    page.open("/?view=play");
    page.click("#playstart");
    page.wait("!document.querySelector('#matchbar').hidden");
    page.choose("#rules", "bell");
    page.wait("document.querySelector('#matchbar').hidden");
    page.silent();
}

/// A reload continues the game; back and forward lead out of it and into it again.
#[test]
fn a_reload_continues_the_game() {
    let Some(page) = Page::start() else { return };
    two_players(&page);
    let running = "!document.querySelector('#matchbar').hidden";
    page.reload();
    page.wait(running);
    play(&page, "a7b7");
    at(&page, 2);
    page.run("history.back()");
    page.wait("document.querySelector('#ask').open");
    page.click("#askyes");
    page.wait(&format!("!({running}) && !location.search.includes('line=')"));
    page.run("history.forward()");
    page.wait(running);
    at(&page, 2);
    play(&page, "b3a3");
    at(&page, 3);
    // A game without storage is continued from the address.
    page.run("localStorage.clear()");
    page.reload();
    page.wait(running);
    page.expect("document.querySelectorAll('.picture .last').length", 2);
    // A game that is over stays over.
    page.click("#resign");
    page.click("#resign");
    page.wait("document.querySelector('#gameover').open");
    page.click("#closeresult");
    page.reload();
    page.stays(running, false);
    // Opened from the list, it has its result.
    page.click("#stored li button");
    page.wait(&format!("{RESULT}.includes('resigned')"));
    page.silent();
}

/// A game belongs to the tab that has opened it last, and tabs keep only the settings that were changed in them.
#[test]
fn two_tabs_do_not_erase_each_other() {
    let Some(page) = Page::start() else { return };
    two_players(&page);
    let first = page.tab();
    let (running, elsewhere) = (
        "!document.querySelector('#matchbar').hidden",
        "document.querySelector('#notice').textContent.includes('another tab')",
    );
    let line = "JSON.parse(localStorage.getItem('doushouqi.games'))[0].line";
    // Another tab continues the game and plays a ply.
    let second = page.open_tab();
    page.open("/?view=play");
    page.click(".continue");
    page.wait(running);
    play(&page, "a7b7");
    at(&page, 2);
    page.choose("#theme", "dark");
    page.expect(line, "a3b3.a7b7");
    page.switch(&first);
    page.wait(elsewhere);
    page.expect(running, false);
    page.stays(line, "a3b3.a7b7");
    page.choose("#pieces", "letters");
    page.expect(
        "(({ theme, pieces }) => [theme, pieces])(JSON.parse(localStorage.getItem('doushouqi')))",
        json!(["dark", "letters"]),
    );
    // Continued here, the game is this tab's again.
    page.click(".continue");
    page.wait(running);
    play(&page, "b3a3");
    at(&page, 3);
    page.expect(line, "a3b3.a7b7.b3a3");
    page.switch(&second);
    page.wait(elsewhere);
    page.expect(running, false);
    page.stays(line, "a3b3.a7b7.b3a3");
    page.silent();
}

/// A decision tree that is wrong about the position gives way to the tables.
#[test]
fn a_wrong_tree_says_so() {
    let Some(page) = Page::start() else { return };
    page.open_position("7/7/4t2/7/7/6L/4R2/7/7_w", "&view=explore");
    page.wait("document.querySelector('#treesentence')");
    assert!(page.text("document.querySelector('#treewrong').textContent").contains("A draw with best play"));
    page.screenshot("tree-wrong");
    page.open_position(TWO, "&view=explore");
    page.wait("document.querySelector('#treesentence')");
    page.stays("document.querySelector('#treewrong')", Value::Null);
    page.silent();
}

/// The time that a dead server takes is not the engine's.
#[test]
fn the_engines_clock_waits_for_the_server() {
    let Some(page) = Page::start() else { return };
    page.open(&format!("/?fen={TWO}&view=play"));
    page.click("#level-C");
    page.choose("#from", "board");
    page.choose("#time", "3+2");
    page.run("const now = performance.now.bind(performance); window.ahead = 0; performance.now = () => now() + window.ahead;");
    page.run("window.ticks = 0; const set = setInterval; window.setInterval = (act, ms) => set(() => { act(); window.ticks++; }, ms)");
    page.click("#playstart");
    page.wait("document.querySelectorAll('[data-clock]').length === 2");
    page.offline(true);
    play(&page, "d3d4");
    page.expect(TURN, "Waiting for the server…");
    page.run("window.ahead = 600000; window.ticks = 0");
    page.wait("window.ticks > 0");
    page.stays(TURN, "Waiting for the server…");
    page.offline(false);
    page.expect(TURN, "Your move");
    page.stays("document.querySelector('#gameover').open", false);
    let clock = page.text("document.querySelector('[data-clock=b]').textContent");
    assert!(clock.starts_with("3:0"), "{clock}");
    // The user's own time runs.
    page.run("window.ahead = 1200000");
    page.wait("document.querySelector('#gameover').open");
    page.console();
}
