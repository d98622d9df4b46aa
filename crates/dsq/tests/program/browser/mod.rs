//! The page in a real browser, used with a pointer, with keys, or with neither.
//!
//! With `DSQ_SCREENSHOTS=1` screenshots are kept in the target directory under `tmp/screenshots`; with
//! `DSQ_WRITE_SCREENSHOT=1` the one of the README is written to `docs/serve.webp`. With `DSQ_ASSETS`, the absolute path of
//! `crates/explorer/src/assets`, the page's files are read from there, so that a change to them needs no build.
//! `DSQ_PAGE_LATENCY` delays every answer for the page by so many milliseconds, and `DSQ_PAGE_THROTTLE` slows the page's
//! processor down by a factor.

mod access;
mod board;
mod checks;
mod history;
mod learn;
mod links;
mod look;
mod owner;
mod play;
mod position;
mod relay;
mod site;
mod solve;
mod webdriver;

use crate::serve::client;
use client::Server;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};
use webdriver::{Browser, Options};

const ENTER: &str = "\u{e007}";
const RIGHT: &str = "\u{e014}";
const UP: &str = "\u{e013}";

/// Lion and elephant against a rat: White wins in 7 plies.
const LION: &str = "7/3r3/7/6L/7/7/7/3E3/7_w";
/// A cat that holds a draw against a dog, as the paper of 2014 has it.
const DRAW: &str = "d6/7/7/7/7/7/5C1/7/7_w";
const VIEWS: [&str; 9] = ["play", "learn", "position", "explore", "engine", "game", "endgames", "duels", "material"];
/// What the page says of the player to move during a game.
const TURN: &str = "document.querySelector('.seat.running .turn')?.textContent";
/// The moves of a review.
const REVIEWED: &str = "document.querySelectorAll('#reviewtable [data-key]')";
const TWO: &str = "7/7/3e3/7/7/7/3E3/7/7_w";

/// A script that opens a view by the tab of its entry and, if the entry has several views, by its own.
fn opening(view: &str) -> String {
    let entry = match view {
        "position" | "explore" | "engine" | "game" => "analyse",
        "endgames" | "duels" | "material" => "endgames",
        entry => entry,
    };
    format!("document.querySelector('#tab-{entry}').click(); document.querySelector('#view-{view}')?.click();")
}

struct Page {
    browser: Browser,
    server: Arc<Server>,
}

/// The server of most tests, which ends with this process.
fn server() -> Arc<Server> {
    static SHARED: LazyLock<Arc<Server>> = LazyLock::new(|| server_of("paper"));
    SHARED.clone()
}

fn server_of(rules: &str) -> Arc<Server> {
    // On a busy machine requests wait for each other.
    let mut arguments = vec!["--pieces", "3", "--rules", rules, "--max-wait", "600"];
    let assets = std::env::var("DSQ_ASSETS");
    if let Ok(dir) = &assets {
        arguments.extend(["--assets", dir]);
    }
    Arc::new(Server::start(&arguments))
}

/// Makes a move by clicks on its two squares.
fn play(page: &Browser, uci: &str) {
    page.click(&Page::square(&uci[..2]));
    page.click(&Page::square(&uci[2..]));
}

/// Waits until the page shows the position after so many plies.
fn at(page: &Browser, ply: usize) {
    page.wait(&format!("new URLSearchParams(location.search).get('at') === '{ply}'"));
}

impl std::ops::Deref for Page {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl Page {
    fn with(options: Options) -> Option<Page> {
        Page::of(server, options)
    }

    fn of(server: impl FnOnce() -> Arc<Server>, options: Options) -> Option<Page> {
        webdriver::available().then(|| {
            let server = server();
            let browser = Browser::start(server.address(), "", options);
            Page { browser, server }
        })
    }

    fn start() -> Option<Page> {
        Page::with(Options::default())
    }

    fn api(&self, target: &str) -> Value {
        self.server.connect().get(&format!("/api/v1/{target}")).json()
    }

    fn open_position(&self, fen: &str, more: &str) {
        self.open(&format!("/?fen={fen}{more}"));
        self.settled();
    }

    /// Waits until the answers for the position on the board have arrived.
    fn settled(&self) {
        self.wait("document.querySelector('#moves')?.children.length > 0 || document.querySelector('#panel:not(:has(#moves))')");
        self.wait("document.querySelector('#result:not([aria-busy]) #resulttext')?.textContent");
        self.quiet();
    }

    /// Opens a view by its tabs, and waits until its answers have arrived.
    fn show(&self, view: &str) {
        self.run(&opening(view));
        self.wait(&format!(
            "document.querySelector('#view-{view}, #tab-{view}').getAttribute('aria-selected') === 'true'"
        ));
        self.settled();
    }

    fn fen(&self) -> String {
        self.text("document.querySelector('#fen').value.replace(' ', '_')")
    }

    fn square(name: &str) -> String {
        format!("#grid [data-square={name}]")
    }

    /// Checks that the console is empty: no error, no refused request, no warning.
    fn silent(&self) {
        assert_eq!(self.console(), Vec::<String>::new());
    }
}

/// The moves of the player who moves first or last to the end of the game, from a number of plies.
fn moves(dtw: &Value) -> u64 {
    dtw.as_u64().unwrap().div_ceil(2)
}

/// The distance of a value: "1 move", "6 moves".
fn length(value: &Value) -> String {
    let moves = moves(&value["dtw"]);
    format!("{moves} {}", if moves == 1 { "move" } else { "moves" })
}

fn result(probe: &Value) -> String {
    let other = |side: &str| if side == "white" { "Black" } else { "White" };
    let turn = probe["turn"].as_str().unwrap();
    match probe["value"]["wdl"].as_str().unwrap() {
        "draw" => "A draw with best play".to_owned(),
        "win" => {
            format!("{} wins in {}", if turn == "white" { "White" } else { "Black" }, length(&probe["value"]))
        }
        _ => format!("{} wins in {}", other(turn), length(&probe["value"])),
    }
}
