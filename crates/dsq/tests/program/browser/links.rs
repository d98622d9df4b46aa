//! Links: they show the same after a reload, keep the rules, and explain what is wrong.

use super::*;

#[test]
fn a_link_shows_the_same_after_a_reload() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "&rules=chinese&view=explore&overlay=whatif:d2&arrows=d2d3,a1g9");
    page.wait("document.querySelector('#whatiftext')");
    page.keys(&["n"]);
    page.wait("document.querySelector('#scrubber').max > 2");
    page.keys(&[".", "."]);
    page.wait("document.querySelector('#ply').textContent.startsWith('2 /') && location.search.includes('at=2')");
    page.wait("document.querySelector('#whatiftext')");
    let state = "JSON.stringify([document.querySelector('#fen').value, document.querySelector('#rules').value, document.querySelector('#ply').textContent, document.querySelector('#resulttext')?.textContent, document.querySelector('[role=tab][aria-selected=true]').id, document.querySelectorAll('.arrow.user').length, document.querySelectorAll('.picture .tint').length, document.querySelector('#whatiftext').textContent, location.search])";
    let before = page.text(state);
    page.reload();
    page.wait("document.querySelector('#whatiftext')");
    page.settled();
    page.wait("document.querySelectorAll('.picture .tint').length > 0");
    page.expect(state, before.clone());
    assert!(before.contains("chinese"));
    // The board's picture as a file of its own.
    page.show("game");
    let address = page.text("document.querySelector('#sharelink').value");
    assert_eq!(address, page.text("location.href"));
    page.silent();
}

/// The page plays by the rules of the server if the URL names none, and shows the ranks of these rules.
#[test]
fn the_rules_of_the_server_hold() {
    let Some(page) = Page::of(|| server_of("chinese"), Options::default()) else { return };
    let differs = (0..100).find_map(|seed| {
        let fen = page.api(&format!("random?material=DvWR&seed={seed}"))["fen"].as_str()?.replace(' ', "_");
        let [chinese, paper] =
            ["chinese", "paper"].map(|rules| result(&page.api(&format!("probe?fen={fen}&rules={rules}"))));
        (chinese != paper).then_some((fen, chinese, paper))
    });
    let (fen, chinese, paper) = differs.expect("a position whose value depends on the rules");
    let shown = || page.text("document.querySelector('#resulttext').textContent");
    let rank = |piece: char| {
        page.text(&format!("document.querySelector('.mover[data-piece={piece}] .rank').textContent + document.querySelector('[data-tool={piece}] .rank').textContent"))
    };
    page.open_position(&fen, "");
    assert_eq!(shown(), chinese, "{fen}");
    page.expect("document.querySelector('#rules').value", "chinese");
    assert!(page.text("location.search").contains("rules=chinese"), "a link means the same elsewhere");
    assert_eq!([rank('D'), rank('w'), rank('r')], ["33", "44", "11"], "the wolf takes the dog");
    page.choose("#rules", "paper");
    page.wait("location.search.includes('rules=paper')");
    page.settled();
    assert_eq!(shown(), paper, "{fen}");
    assert_eq!([rank('D'), rank('w'), rank('r')], ["44", "33", "11"], "the dog takes the wolf");
    page.reload();
    page.settled();
    assert_eq!(shown(), paper, "{fen}");
    page.silent();
}

