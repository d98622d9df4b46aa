//! The look and handling of the page: the layout on phones, touch targets, swipes, the wheel, leaps and sounds.

use super::*;
use std::collections::BTreeSet;

const LEFT: &str = "\u{e012}";

/// Three plies from the start of the game, with the cursor at the start.
const LINE: &str = "/?line=a3b3.g7f7.g3g4&at=0";

/// The ply that the page shows, and the number of plies of the line.
fn at_ply(page: &Page, ply: u32) {
    page.wait(&format!("document.querySelector('#ply').textContent.startsWith('{ply} /')"));
}

/// Board, verdict, controls and tabs fit one screen without scrolling, and the targets are large enough for fingers.
#[test]
fn board_and_controls_fit_one_screen_of_a_phone() {
    let Some(page) = Page::start() else { return };
    for (width, height) in [(390, 844), (844, 390)] {
        page.size(width, height);
        for language in ["en", "zh"] {
            page.open_position(LION, &format!("&lang={language}"));
            for part in ["#board", "#result", "#player", "#tools", "#tabs", "#gear", "#rules"] {
                let inside = "(r => r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth)";
                let rectangle = format!("document.querySelector('{part}').getBoundingClientRect()");
                assert_eq!(page.get(&format!("{inside}({rectangle})")), json!(true), "{part} on {width} x {height}");
            }
            let small = page.run(
                "const controls = [...document.querySelectorAll('header select, header button, #player > *, #tools button, #tools input, #tabs button, #moves button')].filter(e => e.checkVisibility() && e.id !== 'ply' && !e.matches('.space')); \
                 return [controls.length, controls.map(e => [e.id || e.textContent, e.getBoundingClientRect()]).filter(([, r]) => r.width < 43.9 || r.height < 43.9).map(([name, r]) => `${name} ${r.width} x ${r.height}`)]",
            );
            assert!(small[0].as_u64() > Some(20), "{small}");
            assert_eq!(small[1], json!([]), "{width} x {height} {language}");
        }
    }
    page.silent();
}

#[test]
fn swipes_wheel_and_keys_step_through_the_moves() {
    let Some(page) = Page::start() else { return };
    let at = |square: &str| Page::square(square);
    page.open(LINE);
    at_ply(&page, 0);
    page.swipe(&at("f4"), &at("b4"));
    at_ply(&page, 1);
    page.swipe(&at("b5"), &at("f5"));
    at_ply(&page, 0);
    // Up and down, a finger scrolls the page and does not step.
    page.swipe(&at("d6"), &at("d4"));
    page.wheel(&at("d5"), 100);
    at_ply(&page, 1);
    page.wheel(&at("d5"), -100);
    at_ply(&page, 0);
    page.keys(&[RIGHT]);
    at_ply(&page, 1);
    // Also after a click on the board, unless the keyboard focus is in it.
    page.click(&at("d5"));
    page.keys(&[RIGHT]);
    at_ply(&page, 2);
    page.keys(&[LEFT]);
    at_ply(&page, 1);
    page.keys(&[UP, RIGHT]);
    page.expect("document.activeElement.dataset.square", "e6");
    at_ply(&page, 1);
    page.open_position(LION, "");
    page.run("document.activeElement.blur()");
    page.keys(&[" "]);
    page.wait("document.querySelector('#fen').value === '7/3r3/7/3L3/7/7/7/3E3/7 b'");
    page.silent();
}

/// A leap over water is animated; steps are not, and nothing is if the system asks for reduced motion.
#[test]
fn leaps_are_animated_unless_motion_is_reduced() {
    let Some(page) = Page::start() else { return };
    let record = "window.leaps = []; const animate = Element.prototype.animate; Element.prototype.animate = function (...all) { if (this.dataset.piece) leaps.push(this.dataset.piece); return animate.apply(this, all); }";
    for (motion, uci, leaps) in
        [("no-preference", "g6d6", json!(["L"])), ("no-preference", "g6g7", json!([])), ("reduce", "g6d6", json!([]))]
    {
        page.prefer("prefers-reduced-motion", motion);
        page.open_position(LION, "");
        page.run(record);
        page.click(&format!("#moves tr[data-uci={uci}] button"));
        page.wait("document.querySelector('#fen').value.endsWith(' b')");
        assert_eq!(page.get("window.leaps"), leaps, "{uci}, {motion}");
    }
    page.silent();
}

