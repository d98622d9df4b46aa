//! Games in the page: against the engine, between two players, stored, and without the server.

use super::{ENTER, Page, REVIEWED, TURN, TWO, at, play};
use crate::annotated::annotated;
use doushouqi::board::RuleOptions;
use serde_json::{Value, json};

/// A wolf that walks into the den while Black's lion looks on.
const WALK: &str = "c3d3 a9a8 d3d4 a8a9 d4d5 a9a8 d5d6 a8a9 d6d7 a9a8 d7d8 a8a9 d8d9";

fn ply(page: &Page, n: usize) {
    page.wait(&format!("document.querySelectorAll('.picture .last').length === 2 && new URLSearchParams(location.search).get('at') === '{n}'"));
}

/// A whole game from the first click to a rematch.
#[test]
fn a_game_from_the_first_click_to_a_rematch() {
    let Some(page) = Page::start() else { return };
    for (name, width, height) in [("desktop", 1280, 800), ("phone", 390, 844)] {
        page.size(width, height);
        page.open("/");
        page.expect("document.querySelector('#resulttext').textContent", "Play, learn or explore");
        let over = "[...document.querySelectorAll('.tile strong')].filter(title => title.getBoundingClientRect().right \
                    > title.closest('.tile').getBoundingClientRect().right - 4).length";
        assert_eq!(page.get(over), json!(0), "{name}: titles are within their tiles");
        page.screenshot(&format!("home-{name}"));
        page.click("#home-play");
        page.click("#you-both");
        page.click("#playstart");
        page.wait("!document.querySelector('#matchbar').hidden");
        for (n, uci) in WALK.split(' ').enumerate() {
            play(&page, uci);
            ply(&page, n + 1);
        }
        page.wait("document.querySelector('#gameover').open");
        assert_eq!(
            page.text("document.querySelector('#gameovertext').textContent"),
            "White has won by entering the den"
        );
        page.screenshot(&format!("gameover-{name}"));
        page.click("#rematch");
        page.wait("!document.querySelector('#gameover').open && !document.querySelector('#matchbar').hidden");
        assert_eq!(page.fen(), "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L_w");
        play(&page, "a3b3");
        ply(&page, 1);
        page.screenshot(&format!("match-{name}"));
    }
    page.silent();
}

/// The keys that lead from the focused square to another one.
fn way(from: &str, to: &str) -> Vec<&'static str> {
    let [left, up, right, down] = ["\u{e012}", "\u{e013}", "\u{e014}", "\u{e015}"];
    let step = |i: usize, less, more| {
        let (a, b) = (from.as_bytes()[i], to.as_bytes()[i]);
        vec![if b < a { less } else { more }; a.abs_diff(b).into()]
    };
    [step(0, left, right), step(1, down, up)].concat()
}

/// A whole game with keys only. The focus is never lost: it goes to the view, to the board, to the result and back.
#[test]
fn a_game_with_keys_only() {
    let Some(page) = Page::start() else { return };
    let focus = || page.text("document.activeElement.id || document.activeElement.dataset.square");
    let tab_to = |id: &str| {
        for _ in 0..40 {
            page.keys(&["\u{e004}"]);
            if focus() == id {
                return;
            }
        }
        panic!("{id} is not reached");
    };
    page.open("/");
    tab_to("home-play");
    page.keys(&[super::ENTER]);
    page.wait("document.activeElement.id === 'tab-play'");
    tab_to("you-w");
    page.keys(&["\u{e012}"]);
    page.wait("document.querySelector('#you-both').checked && document.activeElement.id === 'you-both'");
    tab_to("playstart");
    page.keys(&[super::ENTER]);
    page.wait("document.activeElement.dataset.square");
    for (n, uci) in WALK.split(' ').enumerate() {
        for square in [&uci[..2], &uci[2..]] {
            page.keys(&way(&focus(), square));
            page.keys(&[super::ENTER]);
        }
        ply(&page, n + 1);
    }
    page.wait("document.querySelector('#gameover').open && document.activeElement.id === 'rematch'");
    page.keys(&[super::ENTER]);
    page.wait("!document.querySelector('#gameover').open && document.activeElement.dataset.square");
    page.silent();
}

