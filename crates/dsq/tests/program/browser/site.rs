//! The page without a server: static files, with the answers from workers.

use super::webdriver::{self, Browser, Options};
use super::{LION, TWO, at, play};
use crate::serve::folder;
use crate::site;
use serde_json::json;
use std::fs;

/// A game against the engine, a look-up and an analysis that is stopped, in a folder of a host of static files.
#[test]
fn the_page_works_without_a_server() {
    let Some(dir) = site::dir() else { return };
    if !webdriver::available() {
        return;
    }
    let host = site::Host::start(dir);
    let page = Browser::start(format!("http://{}/games", host.address), Options::default());
    for (name, width, height) in [("desktop", 1280, 800), ("phone", 390, 844)] {
        page.size(width, height);
        page.open(&format!("/?fen={LION}"));
        page.wait("document.querySelector('#resulttext')?.textContent === 'White wins in 7 plies'");
        page.screenshot(&format!("site-{name}"));

        page.open(&format!("/?fen={TWO}&view=play"));
        page.click("#level-C");
        page.choose("#from", "board");
        page.click("#playstart");
        page.wait("!document.querySelector('#matchbar').hidden");
        play(&page, "d3d4");
        at(&page, 2);
        page.wait("document.querySelector('#resulttext').textContent === 'Your move (White)'");
        assert_eq!(page.get("location.pathname"), json!("/games/"));

        // The analysis starts by itself. Another position ends its worker, and the next one answers.
        page.open("/?view=engine");
        let line = "document.querySelector('#lines .pv')?.textContent";
        page.wait(line);
        let before = page.text(line);
        play(&page, "a3a4");
        at(&page, 1);
        page.wait(&format!("![undefined, {before:?}].includes({line})"));
    }
    // After the first visit the page needs no network.
    page.run("return navigator.serviceWorker.ready.then(() => true)");
    assert_eq!(page.console(), Vec::<String>::new());
    host.leave();
    page.open(&format!("/?fen={LION}"));
    page.wait("document.querySelector('#resulttext')?.textContent === 'White wins in 7 plies'");
}

/// A browser that cannot run the module says so, and two players can still play.
#[test]
fn a_module_that_cannot_run_is_reported() {
    let Some(dir) = site::dir() else { return };
    if !webdriver::available() {
        return;
    }
    let damaged = folder("site");
    fs::create_dir_all(&damaged).unwrap();
    for file in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), damaged.join(file.file_name())).unwrap();
    }
    fs::write(damaged.join("answers.wasm"), "no module").unwrap();
    let host = site::Host::start(damaged.clone());
    let page = Browser::start(format!("http://{}/games", host.address), Options::default());
    page.open(&format!("/?fen={TWO}&view=play"));
    page.wait("document.querySelector('#subresult').textContent.includes('cannot run the page')");
    page.click("#you-both");
    page.choose("#from", "board");
    page.click("#playstart");
    page.wait("!document.querySelector('#matchbar').hidden");
    play(&page, "d3d4");
    at(&page, 1);
    fs::remove_dir_all(damaged).unwrap();
}