#[test]
fn sounds_are_on_until_switched_off() {
    let Some(page) = Page::start() else { return };
    let count = "window.contexts = 0; const Real = AudioContext; window.AudioContext = class extends Real { constructor() { super(); window.contexts += 1; } }";
    page.open_position(LION, "");
    page.run(count);
    page.click("#moves tbody button");
    page.wait("document.querySelector('#fen').value.endsWith(' b')");
    page.wait("window.contexts === 1");
    page.click("#gear");
    page.wait("document.querySelector('#settings').matches(':popover-open')");
    page.screenshot("settings");
    page.click("#sounds");
    page.keys(&["\u{e00c}"]);
    page.wait("!document.querySelector('#settings').matches(':popover-open')");
    page.reload();
    assert_eq!(page.get("document.querySelector('#sounds').checked"), json!(false), "the choice is kept");
    page.open_position(LION, "");
    page.run(count);
    page.click("#moves tbody button");
    page.wait("document.querySelector('#fen').value.endsWith(' b')");
    page.stays("window.contexts", 0);
    page.silent();
}

/// Results on the board differ in shape and in texture: a win is a pill, a loss a box on hatching, a draw a hexagon on
/// dots.
#[test]
fn results_differ_without_colour() {
    let Some(page) = Page::start() else { return };
    let mut textures = BTreeSet::new();
    for (fen, square) in [(LION, "d8"), (DRAW, "c3")] {
        page.open_position(fen, &format!("&view=explore&overlay=whatif:{square}"));
        page.wait("document.querySelectorAll('.picture .pill').length > 20");
        let shapes = page.get("[...new Set([...document.querySelectorAll('.picture .pill')].map(e => `${e.classList[1]} ${e.tagName} ${e.getAttribute('rx')}`))].sort()");
        for shape in shapes.as_array().unwrap() {
            assert!(["win rect 17", "loss rect 3", "draw path null"].contains(&shape.as_str().unwrap()), "{shapes}");
        }
        assert!(shapes.as_array().unwrap().len() > 1, "{fen}: {shapes}");
        // Every result that is on the board has its texture, on as many squares.
        for (wdl, texture) in [("win", "none"), ("loss", "url(\"#hatching\")"), ("draw", "url(\"#dots\")")] {
            let fills =
                format!("[...document.querySelectorAll('.picture .texture.{wdl}')].map(e => getComputedStyle(e).fill)");
            let pills =
                page.get(&format!("document.querySelectorAll('.picture .pill.{wdl}').length")).as_u64().unwrap();
            page.stays(&fills, vec![texture; pills as usize]);
            textures.extend((pills > 0).then_some(texture));
        }
    }
    assert_eq!(textures.len(), 3);
    page.silent();
}

/// Nothing moves while the page starts and answers arrive in any order, except the evaluation bar.
#[test]
fn the_layout_does_not_shift() {
    let Some(page) = Page::start() else { return };
    for (width, height) in [(1280, 800), (390, 844)] {
        page.size(width, height);
        for seed in 0..3 {
            page.shuffle(400 * seed.min(1), seed);
            // Another address for each, so that the browser has not kept the page.
            page.open_position(LION, &format!("&order={seed}&width={width}"));
            let (sum, shifts) = layout_shifts(&page);
            assert!(sum < 0.01, "{sum} at {width} x {height} in order {seed}: {shifts:#}");
        }
    }
    page.silent();
}

/// The sum of the layout shifts of this document so far, and what has moved in each.
fn layout_shifts(page: &Browser) -> (f64, Value) {
    // A mark, which is recorded after two frames, ends the list of the shifts.
    let found = page.run(
        "const frame = () => new Promise(requestAnimationFrame);
         const moved = ({ node, previousRect, currentRect }) =>
           [(node?.outerHTML ?? node?.textContent ?? '').slice(0, 80), previousRect, currentRect];
         return frame().then(frame).then(() => new Promise((done) => {
           const shifts = [];
           const observer = new PerformanceObserver((list) => {
             for (const { value, startTime, hadRecentInput, sources } of list.getEntriesByType('layout-shift'))
               shifts.push({ value, startTime, hadRecentInput, moved: sources.map(moved) });
             if (list.getEntriesByName('end').length) done(shifts);
           });
           observer.observe({type: 'layout-shift', buffered: true});
           observer.observe({type: 'mark'});
           performance.mark('end');
         }));",
    );
    let values = found.as_array().unwrap().iter().map(|shift| shift["value"].as_f64().unwrap());
    (values.sum(), found)
}