/// The engine answers, its pieces cannot be moved, and a full move is taken back.
#[test]
fn a_game_against_the_engine() {
    let Some(page) = Page::start() else { return };
    page.open(&format!("/?fen={TWO}&view=play"));
    page.click("#level-C");
    page.choose("#from", "board");
    page.choose("#time", "3+2");
    page.click("#playstart");
    page.wait("document.querySelectorAll('[data-clock]').length === 2");
    // The board shows no values of moves, which would be a hint.
    page.stays("document.querySelectorAll('.picture .pill').length", 0);
    play(&page, "d3d4");
    // The user cannot move Black's elephant, neither while the engine thinks nor afterwards.
    play(&page, "d7d6");
    ply(&page, 2);
    page.stays("document.querySelectorAll('.picture .selected').length", 0);
    page.expect(TURN, "Your move");
    // The players stand above and below the board, and whose move it is is said once.
    let names = "[...document.querySelectorAll('#far .who, #near .who')].map((name) => name.textContent)";
    page.stays(names, json!(["Cat", "You"]));
    page.stays("[...document.querySelector('main:has(#board)').innerText.matchAll(/your move|to move/gi)].length", 1);
    let order = "['#far', '#board', '#near'].map((part) => document.querySelector(part).getBoundingClientRect().top)";
    page.stays(&format!("{order}.every((top, i, all) => !i || top > all[i - 1])"), true);
    // Neither counters that do not matter yet nor the gauge are shown.
    page.stays("document.querySelector('.counters')", Value::Null);
    page.stays("document.querySelector('#gauge').checkVisibility()", false);
    page.click("#hint");
    page.wait("document.querySelector('#matchmessage').textContent.startsWith('Hint:')");
    page.click("#takeback");
    page.wait(&format!("document.querySelector('#fen').value === '{}'", TWO.replace('_', " ")));
    page.wait("document.querySelector('#takeback').disabled");
    page.click("#offerdraw");
    page.wait("document.querySelector('#matchmessage').textContent.includes('declined')");
    page.click("#resign");
    page.expect("document.querySelector('#resign').textContent", "Really resign?");
    page.click("#resign");
    page.wait("document.querySelector('#gameover').open");
    page.expect("document.querySelector('#gameoverhead').textContent", "You have lost");
    page.click("#rematch");
    // After a rematch with exchanged sides the engine begins.
    ply(&page, 1);
    page.expect(TURN, "Your move");
    // Black's player sees the board from Black's side; one key turns it.
    let corner = || page.text("document.querySelector('#grid').firstElementChild.firstElementChild.dataset.square");
    assert_eq!(corner(), "g1");
    page.keys(&["f"]);
    assert_eq!(corner(), "a9");
    // A game that is not over is continued from the first view.
    page.open("/");
    assert!(page.text("document.querySelector('#home-resume').textContent").contains("against the Cat"));
    page.click("#home-resume");
    page.expect(TURN, "Your move");
    assert!(page.get("document.querySelector('#toast').hidden").as_bool().unwrap());
    page.silent();
}

/// A move that is not legal shakes its piece, and a few words say why.
#[test]
fn an_impossible_move_shakes_the_piece() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.click("#you-both");
    page.click("#playstart");
    page.run("window.shaken = []; const animate = Element.prototype.animate; Element.prototype.animate = function (...all) { if (this.dataset.piece) shaken.push(this.dataset.piece); return animate.apply(this, all); }");
    for (uci, why, piece) in [
        ("a3a5", "A piece moves only one square.", "E"),
        ("b2c1", "No piece moves diagonally.", "C"),
        ("c3c4", "Only the rat can swim.", "W"),
    ] {
        page.run("window.shaken = []");
        page.tap(&Page::square(&uci[..2]));
        page.tap(&Page::square(&uci[2..]));
        page.expect("document.querySelector('#matchmessage').textContent", why);
        assert!(why.split(' ').count() <= 6, "{why}");
        page.expect("window.shaken.join()", piece);
        page.stays("document.querySelectorAll('.picture .last').length", 0);
    }
    page.silent();
}

/// A won game is followed by the next opponent, and its result tells how well both sides have played.
#[test]
fn a_won_game_leads_to_the_next_opponent() {
    let Some(page) = Page::start() else { return };
    for (width, height) in [(1280, 800), (390, 844)] {
        page.size(width, height);
        page.open("/?fen=7/7/3E3/7/7/7/r6/7/7_w&view=play");
        page.click("#level-R");
        page.choose("#from", "board");
        page.expect("document.querySelector('#leveltext').textContent.endsWith('.')", true);
        page.click("#playstart");
        play(&page, "d7d8");
        page.expect(TURN, "Your move");
        play(&page, "d8d9");
        page.wait("document.querySelector('#gameover').open");
        page.wait("/^Accuracy: You [0-9.]+%, Rat [0-9.]+%$/.test(document.querySelector('#gameaccuracy').textContent)");
        page.expect("document.querySelector('#next').textContent", "Next opponent: Cat");
        page.screenshot(&format!("gameover-next-{width}"));
        super::checks::contrast(&page, "the result of a game");
        // The review is there at once, begins with the result, and the board with the end of the game.
        page.click("#review");
        page.wait(&format!("{REVIEWED}.length === 3"));
        page.expect("document.querySelector('#resulttext').textContent", "White has won by entering the den");
        page.expect("document.querySelector('#ply').textContent", "3 / 3");
        page.screenshot(&format!("review-won-{width}"));
        page.show("play");
        page.click("#panelnext");
        page.wait("!document.querySelector('#matchbar').hidden");
        page.expect("document.querySelector('#far .who').textContent", "Cat");
        assert_eq!(page.fen(), "7/7/3E3/7/7/7/r6/7/7_w");
    }
    page.silent();
}

