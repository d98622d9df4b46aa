//! The page without a server: static files, with the answers from workers.

use super::webdriver::{self, Browser, Options};
use super::{ENTER, LION, REVIEWED, TURN, TWO, at, length, opening, play};
use crate::dsq;
use crate::serve::folder;
use crate::site;
use doushouqi::board::{Move, Position, RuleOptions, Rules};
use doushouqi::perft::{Perft, PerftMode};
use doushouqi::tablebase::{Options as SolverOptions, Solver, Value as Exact};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The site, if there are a site and a browser. Without them the test is skipped.
fn dir() -> Option<PathBuf> {
    site::dir().filter(|_| webdriver::available())
}

/// A browser whose pages are the host's.
fn browser(host: &site::Host, options: Options) -> Browser {
    Browser::start(host.address, "/games", options)
}

/// Opens a position of three pieces, and waits for its value.
fn three_pieces(page: &Browser) {
    page.open(&format!("/?fen={LION}"));
    page.wait("document.querySelector('#resulttext')?.textContent === 'White wins in 4 moves'");
}

/// Wins a game of three pieces against the engine, and has it reviewed.
fn whole_game(page: &Browser, name: &str) {
    let (rules, mut solver) = (Rules::default(), Solver::new(&RuleOptions::PAPER, 3, SolverOptions::default()));
    page.open(&format!("/?fen={LION}&view=play"));
    page.click("#level-E");
    page.choose("#from", "board");
    page.click("#playstart");
    page.wait("!document.querySelector('#matchbar').hidden");
    let mut plies = 0;
    while plies < 7 {
        page.expect(TURN, "Your move");
        let position: Position = page.text("document.querySelector('#fen').value").parse().unwrap();
        let value = |&mv: &Move| solver.solve_position(&position.make(mv)).unwrap().map(Exact::before);
        let best = position.moves(&rules).iter().copied().max_by_key(value).unwrap();
        play(page, &best.to_string());
        plies += 2;
        if position.make(best).winner().is_some() {
            break;
        }
        at(page, plies);
    }
    page.wait("document.querySelector('#gameover').open");
    page.expect("document.querySelector('#gameoverhead').textContent", "You have won");
    page.screenshot(&format!("site-gameover-{name}"));
    page.click("#review");
    page.wait(&format!("{REVIEWED}.length === {}", plies - 1));
    page.screenshot(&format!("site-review-{name}"));
    page.expect("[...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))", json!(["#grid"]));
}

/// A game against the engine, a look-up and an analysis that is stopped, in a folder of a host of static files.
#[test]
fn the_page_works_without_a_server() {
    let Some(dir) = dir() else { return };
    let host = site::Host::start(dir);
    let page = browser(&host, Options::default());
    for (name, width, height) in [("desktop", 1280, 800), ("phone", 390, 844)] {
        page.size(width, height);
        three_pieces(&page);
        page.screenshot(&format!("site-{name}"));

        page.open(&format!("/?fen={TWO}&view=play"));
        page.click("#level-C");
        page.choose("#from", "board");
        page.click("#playstart");
        page.wait("!document.querySelector('#matchbar').hidden");
        play(&page, "d3d4");
        at(&page, 2);
        page.expect(TURN, "Your move");
        page.expect("location.pathname", "/games/");
        whole_game(&page, name);

        // The analysis starts by itself. Another position ends its worker, and the next one answers.
        page.open("/?view=engine");
        let line = "document.querySelector('#lines .pv')?.textContent";
        page.wait(line);
        play(&page, "a3a4");
        // The lines of the position before are gone with it.
        at(&page, 1);
        page.wait(line);
    }
    // After the first visit the page needs no network.
    page.run("return navigator.serviceWorker.ready.then(() => true)");
    assert_eq!(page.console(), Vec::<String>::new());
    host.leave();
    three_pieces(&page);
}