/// The board keeps the marks of a test of the decision tree, for users without a pointer.
#[test]
fn marks_of_the_tree_are_kept_for_touch() {
    let Some(page) = Page::start() else { return };
    let marks = "document.querySelectorAll('.picture :is(.subject, .hold)').length";
    for (width, height) in [(390, 844), (844, 390)] {
        page.size(width, height);
        page.open_position(LION, "&view=explore");
        page.wait("document.querySelectorAll('#decision .marker').length > 1");
        page.wait("document.querySelectorAll('#presets tr').length > 1");
        let room = "(p => { const [table] = p.children, height = p.offsetHeight; \
                    p.innerHTML = '<p class=\"soft working\">…</p>'; const before = p.offsetHeight; \
                    p.replaceChildren(table); return Math.abs(height - before) <= 2; })(document.querySelector('#presets'))";
        assert_eq!(page.get(room), json!(true), "the tree does not move when the rules above it are there");
        let first = "#decision .lit .lit > .marker";
        page.tap(first);
        page.wait(&format!("document.querySelector('{first}').ariaPressed === 'true' && {marks} >= 2"));
        assert_eq!(
            page.get(&format!("(r => r.top < innerHeight && r.bottom > 0)({BOARD})")),
            json!(true),
            "it is in sight"
        );
        page.screenshot(&format!("tree-marks-{width}"));
        page.tap("#treesentence");
        assert!(page.get(marks).as_u64() >= Some(2), "the marks stay");
        page.tap(first);
        page.wait(&format!("{marks} === 0"));
    }
    page.silent();
}

const BOARD: &str = "document.querySelector('#board').getBoundingClientRect()";

/// During a game the board, the clocks and the actions fit the screen of a laptop.
#[test]
fn a_game_fits_one_screen() {
    let Some(page) = Page::start() else { return };
    for (width, height) in [(1280, 800), (1024, 700), (390, 844), (844, 390)] {
        page.size(width, height);
        page.open("/?view=play");
        page.click("#you-both");
        page.choose("#time", "3+2");
        page.click("#playstart");
        page.wait("document.querySelectorAll('[data-clock]').length === 2");
        page.expect(TURN, "White to move");
        for part in ["#board", "#far", "#near", "#resign"] {
            let inside = "(r => r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth)";
            let rectangle = format!("document.querySelector('{part}').getBoundingClientRect()");
            assert_eq!(page.get(&format!("{inside}({rectangle})")), json!(true), "{part} on {width} x {height}");
        }
        page.screenshot(&format!("game-{width}"));
        for scheme in ["light", "dark"] {
            page.prefer("prefers-color-scheme", scheme);
            checks::contrast(&page, &format!("a game on {width} x {height}, {scheme}"));
        }
    }
    page.silent();
}