/// The plies without a capture are counted aloud from half of the limit on.
#[test]
fn counters_appear_when_they_matter() {
    let Some(page) = Page::start() else { return };
    let line = ["a3b3.a7b7.b3a3.b7a7"; 12].join(".");
    let game = json!({
        "id": "long", "date": "2026-11-29T12:00:00Z", "rules": "paper,repetition=none", "plies": 48, "left": null,
        "line": line, "setup": {"you": "both", "level": "C", "time": ""},
        "start": "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w", "result": null
    });
    page.open("/?view=play");
    page.run(&format!("localStorage.setItem('doushouqi.games', {})", json!(json!([game]).to_string())));
    page.open("/?view=play");
    page.click("#stored .continue");
    page.wait("!document.querySelector('#matchbar').hidden");
    page.stays("document.querySelector('.counters')", Value::Null);
    play(&page, "a3b3");
    at(&page, 49);
    page.stays("document.querySelector('.counters')", Value::Null);
    play(&page, "a7b7");
    page.expect(
        "document.querySelector('#nocapture').textContent",
        "25 moves without a capture; the game is drawn at 50",
    );
    page.stays("document.querySelector('#repetitions')", Value::Null);
    page.silent();
}

/// A premove, chosen while the engine thinks, follows the engine's move if it is legal then.
#[test]
fn a_premove_follows_the_engines_move() {
    let Some(page) = Page::start() else { return };
    // The black dog wins if it takes the rat, and loses otherwise.
    page.open("/?fen=7/7/7/3d3/3R3/7/6E/7/7_w&view=play");
    page.click("#level-E");
    page.choose("#from", "board");
    // The engine's moves wait for the test.
    page.run(
        "const ask = window.fetch; window.fetch = (address, options) => String(address).includes('bestmove') \
         ? new Promise(resolve => { window.release = () => { delete window.release; resolve(ask(address, options)); }; }) \
         : ask(address, options);",
    );
    page.click("#playstart");
    page.wait("!document.querySelector('#matchbar').hidden");
    let message = "document.querySelector('#matchmessage').textContent";
    let arrows = "document.querySelectorAll('.arrows .hint').length";
    play(&page, "g3g4");
    page.wait("window.release");
    play(&page, "g4g5");
    page.wait(&format!("{message}.startsWith('Premove Eg5')"));
    page.expect(arrows, 1);
    page.screenshot("premove");
    play(&page, "g4g5");
    page.wait(&format!("{message} === ''"));
    page.expect(arrows, 0);
    // The rat is taken before it moves.
    play(&page, "d5c5");
    page.wait(&format!("{message}.startsWith('Premove Rc5')"));
    page.run("release()");
    page.wait(&format!("{message} === 'The premove is not legal any longer.'"));
    ply(&page, 2);

    play(&page, "g4g3");
    page.wait("window.release");
    play(&page, "g3g2");
    page.run("release()");
    page.wait("new URLSearchParams(location.search).get('at') >= '5'");
    page.silent();
}

/// Two players agree on a draw; the board stays turned for Black, and the button turns it back.
#[test]
fn a_draw_is_agreed_and_the_board_turns() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.click("#you-both");
    page.click("#turning");
    page.click("#playstart");
    let turned = "document.querySelector('#grid').firstElementChild.firstElementChild.dataset.square === 'g1'";
    page.stays(turned, false);
    play(&page, "a3b3");
    page.wait(turned);
    page.click("#takeback");
    page.wait(&format!("!({turned})"));
    play(&page, "a3b3");
    page.wait(turned);
    page.click("#offerdraw");
    page.click("#declinedraw");
    page.click("#offerdraw");
    page.click("#acceptdraw");
    page.wait("document.querySelector('#gameover').open");
    page.expect("document.querySelector('#gameovertext').textContent", "A draw by agreement");
    page.click("#closeresult");
    page.wait("document.querySelector('#resulttext').textContent === 'A draw by agreement'");
    page.click("#flip");
    page.wait(&format!("!({turned})"));
    page.silent();
}