/// The page measures the device. A GPU, here one in software, has the values of the CPU, and both count perft right.
#[test]
fn the_device_is_measured() {
    let Some(dir) = dir() else { return };
    let host = site::Host::start(dir);
    let solver = Solver::solved(&RuleOptions::PAPER, 2).unwrap();
    let positions: u64 = solver.classes().level(2).map(|(id, _)| solver.class_stats(id).unwrap().positions()).sum();
    for webgpu in [true, false] {
        let page = browser(&host, Options { webgpu, ..Options::default() });
        page.open("/");
        page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
        page.click("#gear");
        page.click("#measuring");
        page.choose("#measurepieces", "2");
        page.click("#measurestart");
        page.wait("document.querySelector('#measurejson')");
        page.click("#measurejson");
        page.wait("window.copied");
        let report: Value = serde_json::from_str(&page.text("window.copied")).unwrap();
        assert_eq!((&report["difference"], &report["cpu"]["positions"]), (&Value::Null, &json!(positions)), "{report}");
        let verdict = page.text("document.querySelector('#measureverdict').textContent");
        if webgpu {
            assert_eq!(
                (&report["compared"], &report["gpu"]["software"]),
                (&json!(positions), &json!(true)),
                "{report}"
            );
            assert!(verdict.starts_with("The CPU and the GPU agree on all "), "{verdict}");
            page.screenshot("measure-desktop");
            page.size(390, 844);
            page.screenshot("measure-phone");
        } else {
            assert_eq!((&report["gpu"], &report["no_gpu"]), (&Value::Null, &json!("none")));
            assert!(verdict.contains("the browser offers none"), "{verdict}");
        }
        // The CPU and the GPU are compared in one unit; what the CPU merges has a line of its own.
        let text = "[...document.querySelectorAll('#measured tbody tr')].map((row) => row.innerText).join('\\n')";
        let table = page.text(text);
        let line =
            |name: &str| table.lines().find(|line| line.starts_with(name)).map(str::to_owned).unwrap_or_default();
        let speeds = |line: &str| line.matches("nodes a second").count();
        assert_eq!(speeds(&line("Move generation")), 1 + usize::from(webgpu), "{table}");
        assert_eq!(speeds(&line("Perft with equal positions expanded once")), 1, "{table}");
        let of = |side: &str| ["bulk", "merged"].map(|method| report[side][method].clone());
        let counted: Vec<Value> =
            ["cpu", "gpu"].iter().flat_map(|side| of(side)).filter(|count| !count.is_null()).collect();
        assert_eq!(counted.len(), 2 + usize::from(webgpu), "{report}");
        for perft in counted {
            let (plies, nodes) = (perft["plies"].as_u64().unwrap(), perft["nodes"].as_u64());
            let rules = Rules::default();
            let right = Perft::new(&rules, PerftMode::Expand).count(&Position::start(), plies as u32);
            assert_eq!(nodes, Some(right), "{plies} plies");
        }
    }
}

/// A class of five pieces is solved on the device, and its positions have values from then on.
#[test]
fn an_endgame_is_solved_on_the_device() {
    let Some(dir) = dir() else { return };
    let host = site::Host::start(dir);
    let page = browser(&host, Options::default());
    let text = "document.querySelector('#solve').textContent";
    page.open("/?fen=1E5/4c2/7/7/7/7/3d3/1w5/4p2_w");
    page.wait("document.querySelector('#solvestart')");
    let offer = page.text(text);
    assert!(offer.starts_with("Solve this endgame (about ") && offer.ends_with("B)"), "{offer}");
    page.screenshot("site-solve");
    // Both in one step, so that no count is finished before.
    page.run("document.querySelector('#solvestart').click(); document.querySelector('#solvecancel').click()");
    page.wait("document.querySelector('#live').textContent === 'Cancelled'");
    page.click("#solvestart");
    page.wait("document.querySelector('#resulttext').textContent.startsWith('Black wins in ')");
    page.wait("document.querySelectorAll('#moves .chip.loss').length === 3");
    page.wait(&format!("{text} === ''"));
    page.screenshot("site-solved");
    page.run(&opening("endgames"));
    // The random endgame is the same in every run.
    page.run("Math.random = () => 0.5; window.solved = document.querySelector('#fen').value");
    page.click("#randomsame");
    page.wait("document.querySelector('#fen').value !== window.solved");
    page.run(&opening("position"));
    page.wait("document.querySelector('#moves .chip')");
    // The positions after its moves are known, too.
    page.click("#bestline");
    page.wait("document.querySelector('#tree button')");
    // Three plies before the limit nobody wins.
    page.open("/?from=7/7/c5p/d5w/7/7/7/7/E6_w_97");
    page.click("#solvestart");
    page.wait("document.querySelector('#resulttext').textContent === 'A draw: the limit saves White'");
    page.wait("document.querySelectorAll('#moves .chip.draw').length === 2");
    page.open("/?fen=7/7/2rel2/7/7/7/2CEP2/7/7_w");
    page.wait(&format!("{text} === 'This page solves endgames of up to 5 pieces.'"));
}