/// On screens of all kinds, and with zoom, no view scrolls sideways. On usual screens no part of a panel is wider than
/// its section, and the title is complete. All text has enough contrast, on a light and on a dark page.
#[test]
fn nothing_is_cut_off() {
    const CUT_OFF: &str = "const {documentElement: page} = document, title = document.querySelector('.top h1 span'); \
        const parts = (section) => [...section.querySelectorAll('*:not(.sr, .sr *, .scroll *, .chart *, option)')]; \
        const isWide = (section) => (e) => e.checkVisibility() \
            && e.getBoundingClientRect().right > section.getBoundingClientRect().right + 1; \
        const wide = [...document.querySelectorAll('#panel section')].flatMap((section) => parts(section).filter(isWide(section))); \
        return [...wide.map((e) => e.outerHTML.slice(0, 80)), ...(page.scrollWidth > page.clientWidth ? ['the page'] : []), \
            ...(title.scrollWidth > title.clientWidth ? ['the title'] : [])];";
    let Some(page) = Page::start() else { return };
    let sizes = [(1280, 800), (1024, 700), (640, 400), (390, 844), (360, 740), (320, 640), (844, 390)];
    for language in ["en", "zh"] {
        page.open_position(LION, &format!("&lang={language}"));
        for view in VIEWS {
            page.show(view);
            page.wait("!document.querySelector('#presets') || document.querySelectorAll('#presets tr, #decision .marker').length > 8");
            page.wait("!document.querySelector('.matrix') || document.querySelectorAll('.matrix td').length > 8 && document.querySelector('.histogram')");
            for (width, height) in sizes {
                page.size(width, height);
                page.quiet();
                let name = format!("{view} {language} {width} x {height}");
                let cut_off = page.run(CUT_OFF);
                let mut cut_off: Vec<_> = cut_off.as_array().unwrap().iter().collect();
                // With zoom and on narrow phones only the page must fit: the title may end with an ellipsis, and parts may be
                // wider than their sections.
                cut_off.retain(|part| {
                    *part == "the page" || *part == "the title" && width == 320 || ![640, 360, 320].contains(&width)
                });
                assert!(cut_off.is_empty(), "{name}: {cut_off:?}");
                page.screenshot(&name.replace(' ', "-"));
                let scheme = match (width, language) {
                    (1280, "en") | (390, "zh") => "light",
                    (360, "en") => "dark",
                    _ => continue,
                };
                page.prefer("prefers-color-scheme", scheme);
                checks::contrast(&page, &name);
            }
        }
    }
    page.silent();
}

/// The choices fit their buttons in a narrow panel, also one beside the board.
#[test]
fn choices_fit_their_buttons() {
    let Some(page) = Page::start() else { return };
    for (width, height) in [(1280, 800), (1024, 768), (900, 700), (640, 450), (390, 844), (320, 640)] {
        page.size(width, height);
        for view in ["/", "/?view=play"] {
            page.open(view);
            page.quiet();
            let wide = "[...document.querySelectorAll('.choice label, .tile')].filter((e) => e.scrollWidth > e.clientWidth + 3).map((e) => e.textContent)";
            assert_eq!(page.get(wide), json!([]), "{view} {width} x {height}");
            page.screenshot(&format!("choices-{}-{width}", view.len()));
        }
    }
    page.silent();
}

/// The editor stands beside the board, both in sight; a pressed button stays legible under the pointer.
#[test]
fn the_editor_is_beside_the_board() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=position");
    page.click("#edit");
    page.wait("document.querySelector('#edit').ariaPressed === 'true'");
    for part in ["#board", "#editor"] {
        let inside = "(r => r.height > 0 && r.top >= 0 && r.bottom <= innerHeight)";
        let rectangle = format!("document.querySelector('{part}').getBoundingClientRect()");
        assert_eq!(page.get(&format!("{inside}({rectangle})")), json!(true), "{part}");
    }
    let background =
        |button: &str| page.get(&format!("getComputedStyle(document.querySelector('{button}')).backgroundColor"));
    assert_eq!(background("#edit:hover"), background("#values[aria-pressed=true]"));
    page.screenshot("editor");
    page.click("#editor [data-tool=e]");
    page.click(&Page::square("a9"));
    page.wait("document.querySelector('#fen').value.startsWith('e')");
    page.silent();
}

/// On a phone the verdict is complete, also for a zugzwang.
#[test]
fn the_verdict_is_not_cut_off() {
    let Some(page) = Page::start() else { return };
    for (width, height) in [(390, 844), (844, 390)] {
        page.size(width, height);
        for language in ["en", "zh"] {
            page.open_position(TWO, &format!("&lang={language}"));
            page.wait("document.querySelector('#zugzwang')");
            let bottom =
                |part: &str| page.get(&format!("document.querySelector('{part}').getBoundingClientRect().bottom"));
            let (text, card) = (bottom("#otherside").as_f64().unwrap(), bottom(".resultcard").as_f64().unwrap());
            assert!(text <= card + 1.0, "{text} of {card}, {language} on {width} x {height}");
        }
    }
    page.silent();
}