/// For a wrong link the page shows the error above the board, the part that it could read, and the FEN to correct.
#[test]
fn a_wrong_link_is_an_error() {
    let Some(page) = Page::start() else { return };
    let two_elephants = "7/7/3e3/7/7/7/3EE2/7/7_w";
    for (query, words, pieces) in [
        (format!("fen={two_elephants}"), "elephant", 2),
        (format!("fen={TWO}&rules=nobody"), "no rules preset", 2),
        (format!("from={two_elephants}&line=d7d6"), "elephant", 2),
        ("fen=7/7/3e3/7/7/7/3Q3/7/3E3_w".to_owned(), "Q", 2),
    ] {
        page.open(&format!("/?{query}"));
        let error = "document.querySelector('#fenerror').textContent";
        page.wait(&format!("{error}.includes('{words}')"));
        page.wait(&format!("document.querySelector('#subresult').textContent === {error}"));
        page.wait(&format!("document.querySelector('#notice').textContent.includes({error})"));
        assert_eq!(page.get("document.querySelectorAll('.picture .mover').length"), json!(pieces), "{query}");
        let top = page.get("document.querySelector('#notice').getBoundingClientRect().bottom");
        assert!(top.as_f64() < Some(200.0), "above the fold: {top}");
        assert_eq!(page.text("location.search"), format!("?{query}"), "a reload shows the error again");
    }
    page.open(&format!("/?fen={two_elephants}"));
    page.wait(&format!("document.querySelector('#fen').value === '{two_elephants}'"));
    page.type_into("#fen", &TWO.replace('_', " "));
    page.keys(&[ENTER]);
    page.wait("document.querySelectorAll('.picture .mover').length === 2");
    page.wait(&format!("location.search.includes('fen={TWO}') && !document.querySelector('#fenerror').textContent"));
    // Back to the original link.
    page.run("history.back()");
    page.wait("document.querySelector('#fenerror').textContent.includes('elephant')");
    page.expect("document.querySelectorAll('.picture .mover').length", 2);
    let errors = page.console();
    assert!(errors.iter().all(|error| error.contains("400")), "only the page itself is refused: {errors:?}");
}

/// Every option is on the form, named in every language, and requests use the chosen options.
#[test]
fn rules_are_chosen_option_by_option() {
    let Some(page) = Page::start() else { return };
    page.open_position(TWO, "");
    page.choose("#rules", "other");
    page.wait("document.querySelector('#ruleform').open");
    let known = page.api("rules");
    let options = known["options"].as_array().unwrap();
    let keys = options.iter().flat_map(|option| {
        let key = option["key"].as_str().unwrap();
        let values = option["values"].as_array().unwrap().iter();
        let names = values.map(move |value| format!("option.{key}.{}", value.as_str().unwrap()));
        std::iter::once(format!("option.{key}")).chain(names)
    });
    let keys: Vec<String> = keys.collect();
    page.run(&format!("window.missing = null; Promise.all([import('/strings.en.js'), import('/strings.zh.js')]).then((all) => {{ window.missing = all.flatMap(strings => {}.filter(key => !strings.default[key])); }})", json!(keys)));
    page.wait("window.missing");
    page.expect("window.missing", json!([]));
    page.expect("document.querySelectorAll('#ruleform [data-option]').length", json!(options.len()));

    let spelling = "document.querySelector('#rulespelling').textContent";
    page.expect(spelling, "paper");
    page.choose("#rulebase", "chinese");
    page.expect(spelling, "chinese");
    page.choose("[data-option=traps]", "any");
    page.expect(spelling, "chinese,traps=any");
    page.choose("[data-option=tiger-leap]", "files");
    checks::contrast(&page, "rules");
    page.screenshot("rules");
    page.click("#ruleuse");
    page.wait("location.search.includes('rules=chinese,traps=any,tiger-leap=files')");
    page.settled();
    page.reload();
    page.settled();
    let probe = page.api(&format!("probe?fen={TWO}&rules=chinese,traps=any,tiger-leap=files"));
    assert!(page.text("document.querySelector('#resulttext').textContent").starts_with(&result(&probe)));
    // The form opens with the current rules; a cancelled form changes nothing.
    page.choose("#rules", "other");
    page.wait("document.querySelector('#ruleform').open");
    page.expect(spelling, "chinese,traps=any,tiger-leap=files");
    page.choose("#rulebase", "paper");
    page.click("#rulecancel");
    assert!(page.text("location.search").contains("tiger-leap=files"));
    page.stays("document.querySelector('#rules').value", "chinese,traps=any,tiger-leap=files");
    page.silent();
}