/// The GPU of the browser, here one in software, and the CPU solve the same values.
#[test]
fn classes_are_equal_on_cpu_and_gpu() {
    let Some(dir) = dir() else { return };
    let host = site::Host::start(dir);
    let page = browser(&host, Options { webgpu: true, ..Options::default() });
    page.open("/");
    page.run(
        "const hash = async (values) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', values))].join();
        const count = async ([device, limit]) => {
          const worker = new Worker(document.documentElement.dataset.device, { type: 'module' });
          worker.postMessage({ count: `fen=7/7/3e3/7/7/7/2C1E2/7/7_w${limit}`, device });
          const { head, values } = await new Promise((resolve, reject) => worker.addEventListener('message', ({ data }) => {
            if (data.counted) resolve(data.counted);
            else if (data.event !== 'progress') reject(new Error(JSON.stringify(data)));
          }));
          worker.terminate();
          return [head, ...(await Promise.all(values.map(hash)))];
        };
        const limit = '&no_capture_limit=100';
        Promise.all([['cpu', ''], ['gpu', ''], ['cpu', limit], ['gpu', limit]].map(count)).then(
          (counted) => { window.counted = counted; },
          (error) => { window.counted = [error.message]; },
        );",
    );
    page.wait("window.counted");
    let counted = page.get("window.counted");
    assert!(counted[0][0].as_str().is_some_and(|head| head.contains("stats")), "{counted}");
    assert_eq!(counted[0], counted[1]);
    assert_eq!(counted[2], counted[3]);
    assert_ne!(counted[0][1], counted[2][1]);
}