/// The evaluation bar turns with the board.
#[test]
fn the_evaluation_bar_turns_with_the_board() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "");
    let white_below = "(top => top('.white') > top('.black'))(part => document.querySelector(`#gauge ${part}`).getBoundingClientRect().top)";
    // Both parts are visible, whatever the value of the position.
    page.run("const sheet = new CSSStyleSheet(); sheet.replaceSync('#gauge > * { flex-grow: 0.5 !important }'); document.adoptedStyleSheets = [sheet]");
    page.wait(white_below);
    page.keys(&["f"]);
    page.wait(&format!("!{white_below}"));
    page.silent();
}

/// The page shows no half of a word at twice the text size, prints no controls, and lists its keys from the first one.
#[test]
fn large_text_paper_and_help() {
    let Some(page) = Page::start() else { return };
    for (width, height) in [(640, 400), (390, 844), (320, 640)] {
        page.size(width, height);
        page.open_position(LION, "");
        page.stays("(box => box.left >= 0 && box.right <= innerWidth && box.width > 50)(document.querySelector('#movein').getBoundingClientRect())", true);
        let tabs = page.get("[...document.querySelectorAll('#tabs button')].map((tab) => [tab, ...(tab.nextElementSibling ? [tab.nextElementSibling] : [])].map((e) => e.getBoundingClientRect())).filter(([a, b]) => b && b.left < a.right - 1).length + [...document.querySelectorAll('#tabs button')].filter((tab) => tab.scrollWidth > tab.clientWidth + 1).length");
        assert_eq!(tabs, json!(0), "tabs overlap at {width} x {height}");
        page.stays("(tabs => tabs.scrollWidth <= tabs.clientWidth)(document.querySelector('#tabs'))", true);
        page.screenshot(&format!("tabs-{width}"));
        page.run("document.activeElement.blur()");
        page.click("#help");
        page.wait("document.querySelector('#keys').open");
        page.stays("document.querySelector('#keys').scrollTop", 0);
        page.click("#closekeys");
    }
    page.size(1280, 800);
    page.open_position(LION, "");
    page.chromium("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    let printed = |selector: &str| {
        page.get(&format!("[...document.querySelectorAll('{selector}')].filter((e) => e.checkVisibility()).length"))
    };
    assert_eq!(printed("#app :is(select, input, textarea, [role=tab], #tools button, #player button)"), json!(0));
    assert_eq!(printed("#board, #resulttext, #moves tbody tr:first-child"), json!(3));
    // Numbers have their titles, and titles their contents; a dark page is printed on white.
    assert_eq!(printed("#ply, #elsehead"), json!(0));
    page.chromium("Emulation.setEmulatedMedia", &json!({"media": ""}));
    page.choose("#theme", "dark");
    page.show("material");
    page.wait("document.querySelectorAll('.matrix td button').length > 8");
    let shades = "[getComputedStyle(document.documentElement).colorScheme, getComputedStyle(document.body).color]";
    assert_eq!(page.get(shades)[0], "dark");
    page.chromium("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    assert_eq!(page.get(shades), json!(["light", "rgb(42, 35, 26)"]));
    assert_eq!(
        page.get("[...document.querySelectorAll('.matrix td button')].every((cell) => cell.checkVisibility())"),
        json!(true)
    );
    page.screenshot("paper");
    page.chromium("Emulation.setEmulatedMedia", &json!({"media": ""}));
    page.silent();
}

/// Two fingers on two pieces are a gesture of the browser: neither plays a move.
#[test]
fn two_fingers_play_no_move() {
    let Some(page) = Page::start() else { return };
    page.open_position("7/7/7/7/3c3/3E3/7/3L3/7_w", "");
    let middle = |square: &str| {
        let point = page.get(&format!(
            "(r => ({{ x: r.left + r.width / 2, y: r.top + r.height / 2 }}))(document.querySelector('{}').getBoundingClientRect())",
            Page::square(square)
        ));
        json!({"x": point["x"], "y": point["y"]})
    };
    let with = |mut point: serde_json::Value, id: u32| {
        point["id"] = json!(id);
        point
    };
    let (own, other) = (with(middle("d4"), 0), with(middle("d5"), 1));
    let touch = |kind: &str, points: &[&serde_json::Value]| {
        page.chromium("Input.dispatchTouchEvent", &json!({"type": kind, "touchPoints": points}));
    };
    touch("touchStart", &[&own]);
    touch("touchStart", &[&own, &other]);
    touch("touchEnd", &[&other]);
    touch("touchEnd", &[]);
    // One finger after the other still plays.
    page.tap(&Page::square("d4"));
    page.wait("document.querySelectorAll('.picture .selected').length === 1");
    assert!(page.fen().ends_with("_w"), "nothing was played");
    page.tap(&Page::square("d5"));
    page.wait("document.querySelector('#fen').value.endsWith(' b')");
    page.silent();
}

/// An empty move field asks for a move, and a language that cannot be loaded is reported and can be chosen later.
#[test]
fn small_mistakes_have_answers() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "");
    page.click("#tools form button");
    page.expect("document.activeElement.id", "movein");
    page.stays("document.querySelector('#toast').hidden", true);
    page.offline(true);
    page.choose("#language", "zh");
    page.wait("document.querySelector('#toast').textContent.includes('does not respond')");
    page.expect("document.querySelector('#language').value", "en");
    page.offline(false);
    page.choose("#language", "zh");
    page.wait("document.documentElement.lang === 'zh-Hans'");
    let errors = page.console();
    assert!(errors.iter().all(|error| error.contains("ERR_INTERNET_DISCONNECTED")), "{errors:?}");
}