/// Clocks: increments, the flag, and the game that is lost on time.
#[test]
fn a_clock_runs_out() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.run(
        "window.clock = null; import('/clock.js').then(({ Clock, clockText }) => {
          const clock = new Clock({ initial: 1000, increment: 500 });
          clock.start('w', 0);
          clock.press(400);
          const first = [clock.read('w', 400), clock.read('b', 700), clock.fallen(1399), clock.fallen(1400)];
          clock.stop(900);
          window.clock = [...first, clock.read('b', 5000), clockText(185000), clockText(7300)];
        })",
    );
    page.wait("window.clock");
    page.expect("window.clock", json!([1100, 700, null, "b", 500, "3:05", "0:07.3"]));
    page.click("#you-both");
    page.choose("#time", "3+2");
    // The page's time runs ahead.
    page.run("const now = performance.now.bind(performance); window.ahead = 0; performance.now = () => now() + window.ahead;");
    page.click("#playstart");
    page.wait("document.querySelector('[data-clock=w]')?.textContent.startsWith('2:5')");
    page.run("window.ahead = 181000");
    page.wait("document.querySelector('#gameover').open");
    page.expect("document.querySelector('#gameovertext').textContent", "Black has won on time");
    page.silent();
}

/// If no table contains the position, the key for the best move plays the engine's move, not the first of the list.
#[test]
fn the_best_move_is_never_a_guess() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=position");
    page.wait("document.querySelector('#bestpv')");
    page.run("document.activeElement.blur()");
    page.wait("document.querySelector('.arrow.hint')");
    page.keys(&["x"]);
    ply(&page, 1);
    let played = page.text("document.querySelector('#tree button').textContent");
    assert!(!played.is_empty());
    // During a game the key only shows a message.
    page.show("play");
    page.click("#playstart");
    page.wait("!document.querySelector('#matchbar').hidden");
    page.run("document.activeElement.blur()");
    page.keys(&["x"]);
    page.wait("document.querySelector('#toast').textContent.includes('not known')");
    page.silent();
}

/// The third occurrence of a position ends the game; the page shows the number of occurrences before.
#[test]
fn repetition_ends_a_game_and_is_seen_coming() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.click("#you-both");
    page.click("#playstart");
    let moves = ["a3b3", "a7b7", "b3a3", "b7a7"];
    for n in 0..8 {
        play(&page, moves[n % 4]);
        ply(&page, n + 1);
        if n == 3 {
            page.expect(
                "document.querySelector('#repetitions').textContent",
                "The position has occurred 2 times; the game is drawn at 3",
            );
        }
    }
    page.wait("document.querySelector('#gameover').open");
    page.expect("document.querySelector('#gameovertext').textContent", "A draw by repetition");
    // The game is kept, opened again after a reload, and deleted.
    page.open("/?view=play");
    page.wait("document.querySelectorAll('#stored li').length === 1");
    assert!(page.text("document.querySelector('#stored li').textContent").contains("½–½"));
    page.click("#stored li button");
    page.wait("location.search.includes('line=a3b3.a7b7.b3a3.b7a7.a3b3.a7b7.b3a3.b7a7')");
    page.click("#stored li button:last-child");
    page.wait("document.querySelectorAll('#stored li').length === 0");
    page.silent();
}

/// Variations are in the link and in the file.
#[test]
fn variations_are_kept_in_links_and_files() {
    let Some(page) = Page::start() else { return };
    let line = "a3b3(a3a4.a7a6)(c3d3).a7b7.b3a3(c3d3)";
    page.open(&format!("/?line={line}&at=1&view=position"));
    page.settled();
    page.wait(&format!("location.search.includes('line={line}')"));
    page.expect("document.querySelectorAll('#tree .variation').length", 3);
    page.show("game");
    page.run(SAVED);
    page.click("#savegame");
    page.wait("window.text");
    let text = page.text("window.text");
    let moves = "1. Eb3 (1. Ea4 Ra6) (1. Wd3) 1... Rb7 2. Ea3 (2. Wd3) *\n";
    assert!(text.ends_with(moves), "{text}");
    // The file opens with its variations.
    page.open("/?view=game");
    page.run(&format!("document.querySelector('#gametext').value = {}", json!(text)));
    page.click("#opengame");
    page.wait(&format!("location.search.includes('line={line}')"));
    page.silent();
}

