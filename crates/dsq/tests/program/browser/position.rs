//! The values of a position, its overlays, its line, its material, and the engine.

use super::*;

/// What each square of the board is called.
fn labels(page: &Page) -> Value {
    page.get("Object.fromEntries([...document.querySelectorAll('#grid [data-square]')].map((e) => [e.dataset.square, e.getAttribute('aria-label')]))")
}

/// The page shows the values of the API for every move, in the table and on the board.
#[test]
fn values_shown_are_those_of_the_api() {
    let Some(page) = Page::start() else { return };
    for (seed, material) in ["EvE", "RvE", "ELvR", "CDvT", "TvLP", "RCvE"].into_iter().enumerate() {
        let fen =
            page.api(&format!("random?material={material}&seed={seed}"))["fen"].as_str().unwrap().replace(' ', "_");
        let probe = page.api(&format!("probe?fen={fen}"));
        page.open_position(&fen, "");
        let short = |value: &Value| match value["wdl"].as_str().unwrap() {
            "draw" => "=".to_owned(),
            "win" => format!("+{}", moves(&value["dtw"])),
            _ => format!("−{}", moves(&value["dtw"])),
        };
        let moves = probe["moves"].as_array().unwrap();
        let wanted: Vec<Value> = moves.iter().map(|mv| json!([mv["uci"], short(&mv["value"])])).collect();
        let shown = page.get("[...document.querySelectorAll('#moves tbody tr')].map(row => [row.dataset.uci, row.querySelector('.chip').textContent])");
        assert_eq!(shown, json!(wanted), "{fen}");
        assert_eq!(page.text("document.querySelector('#resulttext').textContent"), result(&probe), "{fen}");
        let labels = labels(&page);
        for mv in moves {
            // A square shows the value of the best move to it.
            let best = moves.iter().find(|other| other["to"] == mv["to"]).unwrap();
            let label = labels[mv["to"].as_str().unwrap()].as_str().unwrap();
            let words = match best["value"]["wdl"].as_str().unwrap() {
                "draw" => "draws".to_owned(),
                "win" => format!("wins in {}", length(&best["value"])),
                _ => format!("loses in {}", length(&best["value"])),
            };
            assert!(label.ends_with(&words), "{fen}: {label}, not {words}");
        }
    }
    page.silent();
}

/// The first moves have scores: under the rules that they were searched for, and not as a hint in a game.
#[test]
fn the_first_moves_have_scores() {
    let Some(page) = Page::start() else { return };
    let opening = "document.querySelector('#opening')?.textContent ?? ''";
    let show = |query: &str| {
        page.open(&format!("/?view=position&{query}"));
        page.settled();
        page.text(opening)
    };
    let row = |uci: &str| page.text(&format!("document.querySelector('#moves [data-uci={uci}]').textContent"));
    let first = "Every first move is good: the best and the worst differ by 10 % of a cat's value.";
    assert_eq!(show("rules=paper"), first);
    assert!(row("g3g4").ends_with("no move is better") && row("a3a2").ends_with("10 % of a cat behind the best"));
    page.expect("document.querySelector('#moves tbody tr:last-child').dataset.uci", "a3a2");
    page.screenshot("opening");
    assert!(
        show("rules=paper&line=g3g4.g7g6&at=2").starts_with("The best and the worst of these moves differ by 1061 ")
    );
    assert!(show("rules=paper&lang=zh").contains("10%"));
    assert_eq!(show("rules=chinese&lang=en"), "");
    assert_eq!(show("rules=paper&line=g3g4.g7g6.c3c2&at=3"), "");
    page.open("/?rules=paper&view=play");
    page.click("#you-both");
    page.click("#playstart");
    page.show("position");
    assert_eq!(page.text(opening), "");
    page.silent();
}

/// Where the no-capture limit comes before the end of the tables' lines, the results are those at the clock: a lion that needs
/// 9 plies to the den wins with 9 plies left, and not with 8.
#[test]
fn the_no_capture_limit_counts() {
    const RACE: &str = "7/7/7/7/L6/6e/7/7/7_w";
    let Some(page) = Page::start() else { return };
    for (clock, says) in
        [(0, "White wins in 5 moves"), (91, "White wins in 5 moves"), (92, "A draw: White cannot win before the limit")]
    {
        page.open(&format!("/?from={RACE}_{clock}&at=0"));
        page.settled();
        assert_eq!(page.text("document.querySelector('#resulttext').textContent"), says);
        let exact = page.api(&format!("dtz?fen={RACE}_{clock}"));
        let moves = exact["moves"].as_array().unwrap();
        let wanted = moves.iter().map(|mv| json!([mv["uci"], mv["value"]["wdl"]]));
        let shown = page.get(
            "[...document.querySelectorAll('#moves tbody tr')].map(row => [row.dataset.uci, row.querySelector('.chip').classList[1]])",
        );
        assert_eq!(shown, json!(wanted.collect::<Vec<_>>()), "{clock}");
        let keep = moves.iter().filter(|mv| mv["value"]["wdl"] == exact["value"]["wdl"]).count();
        let counted = page.text("document.querySelector('#moves p').textContent");
        assert!(counted.starts_with(&format!("{keep} of {}", moves.len())), "{clock}: {counted}");
        assert_eq!(page.get("document.querySelector('#tolimit') !== null"), json!(clock == 92), "{clock}");
        // What the tables say of the other side holds without the limit only.
        assert_eq!(page.get("document.querySelector('#otherside') !== null"), json!(clock == 0), "{clock}");
    }
    page.silent();
}