/// On a Chinese page a new game follows the Chinese rules, and screen readers hear animals and squares in words.
#[test]
fn a_chinese_page_is_chinese() {
    let Some(page) = Page::start() else { return };
    page.open("/?lang=zh&view=play");
    page.expect("document.querySelector('#rules').value", "chinese");
    page.open(&format!("/?lang=zh&fen={TWO}"));
    assert_eq!(page.text("document.querySelector('#rules').value"), "paper", "a position has the rules of the server");
    page.settled();
    let label = page.text("document.querySelector('#moves tbody button').getAttribute('aria-label')");
    assert!(label.starts_with("象到 ") && label.contains("，"), "{label}");
    page.click("#moves tbody button");
    page.wait("/^象到 [a-g][1-9]。/.test(document.querySelector('#live').textContent)");
    assert!(page.text("document.querySelector('#tree button').getAttribute('aria-label')").starts_with("象到 "));
    // The language of the page brings its rules to a board that nobody has used.
    page.open("/?view=play");
    page.expect("document.querySelector('#rules').value", "paper");
    page.choose("#language", "zh");
    page.wait("document.querySelector('#rules').value === 'chinese'");
    page.choose("#language", "en");
    page.wait("document.querySelector('#rules').value === 'paper'");
    page.silent();
}

/// Traditional Chinese is a language of its own, and that of browsers in Taiwan.
#[test]
fn a_traditional_page_is_traditional() {
    let Some(page) = Page::start() else { return };
    let agent = page.text("navigator.userAgent");
    for (language, shown) in [("zh-TW", "zh-Hant"), ("zh-CN", "zh-Hans"), ("en-US", "en")] {
        let wanted = json!({"userAgent": agent, "acceptLanguage": language});
        page.chromium("Emulation.setUserAgentOverride", &wanted);
        page.open("/?view=play");
        page.expect("document.documentElement.lang", shown);
    }
    page.open("/?lang=zh-Hant&view=play");
    page.expect("document.documentElement.lang", "zh-Hant");
    page.expect("document.querySelector('#rules').value", "chinese");
    page.expect("document.querySelector('#playstart').textContent", "開始對局");
    page.expect("document.querySelector('#tab-endgames').textContent", "殘局");
    page.choose("#language", "zh");
    page.expect("document.querySelector('#playstart').textContent", "开始对局");
    page.silent();
}

/// A first visit takes few requests, and the second one only asks whether the page has changed.
#[test]
fn a_visit_takes_few_requests() {
    let Some(page) = Page::start() else { return };
    if std::env::var_os("DSQ_ASSETS").is_some() {
        return;
    }
    page.open("/");
    page.settled();
    let files = "performance.getEntriesByType('resource').filter(e => !e.name.includes('/api/'))";
    let names = page.get(&format!("{files}.map(e => e.name)"));
    assert!(names.as_array().unwrap().len() <= 4, "{names}");
    page.open("/?view=learn");
    page.settled();
    assert_eq!(page.get(&format!("{files}.filter(e => e.transferSize > 0).length")), json!(0), "kept by the browser");
    page.silent();
}