/// The page opens a file of a site that gzip has compressed, and says when such a file is damaged.
#[test]
fn compressed_games_of_sites_are_opened() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=game");
    let game = r#"{"variant":"jungle","players":{"red":{"handle":"Anna"},"black":{"handle":"Bo"}},"result":"red","termination":"resignation","plies":[{"uci":"g3f3"},{"uci":"a7b7"}]}"#;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, game.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let choose = |bytes: &[u8]| {
        page.run(&format!(
            "const files = new DataTransfer(); files.items.add(new File([new Uint8Array({})], 'games.jsonl.gz')); \
             const input = document.querySelector('#gamefile'); input.files = files.files; \
             input.dispatchEvent(new Event('change'));",
            json!(bytes)
        ));
    };
    choose(&packed);
    page.wait(&format!("document.querySelector('#gametext').value === {}", json!(game)));
    page.click("#opengame");
    page.wait("location.search.includes('line=a3b3.g7f7')");
    page.wait("document.querySelector('#gametags').textContent.includes('White: Anna, Black: Bo')");
    page.expect("document.querySelector('#rules').value", "chinese");
    choose(&packed[..packed.len() - 9]);
    page.wait("document.querySelector('#reviewstate').textContent === 'The compressed file is damaged or cut.'");
}

/// A note on a move is shown in the line, kept through a reload, and in the file.
#[test]
fn a_note_is_kept() {
    let Some(page) = Page::start() else { return };
    page.open("/?line=a3b3.a7b7&at=1&view=position");
    page.type_into("#note", "to the {river}");
    let notes = "[...document.querySelectorAll('#tree .comment')].map((note) => note.textContent.trim()).join()";
    page.expect(notes, "to the river");
    page.expect("document.activeElement.id", "note");
    page.reload();
    page.expect(notes, "to the river");
    page.expect("document.querySelector('#note').value", "to the river");
    // The next move has no note yet.
    page.click("#player-forward");
    page.expect("document.querySelector('#note').value", "");
    page.show("game");
    page.run(SAVED);
    page.click("#savegame");
    page.wait("window.text?.includes('1. Eb3 {to the river} Rb7 *')");
    page.silent();
}

/// A script after which `window.text` is the text that the page saves.
const SAVED: &str = "window.text = null; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((text) => { window.text = text; }); return make.call(URL, blob); }; HTMLAnchorElement.prototype.click = () => {};";

/// A saved game opened again keeps its tags, its result, its assessments and comments, shows them, and is saved as it was.
#[test]
fn a_saved_game_opens_as_it_was_saved() {
    let Some(page) = Page::start() else { return };
    let lost = "[White \"Anna\"]\n[Black \"Bo\"]\n[Date \"2026.02.03\"]\n[Event \"Club\"]\n[Result \"0-1\"]\n\
                [Termination \"time\"]\n\n{A game of the club} 1. 象b3! {to the river} (1. Ea4 $14) 1... rb7?? ; too slow\n2. Ea3 0-1\n";
    let text = format!("1. Eb3 *\n\n{lost}");
    page.open("/?view=game");
    page.run(&format!("document.querySelector('#gametext').value = {}", json!(text)));
    page.click("#opengame");
    page.wait("!document.querySelector('#whichgame').hidden");
    page.expect("document.querySelectorAll('#gamenumber option').length", 2);
    page.wait("location.search.includes('line=a3b3&')");
    page.choose("#gamenumber", "2");
    page.wait("decodeURIComponent(location.search).includes('line={A game of the club}a3b3{to the river}(a3a4).a7b7{too slow}.b3a3')");
    let tags = "White: Anna, Black: Bo, Date: 2026.02.03, Event: Club, Result: 0-1, Termination: time";
    page.wait(&format!("document.querySelector('#gametags').textContent === '{tags}'"));
    page.run(SAVED);
    page.click("#savegame");
    page.wait("window.text");
    let saved = page.text("window.text");
    let read = |text: &str| {
        let game = page.server.connect().post("/api/v1/game", &json!({ "text": text }).to_string()).json();
        game["text"].as_str().unwrap_or_else(|| panic!("{game}")).to_owned()
    };
    assert_eq!(saved, read(lost));
    // Undo and redo lose nothing; a move after the end of the game ends the result.
    page.click("#undo");
    page.click("#redo");
    page.wait(&format!("document.querySelector('#gametags').textContent === '{tags}'"));
    page.show("position");
    page.wait("[...document.querySelectorAll('#tree .comment')].map((note) => note.textContent.trim()).join() === 'A game of the club,to the river,too slow'");
    page.wait("document.querySelector('#tree').textContent.includes('Eb3!') && document.querySelector('#tree').textContent.includes('Rb7??')");
    super::checks::axe(&page, &["position"]);
    page.silent();
    // Neither a reload nor a way back loses what the address does not contain.
    page.reload();
    page.wait("document.querySelectorAll('#tree .comment').length === 3");
    page.click("#edit");
    page.type_into("#fen", &TWO.replace('_', " "));
    page.keys(&[ENTER]);
    page.wait("location.search.includes('7/7/3e3') && !document.querySelector('#tree .comment')");
    page.run("history.back()");
    page.wait("document.querySelectorAll('#tree .comment').length === 3");
    page.show("game");
    page.wait(&format!("document.querySelector('#gametags').textContent === '{tags}'"));
    page.run(SAVED);
    page.click("#savegame");
    page.expect("window.text", saved);
    // What is wrong is named by the reader of the library.
    page.show("game");
    for (text, message) in [
        ("1. Eb3 (1. Ea4 *", "line 1: a variation is not closed: a parenthesis is missing before the result"),
        ("[Result \"1-0\"]\n\n1. Eb3 *", "line 3: the result is * instead of 1-0, the result in its tag"),
        (
            "1. Eb3 {slow *",
            "line 1: a comment is one text before the first move or after a move, in braces on one line or after a semicolon",
        ),
        ("[FEN \"7/7/7/7/7/7/3E3/7/r6\"]\n\n*", "line 1: the side to move is missing after the board: write w or b"),
    ] {
        page.run(&format!("document.querySelector('#gametext').value = {}", json!(text)));
        page.click("#opengame");
        page.wait(&format!("document.querySelector('#textstate').textContent === {}", json!(message)));
    }
}

