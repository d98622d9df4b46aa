//! Access: without scripts, on phones, in the dark, in Chinese, with assistive technology and slow networks.

use super::*;
use std::collections::BTreeSet;

#[test]
fn without_javascript_there_is_a_board_a_result_and_moves() {
    let Some(page) = Page::with(Options { no_javascript: true, ..Options::default() }) else { return };
    page.visit(&format!("/?fen={LION}"));
    assert!(page.text("document.querySelector('#static .result').textContent").contains("White wins in 7 plies"));
    assert_eq!(page.get("document.querySelectorAll('#static .board td[class]').length"), json!(63));
    assert_eq!(page.get("getComputedStyle(document.querySelector('#app')).display"), json!("none"));
    let clear = "[...document.querySelectorAll('#static .board td')].filter(e => e.className && getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)').length";
    assert_eq!(page.get(clear), json!(0), "every square has a ground");
    page.screenshot("no-javascript");
    let link = page.text("(link => link.pathname + link.search)(document.querySelector('#static .moves a'))");
    page.visit(&link);
    assert!(page.text("document.querySelector('#static .result').textContent").contains("White wins in 6 plies"));
    page.silent();
}

/// At the lowest sensible rate the page starts with all its files, and shows a value under rules that are not in
/// memory.
#[test]
fn the_page_starts_at_a_low_rate() {
    let start = || Arc::new(Server::start(&["--pieces", "3", "--behind-proxy", "--max-rate", "5"]));
    let Some(page) = Page::of(start, Options::default()) else { return };
    page.chromium("Network.enable", &json!({}));
    page.chromium("Network.setExtraHTTPHeaders", &json!({"headers": {"X-Real-IP": "9.9.9.9"}}));
    page.open(&format!("/?fen={LION}&rules=chinese&view=explore"));
    page.wait("document.querySelector('#resulttext')?.textContent.startsWith('White wins in')");
    // The page repeats expensive requests until the server allows them.
    page.wait("document.querySelector('#decision .marker')");
}

#[test]
fn colours_are_never_alone_and_motion_stops() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "&view=explore&overlay=whatif:d8");
    page.wait("document.querySelector('#whatiftext')");
    for kind in ["protanopia", "deuteranopia", "tritanopia", "achromatopsia"] {
        page.chromium("Emulation.setEmulatedVisionDeficiency", &json!({"type": kind}));
        page.screenshot(kind);
    }
    // Every coloured value has its sign, and no sign has two colours.
    let pills = page.get("[...document.querySelectorAll('.picture .values > g')].map(g => [g.querySelector('.pill').classList[1], g.querySelector('text').textContent[0]])");
    let pills = pills.as_array().unwrap();
    assert!(pills.len() > 20);
    for pill in pills {
        let sign = match pill[0].as_str().unwrap() {
            "win" => "+✓",
            "loss" => "−✗",
            _ => "=",
        };
        assert!(sign.contains(pill[1].as_str().unwrap()), "{pill}");
    }
    let transition = "getComputedStyle(document.querySelector('.mover')).transitionDuration";
    page.expect(&format!("{transition} !== '0s'"), true);
    page.prefer("prefers-reduced-motion", "reduce");
    page.expect(transition, "0s");
    page.silent();
}

#[test]
fn assistive_technology_is_told_everything() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "");
    let tree = checks::tree(&page);
    let names =
        |role: &str| -> Vec<&str> { tree.iter().filter(|(other, _)| other == role).map(|(_, name)| &**name).collect() };
    let cells = names("gridcell");
    assert_eq!(cells.len(), 63);
    for wanted in [
        "d6, empty, wins in 4 moves",
        "b4, water, empty",
        "d8, Black's trap, Black rat",
        "d9, Black's den, empty",
        "g6, White lion",
    ] {
        assert!(cells.contains(&wanted), "{wanted} is not among {cells:?}");
    }
    assert!(names("row").len() >= 9 + 7, "nine ranks, and a row for each move");
    // Every role is on some view, and has a name on each.
    const ROLES: [&str; 10] =
        ["button", "combobox", "slider", "tab", "textbox", "radio", "checkbox", "grid", "table", "image"];
    let mut seen = BTreeSet::new();
    for view in VIEWS {
        page.show(view);
        for (role, name) in checks::tree(&page) {
            if let Some(role) = ROLES.into_iter().find(|known| *known == role) {
                assert!(!name.trim().is_empty(), "a {role} of {view} has no name");
                seen.insert(role);
            }
        }
    }
    assert_eq!(seen, BTreeSet::from(ROLES));
    page.show("position");
    // One square takes the focus, and arrows move it.
    page.expect("document.querySelectorAll('#grid [tabindex=\"0\"]').length", 1);
    // A move is announced to screen readers.
    page.click("#moves tbody button");
    page.wait("document.querySelector('#live').textContent.includes('White wins in 3 moves')");
    page.run("document.activeElement.blur()");
    page.keys(&["?"]);
    page.wait("document.querySelector('#keys').open");
    page.screenshot("keys");
    page.click("#singlekeys");
    page.click("#closekeys");
    page.run("document.activeElement.blur()");
    page.keys(&["4"]);
    assert_eq!(
        page.get("document.querySelector('#tab-endgames').getAttribute('aria-selected')"),
        json!("false"),
        "single keys are off"
    );
    // The tab that opens a view keeps the focus, and arrows open the next one.
    page.show("position");
    page.run("document.querySelector('#view-engine').focus()");
    page.keys(&[ENTER]);
    page.wait("document.activeElement.id === 'view-engine' && document.activeElement.ariaSelected === 'true'");
    page.keys(&["\u{e014}"]);
    page.wait("document.activeElement.id === 'view-game' && document.querySelector('#sharelink')");
    checks::axe(&page, &VIEWS);
    page.silent();
}