#[test]
fn overlays_show_what_if_the_race_and_the_fortress() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "&view=explore&overlay=whatif:g6");
    page.wait("document.querySelector('#whatiftext')");
    let map = page.api(&format!("whatif?fen={LION}&piece=g6"));
    let squares = map["squares"].as_array().unwrap();
    let wins = squares.iter().filter(|entry| entry["value"]["wdl"] == "win").count();
    page.expect("document.querySelectorAll('.picture .tint.win').length", json!(wins));
    let labels = labels(&page);
    for entry in squares.iter().filter(|entry| entry["value"]["wdl"] == "win") {
        let label = labels[entry["square"].as_str().unwrap()].as_str().unwrap();
        let over = entry["value"]["dtw"] == 0;
        let wanted = if over { "has won".to_owned() } else { format!("wins in {}", length(&entry["value"])) };
        assert!(label.ends_with(&wanted), "{label}");
    }
    page.screenshot("what-if");
    page.click("input[value=race]");
    page.wait("document.querySelectorAll('.picture .route').length === 2");
    assert!(page.text("document.querySelector('#racetext').textContent").contains("comes first"));
    page.wait("document.querySelectorAll('#presets [data-preset]').length === 6");
    let rules = page.api(&format!("rulesets?fen={LION}"));
    for preset in rules["presets"].as_array().unwrap().iter().filter(|preset| preset["known"] == true) {
        let name = preset["name"].as_str().unwrap();
        let turned = page.get(&format!("document.querySelector('[data-preset={name}] .badge-note') !== null"));
        assert_eq!(turned, preset["changes_result"], "{name}");
    }
    page.open_position(DRAW, "&view=explore&overlay=fortress");
    page.wait("document.querySelector('#fortresstext')?.textContent.includes('repeats')");
    page.wait("document.querySelectorAll('.tree .lit').length > 1");
    page.wait("document.querySelector('#treesentence').textContent.length > 10");
    page.silent();
}

/// A test of a decision tree that the pointer or the focus is on is marked on the board.
#[test]
fn tests_of_trees_are_marked_on_the_board() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "&view=explore");
    page.wait("document.querySelectorAll('#decision summary').length > 1");
    let marked = "document.querySelectorAll('.tint.subject, .tint.hold').length";
    page.stays(marked, 0);
    page.run("document.querySelector('#decision .lit summary').focus()");
    page.wait(&format!("{marked} > 0"));
    page.screenshot("tree-marks");
    page.run("document.activeElement.blur()");
    page.wait(&format!("{marked} === 0"));
    // A piece that stands in the den has won.
    page.open_position(LION, "&view=explore&overlay=whatif:g6");
    page.wait("[...document.querySelectorAll('.pilltext')].some((text) => '✓✗'.includes(text.textContent))");
    assert!(!page.text("document.querySelector('.whatmap').textContent").contains("−0"));
    page.screenshot("whatif-over");
    page.silent();
}