/// A browser whose storage is full or blocked says so during the game, and offers the game as a file.
#[test]
fn a_game_that_is_not_kept_can_be_saved() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.wait("document.querySelector('#storedhead + p').textContent.startsWith('Games that you play here are kept')");
    page.run("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };");
    page.click("#you-both");
    page.wait("document.querySelector('#storedhead + p').textContent.startsWith('This browser does not keep')");
    page.click("#playstart");
    play(&page, "a3b3");
    page.wait("document.querySelector('#play .unkept')");
    page.run(SAVED);
    page.click("#play .unkept button");
    page.wait("window.text?.includes('1. Eb3 *')");
    page.silent();
}

/// On an empty board there is no game.
#[test]
fn an_empty_board_begins_no_game() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.click("#edit");
    page.click("#clear");
    page.wait("document.querySelector('#fen').value === '7/7/7/7/7/7/7/7/7 w'");
    page.choose("#from", "board");
    page.click("#playstart");
    page.expect("document.querySelector('#toast').textContent", "This is not a position.");
    page.stays("document.documentElement.dataset.mode", "");
}

/// Random games come back from the page as they were.
#[test]
fn random_annotated_games_survive_the_page() {
    let Some(page) = Page::start() else { return };
    let texts: Vec<String> = (0..1000).map(|number| annotated(number).to_text().unwrap()).collect();
    page.open("/?view=game");
    // As many games at a time as the browser has connections.
    page.run(&format!(
        "window.outcome = {{ games: 0, wrong: [] }};
        (async () => {{
          const {{ outcome }} = window;
          const [{{ readGame, writeGame }}, {{ Game }}] = await Promise.all(['game-text', 'game'].map((name) => import(`/${{name}}.js`)));
          const left = {};
          const work = async () => {{
            for (let text; (text = left.pop()) !== undefined; outcome.games++) {{
              const {{ start, moves, ending, ...terms }} = await readGame(text);
              const game = new Game();
              game.begin(start, terms);
              const read = game.read(game.root, moves);
              game.line()[read].ending = ending;
              const written = await writeGame(game);
              if (written !== text) outcome.wrong.push([text, written]);
            }}
          }};
          await Promise.all(Array.from({{ length: 6 }}, work));
        }})().catch((error) => {{ window.outcome = String(error); }});",
        json!(texts)
    ));
    // Together they may take longer than one thing is waited for.
    for games in (50..=1000).step_by(50) {
        page.wait(&format!("window.outcome.games >= {games} || typeof window.outcome === 'string'"));
    }
    page.stays("window.outcome", json!({"games": 1000, "wrong": []}));
    page.silent();
}

