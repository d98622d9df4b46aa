//! Endgames that the server counts on demand.

use super::Page;
use crate::serve::client::Server;
use crate::serve::counts::{FIVE, OTHER, block, four};
use crate::serve::folder;
use std::path::Path;
use std::sync::Arc;

fn page_with(cache: &Path, more: &[&str]) -> Option<Page> {
    let cache = cache.to_str().unwrap().to_owned();
    let own = ["--pieces", "3", "--tables", four(), "--on-demand", "--cache", &cache];
    let mut arguments = [&own[..], more].concat();
    let assets = std::env::var("DSQ_ASSETS");
    if let Ok(dir) = &assets {
        arguments.extend(["--assets", dir]);
    }
    Page::of(|| Arc::new(Server::start(&arguments)), Default::default())
}

const TEXT: &str = "document.querySelector('#solve').textContent";

#[test]
fn an_endgame_is_solved_on_demand() {
    let cache = folder("browser-solve");
    let blocked = block(&cache);
    let Some(page) = page_with(&cache, &[]) else { return };
    page.open(&format!("/?fen={FIVE}"));
    page.wait("document.querySelector('#solvestart')");
    let offer = page.text(TEXT);
    assert!(offer.starts_with("Solve this endgame (about ") && offer.ends_with(" MB)"), "{offer}");
    super::checks::axe(&page, &["position"]);
    page.wait("document.querySelector('#solve')?.children.length > 0");
    page.screenshot("solve");
    page.choose("#language", "zh");
    page.wait(&format!("{TEXT}.startsWith('计算此残局（约')"));
    page.screenshot("solve-chinese");
    page.choose("#language", "en");
    page.wait(&format!("{TEXT}.startsWith('Solve')"));

    // Another process counts: the page waits, and shows its wait on other positions, too.
    page.click("#solvestart");
    page.wait("document.querySelector('#solvestate')?.textContent === 'Waiting for another program'");
    super::checks::axe(&page, &["position"]);
    page.wait("document.querySelector('#solve')?.children.length > 0");
    page.screenshot("solve-waiting");
    page.click("#solvecancel");
    page.wait("document.querySelector('#solvestart')");
    page.wait("document.querySelector('#live').textContent === 'Cancelled'");

    page.wait("document.querySelector('#moves').children.length > 0");
    page.click("#solvestart");
    page.wait("document.querySelector('#solvestate')");
    drop(blocked);
    // All moves have values.
    page.wait("document.querySelectorAll('#moves .chip.loss, #moves .chip.draw, #moves .chip.win').length === 7");
    page.expect("document.querySelector('#resulttext').textContent", "White wins in 10 moves");
    page.wait(&format!("{TEXT} === ''"));
    page.screenshot("solve-done");
    // The moves of the line have values, too.
    page.click("#bestline");
    page.wait("document.querySelectorAll('#tree button').length >= 19");
    page.silent();
    std::fs::remove_dir_all(cache).unwrap();
}

/// Two visitors, here in two tabs, share a count: the one who waits sees its state, the one who leaves does not end it, and
/// both get the values. Who wants another endgame is told to wait, also while the last count is being cancelled.
#[test]
fn two_visitors_share_a_count() {
    let cache = folder("browser-solve-two");
    let blocked = block(&cache);
    let Some(page) = page_with(&cache, &[]) else { return };
    let waiting = format!("{TEXT}.startsWith('Waiting for another program')");
    let join = format!("{TEXT} === 'Wait for the solution of this endgame'");
    page.open(&format!("/?fen={FIVE}"));
    page.click("#solvestart");
    page.wait(&waiting);
    let first = page.tab();
    let second = page.open_tab();
    page.open(&format!("/?fen={OTHER}"));
    page.wait(&format!("{TEXT}.startsWith('The server is solving another endgame.')"));
    page.open(&format!("/?fen={FIVE}"));
    page.wait(&join);
    page.click("#solvestart");
    page.wait(&waiting);
    page.switch(&first);
    page.click("#solvecancel");
    page.wait("document.querySelector('#live').textContent === 'Cancelled'");
    page.wait(&join);
    page.switch(&second);
    page.stays(&format!("{TEXT}.startsWith('Waiting for another program')"), true);
    drop(blocked);
    let known = "document.querySelectorAll('#moves .chip.loss, #moves .chip.draw, #moves .chip.win').length === 7";
    page.wait(known);
    page.wait(&format!("{TEXT} === ''"));
    page.switch(&first);
    page.wait(known);
    page.wait(&format!("{TEXT} === ''"));
    // The last visitor leaves: the next one is told that the count is being cancelled, and then offered a new one.
    let _blocked = block(&cache);
    page.open(&format!("/?fen={OTHER}"));
    page.click("#solvestart");
    page.wait(&waiting);
    page.click("#solvecancel");
    page.wait(&format!("{TEXT}.startsWith('Solve this endgame (about ')"));
    page.silent();
}

#[test]
fn a_refusal_is_explained() {
    let cache = folder("browser-solve-refused");
    let Some(page) = page_with(&cache, &["--memory", "2MiB"]) else { return };
    page.open(&format!("/?fen={OTHER}"));
    page.wait(&format!("{TEXT}.startsWith('Solving this endgame takes')"));
    let text = page.text(TEXT);
    assert!(text.ends_with("the server has 3 MB."), "{text}");
    page.choose("#language", "zh");
    page.wait(&format!("{TEXT}.startsWith('计算此残局需要')"));
    page.screenshot("solve-refused");
    // With one piece too many the page names the tables that the server needs.
    page.open("/?fen=7/7/2rel2/7/7/7/2CEP2/7/7_w");
    page.wait(&format!("{TEXT}.includes('计算 6 子残局需要 5 子残局库')"));
    page.choose("#language", "en");
    page.wait(&format!("{TEXT}.includes('Solving 6 pieces needs tables of 5 pieces')"));
    page.open("/?view=position");
    page.wait("document.querySelector('#moves').children.length > 0");
    page.stays(TEXT, "");
    std::fs::remove_dir_all(cache).unwrap();
}