#[test]
fn the_line_player_steps_scrubs_and_tells_what_leaving_costs() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=material");
    page.wait("document.querySelector('[data-longest=\"67\"], [data-longest=\"66\"]')");
    page.click("#longest button");
    page.wait("document.querySelector('#scrubber').max >= 66");
    assert!(page.get("Number(document.querySelector('#scrubber').max)").as_u64() >= Some(66));
    page.wait("document.querySelectorAll('#ribbon .hit').length > 60");
    // The ribbon's table agrees with the API's line.
    let fen = page.fen();
    let line = page.api(&format!("mainline?fen={fen}&max=300"));
    let wanted: Vec<Value> =
        line["line"].as_array().unwrap().iter().map(|mv| json!([mv["san"], mv["keeps_result"].to_string()])).collect();
    let shown = page.get("[...document.querySelectorAll('#ribbon tbody tr')].map(row => [row.cells[1].textContent, row.cells[3].textContent])");
    assert_eq!(shown, json!(wanted));
    page.run(
        "const range = document.querySelector('#scrubber'); range.value = 10; range.dispatchEvent(new Event('input'))",
    );
    page.wait("document.querySelector('#ply').textContent.startsWith('10 /')");
    page.click("#player-back");
    page.wait("document.querySelector('#ply').textContent.startsWith('9 /')");
    page.run("document.querySelector('#speed').value = 90");
    page.run(
        "document.querySelector('#speed').append(new Option('', 20)); document.querySelector('#speed').value = 20",
    );
    page.click("#player-play");
    page.wait("parseInt(document.querySelector('#ply').textContent) > 13");
    page.click("#player-play");
    page.click("#player-first");
    page.wait("document.querySelector('#ply').textContent.startsWith('0 /')");
    // After the worst move instead of the best, the page shows its cost.
    page.show("position");
    page.wait("document.querySelectorAll('#moves tbody tr').length > 1");
    page.wait("document.querySelector('#resulttext')?.textContent");
    page.click("#moves tbody tr:last-child button");
    page.wait("!document.querySelector('#cost').hidden");
    let cost = page.text("document.querySelector('#cost').textContent");
    assert!(["cost", "gave", "turned", "lost"].iter().any(|word| cost.contains(word)), "{cost}");
    page.wait("document.querySelectorAll('#tree .variation').length === 1");
    page.silent();
}

#[test]
fn a_material_has_counts_a_histogram_and_neighbours() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "&view=material");
    page.wait("document.querySelectorAll('.histogram .hit').length > 5");
    let stats = page.api("stats/ELvR");
    let rows = page.get(
        "[...document.querySelectorAll('#counts tbody tr')].map(row => row.cells[1].textContent.replaceAll(',', ''))",
    );
    assert_eq!(rows, json!([stats["white"]["positions"].to_string(), stats["black"]["positions"].to_string()]));
    // A cell of the table opens a position of its depth, by keys, too.
    page.run("document.querySelector('#stats details').open = true; document.querySelector('#stats tbody tr:nth-child(3) [aria-label^=Random]').focus()");
    let name = page.text("document.activeElement.ariaLabel");
    page.keys(&[ENTER]);
    page.wait("!location.search.includes('7/3r3/7/6L')");
    page.settled();
    let plies = &page.api(&format!("probe?fen={}", page.fen()))["value"]["dtw"];
    assert_eq!(name, format!("Random position, {plies} plies"));
    page.wait("document.querySelectorAll('.matrix tbody tr').length === 8");
    let matrix = page.api("matrix?white=1&black=1");
    let first = matrix["win"][0][0].as_f64().unwrap();
    page.expect("document.querySelector('.matrix td button').textContent", format!("{:.0}", first * 100.0));
    page.click(".matrix [data-pair=EvC]");
    page.wait("document.querySelectorAll('#swaptable tbody tr').length === 14");
    page.screenshot("material");
    page.silent();
}

/// A search that is not over after a second says how far it is, and goes on there.
#[test]
fn a_long_search_says_how_far_it_is() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "&view=material");
    page.wait("document.querySelector('.histogram .hit')");
    // Two answers say that the search goes on.
    page.run(
        "const [send, shares] = [window.fetch, [0.254, 0.9999]];
         window.asked = [];
         window.fetch = (url, options) => {
           if (!String(url).includes('/random')) return send(url, options);
           window.asked.push(new URL(url, location).searchParams.get('from'));
           if (!shares.length) return send(url, options);
           const part = { fen: null, seed: 1, next: 10 * window.asked.length, share: shares.shift() };
           return new Promise((resolve) => {
             window.answer = () => resolve(new Response(JSON.stringify(part)));
           });
         };
         document.querySelector('.histogram .hit').dispatchEvent(new MouseEvent('click'));",
    );
    for share in ["25.4%", "99.9%"] {
        page.run("window.answer()");
        let said = format!("Searching the table for such a position: {share} done…");
        page.expect("document.querySelector('#toast').textContent", said);
    }
    page.wait("!location.search.includes('7/3r3/7/6L')");
    page.expect("window.asked.join()", "0,10,20");
    page.silent();
}

/// Lengths are counted in moves, or in plies if the user wants; the material is said in words.
#[test]
fn lengths_are_moves_or_plies() {
    let Some(page) = Page::start() else { return };
    page.open_position(LION, "");
    let result = "document.querySelector('#resulttext').textContent";
    page.expect(result, "White wins in 4 moves");
    page.expect("document.querySelector('#moves .chip').textContent", "+4");
    assert!(page.text("document.querySelector('#subresult').textContent").contains("Elephant and lion against rat"));
    page.choose("#unit", "plies");
    page.expect(result, "White wins in 7 plies");
    page.expect("document.querySelector('#moves .chip').textContent", "+7");
    page.reload();
    page.expect(result, "White wins in 7 plies");
    page.silent();
}