/// The page's move generator and the server's agree under every preset, each single option, and some combinations.
#[test]
fn the_page_knows_the_rules() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    let single = RuleOptions::single_changes().map(|rules| rules.to_string());
    let combined = ["traps=any,tiger-leap=files", "tiger-leap=ranks,own-rat-blocks=no", "tiger-leap=none,no-move=loss"];
    let games = ["loop=7-3,judge=weight,move-limit=300", "repetition=illegal,loop=servers"];
    let combined = combined.into_iter().chain(games);
    let presets = RuleOptions::PRESETS.map(|(name, _)| name);
    let rules: Vec<String> = presets.into_iter().chain(combined).map(str::to_owned).chain(single).collect();
    page.run(&format!(
        "window.outcome = null;
        (async () => {{
          const [{{ legalMoves }}, {{ play, START }}, {{ readRules, spelledOut }}, {{ Game }}, {{ gameStatus }}] = await Promise.all(['movegen', 'position', 'ruleset', 'game', 'status'].map((name) => import(`/${{name}}.js`)));
          const key = (m) => [m.uci, m.san, m.captures, m.den, m.leap, m.piece].join();
          const outcome = {{ positions: 0, wrong: [] }};
          // All rules at once, so that the latency counts once.
          await Promise.all({}.map(async (rules) => {{
            let [seed, fen] = [1, START];
            const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
            for (let i = 0; i < 40; i++) {{
              const state = await (await fetch(`/api/v1/state?fen=${{fen.replace(' ', '_')}}&rules=${{rules}}`)).json();
              const values = readRules(rules);
              const {{ over }} = gameStatus(new Game(fen).root, values, null);
              const mine = [legalMoves(fen, values).map(key).sort(), over, spelledOut(values)];
              const theirs = [state.moves.map(key).sort(), state.over, state.rules];
              outcome.positions++;
              if (JSON.stringify(mine) !== JSON.stringify(theirs)) outcome.wrong.push([rules, fen]);
              const quiet = state.moves.filter((m) => !m.den);
              fen = quiet.length ? play(fen, quiet[random(quiet.length)].uci) : START;
            }}
          }}));
          window.outcome = outcome;
        }})()",
        json!(rules)
    ));
    page.wait("window.outcome");
    let outcome: Value = page.get("window.outcome");
    assert_eq!(outcome["wrong"], json!([]));
    assert_eq!(outcome["positions"], json!(40 * rules.len()));
    page.silent();
}

/// If no table contains the position, the engine evaluates it without a click, from White's view, and follows the
/// board.
#[test]
fn the_engine_evaluates_where_no_table_knows() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=position");
    let headline = "document.querySelector('#resulttext').textContent";
    page.wait(&format!("/even|better/.test({headline})"));
    page.wait("document.querySelector('#bestpv') && document.querySelector('.arrow.hint')");
    page.wait("document.querySelector('#gauge').getAttribute('aria-label').endsWith('for White, by the engine')");
    let line = page.text("document.querySelector('#bestpv').textContent");
    page.drag(&Page::square("a3"), &Page::square("b3"));
    page.wait(&format!(
        "document.querySelector('#bestpv') && document.querySelector('#bestpv').textContent !== {}",
        json!(line)
    ));
    // White is lost: the bar is Black's with either side to move.
    for turn in ["w", "b"] {
        page.open_position(&format!("7/7/3r3/7/7/7/6R/7/e6_{turn}"), "");
        page.wait(&format!("/wins in|even|better|draw/.test({headline})"));
        assert!(!page.text("document.body.innerText").contains("No table of"));
    }
    // Hidden pages do not search.
    page.open("/?view=position");
    page.wait("document.querySelector('#bestpv')");
    page.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))");
    let before = page.get("performance.getEntriesByType('resource').filter(e => e.name.includes('analyze')).length");
    page.drag(&Page::square("g3"), &Page::square("g4"));
    page.wait("location.search.includes('line=')");
    page.settled();
    page.stays("performance.getEntriesByType('resource').filter(e => e.name.includes('analyze')).length", before);
    page.silent();
}

/// Without the server the page reports it, pieces still move, and the page reconnects by itself when the server is
/// back.
#[test]
fn the_page_recovers_from_a_lost_server() {
    let Some(page) = Page::start() else { return };
    page.open_position(TWO, "");
    page.offline(true);
    play(&page, "d3d4");
    page.wait("!document.querySelector('#notice').hidden");
    assert!(page.text("document.querySelector('#notice').textContent").starts_with("The server does not respond"));
    play(&page, "d7d6");
    ply(&page, 2);
    assert_eq!(page.fen(), "7/7/7/3e3/7/3E3/7/7/7_w");
    page.expect("document.querySelector('#resulttext').textContent", "No evaluation without the server");
    page.offline(false);
    page.wait("document.querySelector('#notice').hidden");
    page.wait("document.querySelector('#resulttext').textContent.includes('wins in')");
    // A game waits for the engine's answer.
    page.show("play");
    page.choose("#from", "board");
    page.click("#playstart");
    page.expect(TURN, "Your move");
    page.offline(true);
    play(&page, "d4d3");
    page.expect(TURN, "Waiting for the server…");
    page.offline(false);
    page.expect(TURN, "Your move");
    let errors = page.console();
    assert!(errors.iter().all(|error| error.contains("ERR_INTERNET_DISCONNECTED")), "{errors:?}");
}

