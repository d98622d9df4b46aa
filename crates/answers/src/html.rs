//! The page for browsers without JavaScript: the board as a table, the result, and the moves as links.

use super::api::{MoveEntry, ProbeAnswer, ValueReport, in_plies};
use super::rule_tables::RequestTables;
use doushouqi::board::geometry::{DEN, TRAPS, WATER};
use doushouqi::board::{Color, File, Move, Position, Rank, RuleOptions, Square};
use doushouqi::tablebase::{Probe as _, Wdl};
use std::fmt::Write;

/// The page: `text` for browsers without JavaScript; for scripts, the server's rules and the error of the address, if
/// any, as JSON.
#[must_use]
pub fn page(index: &str, text: &str, rules: &RuleOptions, problem: &str) -> String {
    let data = format!("data-rules=\"{}\" data-problem=\"{}\"", name(rules), escape(problem));
    index.replacen("data-rules=\"\" data-problem=\"\"", &data, 1).replacen("<!--noscript-->", text, 1)
}

/// The preset's name, or every option.
fn name(rules: &RuleOptions) -> String {
    rules.preset_name().map_or_else(|| rules.to_string(), str::to_owned)
}

/// The text with HTML's special characters escaped.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// The address of a position. It names the rules, because servers have different defaults.
#[must_use]
pub fn link(fen: &str, rules: &RuleOptions) -> String {
    // A FEN and rules contain no other character that needs encoding.
    format!("/?fen={}&rules={}", fen.replace(' ', "_"), name(rules))
}

/// A position for browsers without JavaScript.
#[must_use]
pub fn position(tables: &RequestTables<'_>, position: &Position, probe: &ProbeAnswer) -> String {
    let rules = &tables.requested_rules;
    let mut html = String::from("<section id=\"static\">");
    let _ = write!(html, "<p class=\"result\">{}</p>", escape(&probe.sentence));
    board(&mut html, position);
    let _ = write!(html, "<p>{} to move.</p>", position.turn());
    if let Some(moves) = probe.moves.as_ref().filter(|moves| !moves.is_empty()) {
        html.push_str(
            "<table class=\"moves\"><caption>Moves, best first</caption><thead><tr><th scope=\"col\">Move</th>",
        );
        html.push_str("<th scope=\"col\">Value</th></tr></thead><tbody>");
        for entry in moves {
            move_row(&mut html, tables, position, entry);
        }
        html.push_str("</tbody></table>");
    }
    let _ = write!(
        html,
        "<p><a href=\"{}\">The other side to move</a> · <a href=\"{}\">Mirrored</a> · <a href=\"{}\">Colours exchanged</a></p>",
        escape(&link(&position.pass().to_fen(), rules)),
        escape(&link(&position.mirror().to_fen(), rules)),
        escape(&link(&position.swap_colors().to_fen(), rules)),
    );
    form(&mut html, &probe.fen, rules);
    html.push_str("</section>");
    html
}

/// An error for browsers without JavaScript.
#[must_use]
pub fn error(message: &str, fen: &str, rules: &RuleOptions) -> String {
    let mut html = format!("<section id=\"static\"><p class=\"error\" role=\"alert\">{}</p>", escape(message));
    form(&mut html, fen, rules);
    html.push_str("</section>");
    html
}

fn board(html: &mut String, position: &Position) {
    html.push_str("<table class=\"board\"><caption>The board</caption><tbody>");
    for rank in Rank::ALL.into_iter().rev() {
        let _ = write!(html, "<tr><th scope=\"row\">{rank}</th>");
        for square in File::ALL.map(|file| Square::from_coords(file, rank)) {
            let (class, name) = ground(square);
            match position.piece_at(square) {
                Some(piece) => {
                    let side = piece.color.name();
                    let letter = piece.letter();
                    let _ = write!(
                        html,
                        "<td class=\"{class} {side}\"><abbr title=\"{square}, {piece}\">{letter}</abbr></td>"
                    );
                }
                None => {
                    let _ = write!(html, "<td class=\"{class}\" title=\"{square}, {name}\">{}</td>", symbol(class));
                }
            }
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody><tfoot><tr><td></td>");
    for file in File::ALL {
        let _ = write!(html, "<th scope=\"col\">{file}</th>");
    }
    html.push_str("</tr></tfoot></table>");
}

fn ground(square: Square) -> (&'static str, &'static str) {
    if Color::ALL.iter().any(|&color| DEN[color] == square) {
        ("den", "den")
    } else if Color::ALL.iter().any(|&color| TRAPS[color].contains(square)) {
        ("trap", "trap")
    } else if WATER.contains(square) {
        ("water", "water")
    } else {
        ("land", "empty")
    }
}

fn symbol(class: &str) -> &'static str {
    match class {
        "den" => "#",
        "trap" => "^",
        "water" => "~",
        _ => "·",
    }
}

fn move_row(html: &mut String, tables: &RequestTables<'_>, position: &Position, entry: &MoveEntry) {
    let after = Move::parse(&entry.facts.uci, position, tables.rules()).map(|mv| position.make(mv).to_fen());
    let link = after.map_or_else(|_| "/".to_owned(), |fen| link(&fen, &tables.requested_rules));
    let words = entry.value.map_or_else(|| "unknown".to_owned(), words);
    let _ = write!(
        html,
        "<tr><td><a href=\"{}\">{}</a></td><td>{words}</td></tr>",
        escape(&link),
        escape(&entry.facts.san)
    );
}

/// The value of a move in words, for the side that makes it.
fn words(value: ValueReport) -> String {
    match value.wdl {
        Wdl::Win => format!("wins{}", in_plies(value.dtw)),
        Wdl::Loss => format!("loses{}", in_plies(value.dtw)),
        Wdl::Draw => "draws".to_owned(),
    }
}

fn form(html: &mut String, fen: &str, rules: &RuleOptions) {
    let _ = write!(
        html,
        "<form action=\"/\" method=\"get\"><p><label>Position (FEN) <input name=\"fen\" size=\"50\" maxlength=\"200\" \
         value=\"{}\"></label> <label>Rules <select name=\"rules\">",
        escape(fen)
    );
    let own = rules.preset_name().is_none().then(|| rules.to_string());
    let presets = RuleOptions::PRESETS.iter().map(|(name, _)| (*name).to_owned());
    for name in own.into_iter().chain(presets) {
        let selected = if rules.preset_name().is_none_or(|preset| preset == name) { " selected" } else { "" };
        let selected = if rules.preset_name().is_none() && name != rules.to_string() { "" } else { selected };
        let _ = write!(html, "<option{selected}>{}</option>", escape(&name));
    }
    html.push_str("</select></label> <button>Show</button></p></form>");
}