/// A duel: the animals of both sides are chosen, its result is that of the tables, and it is played and shared.
#[test]
fn a_duel_is_chosen_solved_and_played() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=duels");
    page.click("#duelshow");
    page.settled();
    let toggle = |piece: &str| format!("[data-key={piece}]");
    for piece in ["T", "l", "L"] {
        page.click(&toggle(piece));
        page.quiet();
    }
    // Elephant and lion against elephant.
    let fen = "7/7/6e/7/7/7/E6/7/6L_w";
    page.expect("document.querySelector('#fen').value.replace(' ', '_')", fen);
    page.expect("document.querySelector('#resulttext').textContent", result(&page.api(&format!("probe?fen={fen}"))));
    // Each side keeps at least one animal, and has at most three.
    page.stays("document.querySelector('[data-key=e]').disabled", true);
    page.click(&toggle("R"));
    page.quiet();
    page.stays("document.querySelector('[data-key=C]').disabled", true);
    page.click(&toggle("R"));
    page.screenshot("duel");
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    page.click("#duelshare");
    page.wait("window.copied?.includes('view=duels')");
    // Other positions are no duels: links with too many animals, or with animals elsewhere.
    page.open("/?fen=l5t/1d3c1/7/7/7/7/7/7/T6_w&view=duels");
    page.wait("document.querySelector('#duelshow')");
    page.open(&format!("/?fen={fen}&view=duels"));
    page.expect(
        "[...document.querySelectorAll('.team [aria-pressed=true]')].map((piece) => piece.dataset.key).join('')",
        "ELe",
    );
    page.click("#duelb");
    page.wait("!document.querySelector('#matchbar').hidden");
    at(&page, 1);
    page.expect(TURN, "Your move");
    page.expect("document.querySelector('#far .who').textContent", "Elephant");
    page.silent();
}

#[test]
fn the_engine_streams_and_reviews() {
    let Some(page) = Page::start() else { return };
    page.open("/?view=engine");
    // The page may analyse by itself.
    let is_shown = "document.querySelector('#lines').checkVisibility() === document.querySelectorAll('#lines tbody tr').length > 0";
    assert_eq!(page.get(is_shown), json!(true), "no table without lines");
    page.run("for (const [id, value] of [['movetime', 1500], ['multipv', 2]]) { const e = document.querySelector('#engine-' + id); e.value = value; e.dispatchEvent(new Event('change')); }");
    page.click("#analyze");
    page.wait("document.querySelectorAll('#lines tbody tr').length === 2");
    page.wait("document.querySelector('#gauge').getAttribute('aria-label').includes('engine')");
    page.wait("document.querySelector('#enginestate').textContent.startsWith('Done')");
    // The analysis follows the board until it is switched off.
    page.drag(&Page::square("a3"), &Page::square("b3"));
    page.wait("document.querySelectorAll('#lines tbody tr').length === 2 && document.querySelector('#enginestate').textContent.includes('depth')");
    page.click("#analyze");
    page.expect("document.querySelector('#enginestate').textContent", "Stopped.");
    // A pasted game: the cat walks past the dog's den.
    page.show("game");
    page.run("document.querySelector('#gametext').value = '1. Rg4 ra6 2. Wc4 *'");
    page.click("#review");
    page.wait("document.querySelector('#textstate').textContent === 'line 1: after ply 2: \"Wc4\" is not legal here'");
    // The browser reports an answer that is an error.
    assert_eq!(page.console().iter().filter(|line| line.contains("400 (Bad Request)")).count(), 1);
    page.run("document.querySelector('#gametext').value = '[FEN \"7/7/7/3E3/7/7/7/7/r6 w\"]\\n\\n1. Ed7 ra2 2. Ec7 ra3 3. Ec8 *\\n'");
    page.click("#review");
    page.wait(&format!("{REVIEWED}.length === 5"));
    let review = page
        .server
        .connect()
        .post(
            "/api/v1/review",
            &json!({"text": "[FEN \"7/7/7/3E3/7/7/7/7/r6 w\"]\n\n1. Ed7 ra2 2. Ec7 ra3 3. Ec8 *\n"}).to_string(),
        )
        .json();
    let marks: Vec<&Value> = review["moves"].as_array().unwrap().iter().map(|mv| &mv["mark"]).collect();
    assert_eq!(page.get(&format!("[...{REVIEWED}].map(move => move.dataset.mark)")), json!(marks));
    page.click("#reviewtable [data-key='3']");
    page.wait("document.querySelector('#ply').textContent === '3 / 5'");
    page.silent();
}
