//! Checks of every page: sufficient contrast, names for all roles, and axe-core's rules if it is installed.

use super::opening;
use super::webdriver::Browser;
use crate::skip::skip;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The minimum contrast of text (WCAG 2, level AA, for text of any size).
const LEAST: f64 = 4.5;

/// A script that returns all visible text with its contrast to the background: for HTML the backgrounds of all
/// ancestors, for SVG the shape drawn right before it in its group. A canvas converts every notation of a colour into
/// numbers.
const COLOURS: &str = r"
const context = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
const read = (text) => { context.clearRect(0, 0, 1, 1); context.fillStyle = text; context.fillRect(0, 0, 1, 1); const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
const known = new Map();
const rgba = (text) => known.get(text) ?? known.set(text, read(text)).get(text);
const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
const behind = (element) => {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((below, top) => over(top, below), rgba(getComputedStyle(document.body).backgroundColor));
};
const luminance = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const found = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent.trim()).join('');
  if (!own || element.closest('script, noscript, title, defs, dialog:not([open]), [hidden], option') || element.closest(':disabled')) continue;
  if (!element.checkVisibility({opacityProperty: false, visibilityProperty: true})) continue;
  const style = getComputedStyle(element);
  const svg = element instanceof SVGElement;
  let ground;
  if (svg) {
    let shape = element.previousElementSibling;
    while (shape && (!/^(rect|circle|path)$/.test(shape.tagName) || getComputedStyle(shape).fill === 'none')) shape = shape.previousElementSibling;
    const frame = element.closest('.coordinates') && document.querySelector('.picture .edge');
    ground = frame ? rgba(getComputedStyle(frame).fill) : shape && !element.closest('.chart') ? rgba(getComputedStyle(shape).fill) : behind(element.closest('svg').parentElement);
  } else ground = behind(element);
  const text = over(rgba(svg ? style.fill : style.color), ground);
  found.push([ratio(text, ground), own.slice(0, 40), element.tagName + '.' + (element.getAttribute('class') ?? '')]);
}
return found;
";

/// Fails if any text on the page has too little contrast.
pub fn contrast(browser: &Browser, what: &str) {
    browser.quiet();
    let found = browser.run(COLOURS);
    let found = found.as_array().unwrap();
    assert!(found.len() > 30, "{what}: only {} texts", found.len());
    let poor: Vec<&Value> = found.iter().filter(|entry| entry[0].as_f64().unwrap() < LEAST).collect();
    assert!(poor.is_empty(), "{what}: {poor:?}");
}

/// The roles and the names of all elements, as assistive technology gets them.
pub fn tree(browser: &Browser) -> Vec<(String, String)> {
    browser.quiet();
    let tree = browser.chromium("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree").iter().filter(|node| node["ignored"] == false);
    let text = |node: &Value, key: &str| node[key]["value"].as_str().unwrap_or("").to_owned();
    nodes.map(|node| (text(node, "role"), text(node, "name"))).collect()
}

/// Checks views with axe-core, if `./test` has fetched it or `DSQ_AXE` names it; it is not part of the project. The last
/// view stays open. [`contrast`] checks the contrast.
pub fn axe(browser: &Browser, views: &[&str]) {
    let default = || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("axe.min.js");
    let path = std::env::var_os("DSQ_AXE").map_or_else(default, PathBuf::from);
    let Ok(source) = std::fs::read_to_string(&path) else {
        return skip(&format!("axe-core is not at {} (npm pack axe-core)", path.display()));
    };
    browser.run(&source);
    for view in views {
        browser.run(&opening(view));
        browser.wait("document.querySelector('#panel').textContent.length > 20");
        browser.quiet();
        let found = browser.run(
            "const options = {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'], \
             rules: {'color-contrast': {enabled: false}}, resultTypes: ['violations']}; \
             return axe.run(document, options).then(({violations}) => violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 160))]))",
        );
        assert_eq!(found, json!([]), "{view}");
    }
}