/// The page explains a wrong link in its own language.
#[test]
fn wrong_links_are_explained_in_chinese() {
    let Some(page) = Page::start() else { return };
    let wrong = [
        ("rules=nobody", "nobody"),
        ("rules=paper,traps=sometimes", "sometimes"),
        ("rules=paper,leap=far", "leap"),
        ("fen=7/7/3e3/7/7/7/3EE2/7/7_w", "d3"),
        ("fen=7/7/3e3/7/7/7/3Q3/7/7_w", "Q"),
        ("fen=7/7/3e3/7/7/7/3E3/7/7", "w"),
    ];
    for (query, word) in wrong {
        page.open(&format!("/?{query}&lang=zh"));
        page.wait("!document.querySelector('#notice').hidden");
        let notice = page.text("document.querySelector('#notice').textContent");
        assert!(notice.starts_with("此链接无法完整读取：") && notice.contains(word), "{query}: {notice}");
        let english = page.get(
            "[...document.querySelector('#app').innerText.matchAll(/[a-z]{3,} [a-z]{2,} [a-z]{2,}/gi)].map(String)",
        );
        assert_eq!(english, json!([]), "{query}");
    }
    page.screenshot("link-chinese");
    // An input of a panel, too.
    page.open(&format!("/?fen={LION}&view=material&lang=zh"));
    page.run("const e = document.querySelector('#panel input'); e.value = 'LvX'; e.dispatchEvent(new Event('change', { bubbles: true })); e.form?.requestSubmit();");
    page.wait("document.querySelector('#panel').textContent.includes('“LvX”中的“X”不是动物')");
}

/// The halfmove clock that a game begins with stays in the address and in the game's text.
#[test]
fn a_link_keeps_the_halfmove_clock() {
    let Some(page) = Page::start() else { return };
    let start = TWO.replace("_w", "_w_17");
    page.open(&format!("/?fen=7/7/3e3/7/7/3E3/7/7/7_b&from={start}&line=d3d4&at=1"));
    page.settled();
    page.wait(&format!("location.search.includes('from={start}')"));
    page.open(&format!("/?fen={TWO}&from={start}&view=game"));
    page.settled();
    page.wait(&format!("location.search.includes('from={start}')"));
    page.open(&format!("/?fen={start}"));
    page.wait("document.querySelector('#fenerror')?.textContent.includes('halfmove clock (17)')");
}

/// In a frame of another page there are the verdict, the board, the moves and a link to the whole page.
#[test]
fn a_board_in_another_page() {
    let Some(page) = Page::start() else { return };
    page.open(&format!("/?from={LION}&line=g6d6.d8c8&at=0&view=game"));
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    page.click("#copyframe");
    page.wait("window.copied");
    let frame = page.text("(({ src }) => src.slice(location.origin.length))(new DOMParser().parseFromString(window.copied, 'text/html').querySelector('iframe'))");
    page.size(360, 600);
    page.open(&frame);
    let seen = "['.top', '#result', '#board', '#player', '#whole', '#tools', '#tabs', '#panels'].filter((part) => document.querySelector(part).checkVisibility())";
    page.stays(seen, json!(["#result", "#board", "#player", "#whole"]));
    page.stays("document.documentElement.scrollHeight <= innerHeight", true);
    page.click("#player-forward");
    page.expect("document.querySelector('#ply').textContent", "1 / 2");
    // A reload keeps the frame and its move; the link leads to the same move of the whole page.
    page.reload();
    page.expect("document.querySelector('#ply').textContent", "1 / 2");
    page.stays(seen, json!(["#result", "#board", "#player", "#whole"]));
    let whole = page.text("document.querySelector('#whole').getAttribute('href')");
    assert!(whole.contains("at=1") && !whole.contains("embed"), "{whole}");
    page.screenshot("embedded");
    // A game that is over, and a wrong position, say so.
    page.open("/?from=7/3E3/7/7/7/7/r6/7/7_w&line=d8d9&at=1&embed=1");
    page.expect("document.querySelector('#resulttext').textContent", "White has won by entering the den");
    page.silent();
    page.open("/?fen=7/7/7/7/7/7/3EE2/7/7_w&embed=1");
    page.expect("document.querySelector('#resulttext').textContent", "This link has an error");
    page.stays("document.querySelector('#editor').checkVisibility()", false);
}
