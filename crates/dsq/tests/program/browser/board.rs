//! The board: moves by every device, and the editor.

use super::*;

#[test]
fn pieces_move_by_drag_click_touch_typing_and_keys() {
    let Some(page) = Page::start() else { return };
    let at = |square: &str| Page::square(square);
    page.open("/");
    assert_eq!(page.fen(), "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L_w");
    page.drag(&at("a3"), &at("b3"));
    page.wait("document.querySelector('#fen').value.endsWith('1EW1P1R/1C3D1/T5L b')");
    page.click(&at("a7"));
    assert_eq!(
        page.get("document.querySelectorAll('.picture .target').length"),
        json!(3),
        "the rat's moves are marked"
    );
    page.click(&at("a6"));
    page.wait("document.querySelector('#fen').value.endsWith(' w')");
    page.tap(&at("g3"));
    page.tap(&at("g4"));
    page.wait("document.querySelector('#fen').value.includes('6R')");
    page.type_into("#movein", "rb6");
    page.keys(&[ENTER]);
    page.wait(
        "document.querySelector('#fen').value.includes('1r5') && document.querySelector('#fen').value.endsWith(' w')",
    );
    // Keys only: to the board, to the lion on g1, up to g2.
    page.run("document.activeElement.blur()");
    page.keys(&["g"]);
    page.expect("document.activeElement.getAttribute('role')", "gridcell");
    page.run("document.querySelector('#grid [data-square=f1]').focus()");
    page.keys(&[RIGHT, ENTER, UP, ENTER]);
    page.wait("document.querySelector('#fen').value.endsWith('1C3DL/T6 b')");
    // A tap on an impossible square, or a drag there, says why, and the piece stays where it is.
    let said = "document.querySelector('#toast').textContent";
    for (from, to, why) in [
        ("b8", "d8", "A piece moves only one square."),
        ("b8", "a7", "No piece moves diagonally."),
        ("c7", "c6", "Only the rat can swim."),
    ] {
        page.click(&at(from));
        page.wait("document.querySelector('.picture .selected')");
        page.click(&at(to));
        page.expect(said, why);
        page.run(&format!("{said} = ''"));
        page.drag(&at(from), &at(to));
        page.expect(said, why);
        page.stays(&format!("document.querySelectorAll('.mover[data-square={from}]').length"), 1);
    }
    assert!(page.fen().ends_with("1C3DL/T6_b"));
    assert_eq!(
        page.get("[...document.querySelectorAll('#tree button')].map(b => b.textContent).join(' ')"),
        json!("Eb3 Ra6 Rg4 Rb6 Lg2")
    );
    page.drag_with(2, &at("a1"), &at("a3"));
    page.wait("document.querySelector('.arrow.user') && decodeURIComponent(location.search).includes('[%cal Ga1a3]')");
    page.keys(&["z", "z"]);
    page.wait("[...document.querySelectorAll('#tree button')].length === 3");
    page.keys(&["y"]);
    page.wait("[...document.querySelectorAll('#tree button')].length === 4");
    page.silent();
}

#[test]
fn the_editor_sets_up_a_position() {
    let Some(page) = Page::start() else { return };
    let at = |square: &str| Page::square(square);
    page.open("/");
    page.click("#edit");
    page.click("#clear");
    page.wait("!document.querySelector('.home')");
    page.wait("document.querySelector('#resulttext')?.textContent !== 'Play, learn or explore'");
    page.click("[data-tool=E]");
    page.click(&at("d2"));
    page.wait("document.querySelector('#resulttext')?.textContent.includes('White has won')");
    page.click("[data-tool=E]");
    page.drag(&at("d2"), &at("d3"));
    page.wait("document.querySelector('#fen').value === '7/7/7/7/7/7/3E3/7/7 w'");
    // With the keyboard: a letter places a piece, but not into water.
    page.run("document.querySelector('#grid [data-square=b5]').focus()");
    page.keys(&["e"]);
    page.wait("document.querySelector('#toast').textContent.includes('water')");
    page.run("document.querySelector('#grid [data-square=d7]').focus()");
    page.keys(&["e"]);
    page.wait("document.querySelector('#fen').value === '7/7/3e3/7/7/7/3E3/7/7 w'");
    page.wait("document.querySelector('#resulttext')?.textContent === 'Black wins in 6 moves'");
    assert_eq!(page.api(&format!("probe?fen={TWO}"))["value"], json!({"wdl": "loss", "dtw": 12, "no_move": false}));
    page.click("#mirror");
    page.click("#swap");
    page.wait("document.querySelector('#turn').value === 'b'");
    page.choose("#turn", "w");
    page.wait("document.querySelector('#fen').value === '7/7/3e3/7/7/7/3E3/7/7 w'");
    page.type_into("#fen", "7/7/9/7/7/7/7/7/7 w");
    page.keys(&[ENTER]);
    page.wait("document.querySelector('#fenerror').textContent.includes('rank 7')");
    page.type_into("#fen", "7/3r3/7/6L/7/7/7/3E3/7 w");
    page.keys(&[ENTER]);
    page.wait("document.querySelectorAll('.picture .mover').length === 3");
    // Dragged off the board, a piece is gone; undone, it is back.
    page.drag(&at("g6"), "h1");
    page.wait("document.querySelectorAll('.picture .mover').length === 2");
    page.keys(&["z"]);
    page.wait("document.querySelectorAll('.picture .mover').length === 3");
    let errors = page.console();
    assert!(errors.iter().all(|error| error.contains("400")), "only the FEN that is none: {errors:?}");
}

/// The board, the buttons and the tabs stay in place when answers arrive.
#[test]
fn nothing_moves_under_the_pointer() {
    let Some(page) = Page::start() else { return };
    let places = "JSON.stringify(['#board', '#tools', '#player', '#tabs'].map(s => Math.round(document.querySelector(s).getBoundingClientRect().top + scrollY)))";
    for (width, height) in [(1280, 800), (390, 844)] {
        page.size(width, height);
        // The answers come after the first look.
        page.latency(500);
        page.visit(&format!("/?fen={LION}"));
        page.wait(
            "document.querySelector('#player')?.children.length && document.querySelector('#tabs').children.length",
        );
        let before = page.now(places);
        page.latency(0);
        page.settled();
        page.wait("document.querySelector('#status').textContent");
        assert_eq!(page.get(places), before, "when the position is known, {width} wide");
        page.click("#moves tbody tr:last-child button");
        page.wait("!document.querySelector('#cost').hidden");
        assert_eq!(page.get(places), before, "after a move and what it cost, {width} wide");
        page.show("engine");
        page.wait("document.querySelector('#analyze')");
        assert_eq!(page.get(places), before, "in another view, {width} wide");
    }
    page.silent();
}