/// What a key has changed keeps the focus, or the part of the page around it does.
#[test]
fn the_focus_is_never_lost() {
    let Some(page) = Page::start() else { return };
    let press = |selector: &str| {
        page.run(&format!("document.querySelector({}).focus()", json!(selector)));
        page.keys(&[ENTER]);
        page.quiet();
    };
    let has_focus = |selector: &str| {
        page.expect(&format!("document.activeElement.matches({})", json!(selector)), true);
    };
    page.open_position(LION, "");
    press("#moves button");
    at(&page, 1);
    has_focus("#moves");
    press("#tree button");
    has_focus("#tree button");
    page.keys(&["\u{e017}"]);
    page.wait("!document.querySelector('#tree button')");
    has_focus("#tree");
    page.show("explore");
    page.click("input[value=whatif]");
    page.wait("document.querySelectorAll('.picks button').length === 3 && document.querySelector('#presets tr')");
    press(".picks button:last-child");
    has_focus(".picks button:last-child");
    press("#presets [data-preset=bell] button");
    page.expect("document.querySelector('#rules').value", "bell");
    page.wait("document.querySelector('#presets .now[data-preset=bell]')");
    has_focus("#presets [data-preset=bell] button");
    // Meanwhile the sign of waiting has taken the place of the button.
    page.latency(1500);
    press("#presets [data-preset=chinese] button");
    page.wait("document.querySelector('#presets .now[data-preset=chinese]')");
    has_focus("#presets [data-preset=chinese] button");
    page.latency(0);
    // A review, and another try at a mistake.
    page.open("/?from=7/4d2/2C4/7/7/7/7/7/7_w&line=c7b7.e8d8&view=game");
    page.click("#reviewline");
    page.wait(&format!("{REVIEWED}.length === 2"));
    press("#reviewtable [data-key='2']");
    at(&page, 2);
    has_focus("#reviewtable [data-key='2']");
    press("#nextmistake");
    press("#retryshow");
    has_focus("#retry");
    // A game: the last move is taken back, and it is resigned.
    page.open("/?view=play");
    page.click("#you-both");
    page.click("#playstart");
    play(&page, "a3b3");
    at(&page, 1);
    press("#takeback");
    page.wait("document.querySelector('#takeback').disabled");
    has_focus("#matchbar");
    press("#resign");
    has_focus("#resign");
    press("#resign");
    page.wait("document.querySelector('#gameover').open");
    press("#closeresult");
    has_focus("#grid [data-square]");
    page.silent();
}

#[test]
fn the_page_is_light_and_speaks_two_languages() {
    let Some(page) = Page::start() else { return };
    page.open("/");
    page.settled();
    let size = page.get("performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).filter(e => !e.name.includes('/api/')).reduce((sum, e) => sum + e.encodedBodySize, 0)");
    let size = size.as_u64().unwrap();
    // Files from a directory are not compressed.
    let most = if std::env::var_os("DSQ_ASSETS").is_some() { 600_000 } else { 150_000 };
    assert!(size > 10_000 && size < most, "{size} bytes");
    page.run("window.keys = null; Promise.all(['en', 'zh'].map(async (language) => Promise.all(['strings', 'strings-play', 'strings-learn'].map(async (name) => Object.keys((await import(`/${name}.${language}.js`)).default).sort().join())))).then((keys) => { window.keys = keys; })");
    page.wait("window.keys");
    page.expect("String(window.keys[0]) === String(window.keys[1])", true);
    page.choose("#language", "zh");
    page.wait(
        "document.documentElement.lang === 'zh-Hans' && document.querySelector('#tab-learn').textContent === '学习'",
    );
    page.wait("document.querySelector('#grid [data-square=b4]').getAttribute('aria-label') === 'b4，河，空'");
    page.choose("#language", "en");
    page.wait("document.querySelector('#tab-learn').textContent === 'Learn'");
    // SVG and PNG of the board, drawn by the page.
    page.show("game");
    page.run("window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { window.saved.push(blob.type + ' ' + blob.size); return make.call(URL, blob); }; HTMLAnchorElement.prototype.click = () => {};");
    page.click("#savesvg");
    page.click("#savepng");
    page.wait("window.saved.length === 2 && window.saved.every(text => Number(text.split(' ')[1]) > 10000)");
    // A game without names.
    page.click("#savegame");
    page.wait("window.saved.length === 3 && window.saved[2].startsWith('text/plain')");
    page.silent();
}

/// The README's picture.
#[test]
fn the_readme_has_a_picture() {
    let Some(page) = Page::start() else { return };
    page.size(1180, 830);
    page.prefer("prefers-color-scheme", "light");
    page.open_position("7/7/2t4/7/3L3/7/6E/7/7_w", "");
    page.keys(&["n"]);
    page.wait("document.querySelectorAll('#ribbon .hit').length > 2");
    page.wait("document.querySelector('#toast').hidden");
    let picture = page.picture("readme", "webp");
    assert!(picture.len() < 150 << 10, "{} bytes", picture.len());
    if std::env::var_os("DSQ_WRITE_SCREENSHOT").is_some_and(|value| value == "1") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.webp"), picture).unwrap();
    }
    page.silent();
}