/// The page's account of a game, with its history, is the server's: repetitions, loops, plies without a capture, captured
/// pieces, legal moves and the end.
#[test]
fn the_page_counts_as_the_server_does() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=play");
    page.run(
        "window.outcome = null;
        (async () => {
          const [{ captured, gameStatus }, { START }, { Game }, { readRules }] = await Promise.all(['status', 'position', 'game', 'ruleset'].map((name) => import(`/${name}.js`)));
          let seed = 7;
          const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
          const outcome = { positions: 0, ends: [], wrong: [] };
          const letters = (pieces) => pieces.map((piece) => piece.toUpperCase());
          const loops = ['7-3', '17-5', 'servers,judge=weight,move-limit=100', '7-3-loses', '5-2', '2-1', 'repeat-end,judge=number'];
          const competition = loops.map((loop) => `paper,repetition=none,loop=${loop}`);
          const others = ['paper', 'paper,repetition=twofold', 'cazaux', 'paper,repetition=none', 'paper,no-move=loss'];
          for (const text of [...others, ...competition, 'paper,judge=weight', 'chinese,repetition=none,move-limit=200']) {
            const limit = text.includes('move-limit') ? 250 : 100;
            const rules = readRules(text);
            const game = new Game(START, { rules: text, limit });
            const moves = [];
            for (;;) {
              const node = game.cursor;
              const mine = gameStatus(node, rules, game.limit);
              if (mine.over || moves.length % 4 === 0) {
                const theirs = await (await fetch(`/api/v1/state?rules=${text}&no_capture_limit=${limit}&moves=${moves.join(',')}`)).json();
                const lost = captured(START, node.fen);
                const pair = [
                  [mine.clock, mine.occurrences, mine.repetitionLimit, mine.over, mine.moves.map((move) => move.uci).sort(), letters(lost.white), letters(lost.black)],
                  [theirs.halfmove_clock, theirs.occurrences, theirs.repetition_limit, theirs.over, theirs.moves.map((move) => move.uci).sort(), theirs.captured.white, theirs.captured.black],
                ].map((value) => JSON.stringify(value));
                outcome.positions++;
                if (pair[0] !== pair[1]) outcome.wrong.push([text, moves.join(','), ...pair]);
              }
              if (mine.over) { outcome.ends.push(mine.over.reason); break; }
              // After the first plies few captures, and often moves back.
              const quiet = mine.moves.filter((move) => !move.captures && !move.den);
              const last = moves.at(-2);
              const back = quiet.find((move) => last && move.uci === last.slice(2) + last.slice(0, 2));
              const list = moves.length < 40 || !quiet.length ? mine.moves : quiet;
              const { uci } = back && random(3) > 0 ? back : list[random(list.length)];
              moves.push(uci);
              game.play(uci);
            }
          }
          window.outcome = outcome;
        })()",
    );
    page.wait("window.outcome");
    let outcome: Value = page.get("window.outcome");
    assert_eq!(outcome["wrong"], json!([]));
    let ends = outcome["ends"].as_array().unwrap();
    for end in ["repetition", "no_capture", "loop", "move_limit"] {
        assert!(ends.contains(&json!(end)), "{end}: {ends:?}");
    }
    page.silent();
}

/// The page shows the server's errors in its own language.
#[test]
fn errors_of_the_server_are_translated() {
    let Some(page) = Page::start() else { return };
    page.open(&format!("/?fen={TWO}&lang=zh"));
    page.click("#edit");
    page.type_into("#fen", "7/7/9/7/7/7/7/7/7 w");
    page.keys(&["\u{e007}"]);
    page.wait("document.querySelector('#fenerror').textContent.includes('第 7 行')");
    page.type_into("#fen", "7/7/3e3/7/7/7/3EE2/7/7 w");
    page.keys(&["\u{e007}"]);
    page.wait("document.querySelector('#fenerror').textContent.includes('白方有两枚象，在 d3 和 e3')");
    let errors = page.console();
    assert!(errors.iter().all(|error| error.contains("400")), "only the wrong FENs: {errors:?}");
}