/// A GPU that is lost, or whose kernels compute wrong values, leaves the work to the CPU, and the page says why.
#[test]
fn the_page_says_why_the_cpu_solves() {
    let Some(dir) = dir() else { return };
    let position = "1E5/4c2/7/7/7/7/3d3/1w5/4p2_w";
    let lost = ["device.queue.onSubmittedWorkDone()", "(device.destroy(), device.queue.onSubmittedWorkDone())"];
    let wrong = ["createShaderModule({ code })", "createShaderModule({ code: code.replaceAll(' & NOT_G)', ')') })"];
    for (name, [from, to], reason) in [
        ("lost", lost, "the GPU is lost: "),
        ("wrong", wrong, "the GPU or its driver computes wrong values: the values of "),
    ] {
        let changed = site::copy(&dir, &format!("site-{name}"));
        let worker = changed.join(site::name_of(&dir, "device-worker"));
        let mut text = fs::read_to_string(&worker).unwrap();
        // The GPU in software counts as one of hardware, which is chosen by itself.
        let software = "info.isFallbackAdapter || info.architecture === \"swiftshader\"";
        for (from, to) in [(from, to), (software, "false")] {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        fs::write(&worker, text).unwrap();
        let host = site::Host::start(changed.clone());
        let page = browser(&host, Options { webgpu: true, ..Options::default() });
        page.open(&format!("/?fen={position}"));
        page.click("#solvestart");
        let note = "document.querySelector('#solvestate')?.textContent";
        page.wait(&format!("{note}?.startsWith('The CPU solves it: {reason}')"));
        page.wait("document.querySelector('#resulttext').textContent.startsWith('Black wins in ')");
        page.wait(&format!("{note}?.startsWith('The CPU solves it: {reason}')"));
        page.expect("document.querySelectorAll('#solve :is(button, progress):not([hidden])').length", 0);
        page.screenshot(&format!("site-solve-{name}"));
        page.choose("#language", "zh");
        page.wait(&format!("{note}?.startsWith('改用 CPU 计算：{reason}')"));
        // The note belongs to that position.
        page.open(&format!("/?fen={LION}"));
        page.wait("document.querySelector('#moves .chip')");
        page.stays("document.querySelector('#solve').textContent", "");
        drop(page);
        fs::remove_dir_all(changed).unwrap();
    }
}

/// A link that cannot be read is explained with the sentence of the server.
#[test]
fn a_wrong_link_has_the_error_of_the_server() {
    let Some(dir) = dir() else { return };
    let host = site::Host::start(dir);
    let (page, served) =
        (browser(&host, Options::default()), Browser::start(super::server().address(), "", Options::default()));
    for query in [
        "fen=garbage".to_owned(),
        "fen=7/7/3e3/7/7/7/3EE2/7/7_w".to_owned(),
        format!("fen={TWO}&rules=nobody"),
        "from=7/7/3e3/7/7/7/3Q3/7/7_w&line=d7d6".to_owned(),
    ] {
        let [here, there] = [&page, &served].map(|page| {
            page.open(&format!("/?{query}"));
            page.wait("!document.querySelector('#notice').hidden");
            let shown = ["#notice", "#fenerror", "#resulttext", "#subresult"];
            let texts = shown.map(|part| page.text(&format!("document.querySelector('{part}').textContent")));
            (texts, page.get("document.querySelectorAll('.picture .mover').length"), page.text("location.search"))
        });
        assert_eq!(here, there, "{query}");
        assert!(here.0[0].ends_with(&here.0[1]) && !here.0[1].is_empty(), "{query}: {here:?}");
    }
}

/// A browser that cannot run the module says so, and two players can still play.
#[test]
fn a_module_that_cannot_run_is_reported() {
    let Some(dir) = dir() else { return };
    let damaged = site::copy(&dir, "site");
    fs::write(damaged.join(site::name_of(&dir, "answers")), "no module").unwrap();
    let host = site::Host::start(damaged.clone());
    let page = browser(&host, Options::default());
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

/// A host sends parts of tables. Without parts, or with a damaged table, the page says so and answers all else.
#[test]
fn tables_are_read_in_parts() {
    let Some(dir) = dir() else { return };
    let tables = folder("site-parts");
    let text = tables.to_str().unwrap();
    dsq::stdout(&["generate", "--material", site::FIVE, "--backend", "cpu", "--out", text, "--json"]);
    let fen = "1E5/4c2/7/7/7/7/3d3/1w5/4p2_b";
    let probed = dsq::stdout(&["probe", "--tables", text, "--json", &fen.replace('_', " ")]);
    let value: Value = serde_json::from_str(&probed).unwrap();
    let dir = site::with_tables(&dir, "site-five", &tables);
    let verdict = "document.querySelector('#resulttext')?.textContent";
    let host = site::Host::start(dir.clone());
    let page = browser(&host, Options::default());
    page.open(&format!("/?fen={fen}"));
    page.wait(&format!("{verdict} === 'Black wins in {}'", length(&value)));
    // The values of the position and its moves take a page of the table of blocks and a few blocks.
    assert!((1..200_000).contains(&host.sent()), "{} bytes", host.sent());
    drop(page);

    let without_parts = site::Host::serving(dir.clone(), site::Answers { parts: false, ..site::ANSWERS });
    let page = browser(&without_parts, Options::default());
    page.open(&format!("/?fen={fen}"));
    page.wait("document.querySelector('#notice').textContent.includes('does not send parts of files')");
    three_pieces(&page);
    drop(page);

    let damaged = dir.join("tables").join(format!("{}.dsq", site::FIVE));
    let mut bytes = fs::read(&damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[16..middle].fill(b'x');
    fs::write(&damaged, bytes).unwrap();
    let host = site::Host::start(dir.clone());
    let page = browser(&host, Options::default());
    page.open(&format!("/?fen={fen}"));
    let notice = "document.querySelector('#notice')";
    page.wait(&format!("{notice}.textContent.startsWith('A table that this position needs cannot be used: ')"));
    assert!(page.text(&format!("{notice}.textContent")).contains("damaged"));
    // Another position does not need it.
    page.click("#edit");
    page.type_into("#fen", &LION.replace('_', " "));
    page.keys(&[ENTER]);
    page.wait(&format!("{notice}.hidden"));
    three_pieces(&page);
    drop(page);

    fs::write(dir.join("tables/manifest.json"), "{}").unwrap();
    let host = site::Host::start(dir.clone());
    let page = browser(&host, Options::default());
    three_pieces(&page);
    page.wait("document.querySelector('#notice').textContent.startsWith('The tables of this page cannot be used: ')");
    [dir, tables].iter().for_each(|dir| fs::remove_dir_all(dir).unwrap());
}

/// Writes a new version of the site, whose script has another title and another name; returns the name. The service worker
/// comes last and at once: a tab that has just opened looks for a new one.
fn new_version(dir: &Path) -> String {
    let digest = |name: &str| -> String {
        Sha256::digest(fs::read(dir.join(name)).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let change = |file: &str, from: &str, to: &str| {
        let text = fs::read_to_string(dir.join(file)).unwrap();
        assert!(text.contains(from), "{file}");
        fs::write(dir.join(file), text.replace(from, to)).unwrap();
    };
    let app = site::name_of(dir, "app");
    let new = format!("app.{:016x}.js", 2);
    let before = digest(&app);
    change(&app, "\"Dou Shou Qi\"", "\"Dou Shou Qi 2\"");
    let after = digest(&app);
    fs::rename(dir.join(&app), dir.join(&new)).unwrap();
    change("index.html", &app, &new);
    fs::copy(dir.join("sw.js"), dir.join("next")).unwrap();
    change("next", "const VERSION = \"", "const VERSION = \"2");
    change("next", &before, &after);
    change("next", &app, &new);
    fs::rename(dir.join("next"), dir.join("sw.js")).unwrap();
    new
}

/// Opens the page until its service worker controls it, which it does from the second start on.
fn kept(page: &Browser) {
    page.open("/");
    page.run("return navigator.serviceWorker.ready.then(() => true)");
    page.open("/");
    page.wait("navigator.serviceWorker.controller");
}

/// A script that looks for a new version, and waits until it waits, or has failed.
const LOOK: &str = "return navigator.serviceWorker.ready.then(async (version) => {
    await version.update().catch(() => undefined);
    while (version.installing) await new Promise((resolve) => setTimeout(resolve, 20));
    return Boolean(version.waiting);
});";

/// A new version is offered in every tab, and starts when the user agrees: in one tab, and then in the other one.
#[test]
fn a_new_version_is_offered() {
    let Some(dir) = dir() else { return };
    let dir = site::copy(&dir, "site-versions");
    let host = site::Host::start(dir.clone());
    let page = browser(&host, Options::default());
    kept(&page);
    assert_eq!(page.run(LOOK), json!(false));
    page.stays("document.querySelector('#update').hidden", true);
    let first = page.tab();
    let second = page.open_tab();
    page.open("/");
    // The new version has another file instead of the old one.
    new_version(&dir);
    page.switch(&first);
    page.open("/");
    page.expect("document.title", "Dou Shou Qi");
    page.wait("!document.querySelector('#update').hidden");
    page.switch(&second);
    page.wait("!document.querySelector('#update').hidden");
    page.switch(&first);
    page.click("#updatestart");
    page.wait("document.title === 'Dou Shou Qi 2'");
    page.switch(&second);
    page.stays("document.title", "Dou Shou Qi");
    page.click("#updatestart");
    page.wait("document.title === 'Dou Shou Qi 2'");
    drop(page);
    fs::remove_dir_all(dir).unwrap();
}

/// Half an upload to a host that sends its page for missing files is no new version; the whole one is.
#[test]
fn half_an_upload_is_no_version() {
    let Some(dir) = dir() else { return };
    let dir = site::copy(&dir, "site-upload");
    let host = site::Host::serving(dir.clone(), site::Answers { page_for_all: true, ..site::ANSWERS });
    let page = browser(&host, Options::default());
    kept(&page);
    let app = dir.join(new_version(&dir));
    let later = dir.join("later");
    fs::rename(&app, &later).unwrap();
    assert_eq!(page.run(LOOK), json!(false));
    page.stays("document.querySelector('#update').hidden", true);
    page.open("/");
    page.expect("document.title", "Dou Shou Qi");
    // A file that is cut off is no more than one that is missing.
    fs::write(&app, &fs::read(&later).unwrap()[..5000]).unwrap();
    assert_eq!(page.run(LOOK), json!(false));
    fs::rename(&later, &app).unwrap();
    assert_eq!(page.run(LOOK), json!(true));
    page.wait("!document.querySelector('#update').hidden");
    page.click("#updatestart");
    page.wait("document.title === 'Dou Shou Qi 2'");
    drop(page);
    fs::remove_dir_all(dir).unwrap();
}

/// A server that takes over the address of a site gets its visitors, whose kept files are removed.
#[test]
fn a_site_moves_to_a_server() {
    let Some(dir) = dir() else { return };
    let host = site::Host::serving(dir, site::Answers { folder: "/", ..site::ANSWERS });
    let page = Browser::start(host.address, "", Options::default());
    kept(&page);
    page.expect("document.documentElement.dataset.worker.startsWith('worker.')", true);
    page.relay_to(super::server().address());
    page.open("/");
    page.wait("document.documentElement.dataset.worker === undefined && document.documentElement.dataset.ready");
    // The service worker of the server opens the page anew when it has removed everything.
    page.wait("Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()]).then((all) => { window.left = all.flat().length; }) && window.left === 0");
    page.open("/");
    page.expect("navigator.serviceWorker.controller", Value::Null);
}
