//! The page's files: embedded in the program, or read from a directory while developing.
//!
//! The embedded modules are joined into one file, and so are the style sheets. Such a file has the hash of its content in
//! its name, so a browser keeps it for good; only the page itself is requested again.

use super::bundle;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::{Compression, write::GzEncoder};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

const JS: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JSONL: &str = "application/jsonl";

/// Path, media type and content of every file.
#[rustfmt::skip]
const FILES: &[(&str, &str, &[u8])] = &[
    ("/", "text/html; charset=utf-8", include_bytes!("assets/index.html")),
    ("/analysis.js", JS, include_bytes!("assets/analysis.js")),
    ("/api.js", JS, include_bytes!("assets/api.js")),
    ("/app.js", JS, include_bytes!("assets/app.js")),
    ("/board.css", CSS, include_bytes!("assets/board.css")),
    ("/board-export.js", JS, include_bytes!("assets/board-export.js")),
    ("/board-input.js", JS, include_bytes!("assets/board-input.js")),
    ("/board.js", JS, include_bytes!("assets/board.js")),
    ("/characters.js", JS, include_bytes!("assets/characters.js")),
    ("/clauses.js", JS, include_bytes!("assets/clauses.js")),
    ("/clauses.zh.js", JS, include_bytes!("assets/clauses.zh.js")),
    ("/clock.js", JS, include_bytes!("assets/clock.js")),
    ("/connection.js", JS, include_bytes!("assets/connection.js")),
    ("/editor.js", JS, include_bytes!("assets/editor.js")),
    ("/exercise.js", JS, include_bytes!("assets/exercise.js")),
    ("/famous-endgames.js", JS, include_bytes!("assets/famous-endgames.js")),
    ("/game.js", JS, include_bytes!("assets/game.js")),
    ("/game-text.js", JS, include_bytes!("assets/game-text.js")),
    ("/gauge.js", JS, include_bytes!("assets/gauge.js")),
    ("/icon.svg", SVG, include_bytes!("assets/icon.svg")),
    ("/icons.js", JS, include_bytes!("assets/icons.js")),
    ("/keys.js", JS, include_bytes!("assets/keys.js")),
    ("/lessons.js", JS, include_bytes!("assets/lessons.js")),
    ("/levels.js", JS, include_bytes!("assets/levels.js")),
    ("/link.js", JS, include_bytes!("assets/link.js")),
    ("/main.js", JS, include_bytes!("assets/main.js")),
    ("/match.js", JS, include_bytes!("assets/match.js")),
    ("/matchbar.js", JS, include_bytes!("assets/matchbar.js")),
    ("/measure.js", JS, include_bytes!("assets/measure.js")),
    ("/movegen.js", JS, include_bytes!("assets/movegen.js")),
    ("/motion.js", JS, include_bytes!("assets/motion.js")),
    ("/messages.zh.js", JS, include_bytes!("assets/messages.zh.js")),
    ("/owner.js", JS, include_bytes!("assets/owner.js")),
    ("/moves-tree.js", JS, include_bytes!("assets/moves-tree.js")),
    ("/panel-endgames.js", JS, include_bytes!("assets/panel-endgames.js")),
    ("/noscript.css", CSS, include_bytes!("assets/noscript.css")),
    ("/page.css", CSS, include_bytes!("assets/page.css")),
    ("/panel-engine.js", JS, include_bytes!("assets/panel-engine.js")),
    ("/panel-explore.js", JS, include_bytes!("assets/panel-explore.js")),
    ("/panel-game.js", JS, include_bytes!("assets/panel-game.js")),
    ("/panel-home.js", JS, include_bytes!("assets/panel-home.js")),
    ("/panel-learn.js", JS, include_bytes!("assets/panel-learn.js")),
    ("/panel-material.js", JS, include_bytes!("assets/panel-material.js")),
    ("/panel-play.js", JS, include_bytes!("assets/panel-play.js")),
    ("/panel-position.js", JS, include_bytes!("assets/panel-position.js")),
    ("/panel-review.js", JS, include_bytes!("assets/panel-review.js")),
    ("/pending.js", JS, include_bytes!("assets/pending.js")),
    ("/pieces.js", JS, include_bytes!("assets/pieces.js")),
    ("/play.css", CSS, include_bytes!("assets/play.css")),
    ("/player.js", JS, include_bytes!("assets/player.js")),
    ("/position.js", JS, include_bytes!("assets/position.js")),
    ("/puzzles.js", JS, include_bytes!("assets/puzzles.js")),
    ("/puzzles.jsonl", JSONL, include_bytes!("assets/puzzles.jsonl")),
    ("/retry.js", JS, include_bytes!("assets/retry.js")),
    ("/review.js", JS, include_bytes!("assets/review.js")),
    ("/rule-options.js", JS, include_bytes!("assets/rule-options.js")),
    ("/rules.js", JS, include_bytes!("assets/rules.js")),
    ("/settings.js", JS, include_bytes!("assets/settings.js")),
    ("/storage.js", JS, include_bytes!("assets/storage.js")),
    ("/zh.js", JS, include_bytes!("assets/zh.js")),
    ("/ruleset.js", JS, include_bytes!("assets/ruleset.js")),
    ("/scenery.js", JS, include_bytes!("assets/scenery.js")),
    ("/score.js", JS, include_bytes!("assets/score.js")),
    ("/status.js", JS, include_bytes!("assets/status.js")),
    ("/store.js", JS, include_bytes!("assets/store.js")),
    ("/strings-explain.en.js", JS, include_bytes!("assets/strings-explain.en.js")),
    ("/strings-explain.zh.js", JS, include_bytes!("assets/strings-explain.zh.js")),
    ("/strings-learn.en.js", JS, include_bytes!("assets/strings-learn.en.js")),
    ("/strings-learn.zh.js", JS, include_bytes!("assets/strings-learn.zh.js")),
    ("/strings-play.en.js", JS, include_bytes!("assets/strings-play.en.js")),
    ("/strings-play.zh.js", JS, include_bytes!("assets/strings-play.zh.js")),
    ("/sw.js", JS, include_bytes!("site/leave.js")),
    ("/solve.js", JS, include_bytes!("assets/solve.js")),
    ("/sounds.js", JS, include_bytes!("assets/sounds.js")),
    ("/strings.en.js", JS, include_bytes!("assets/strings.en.js")),
    ("/strings.zh.js", JS, include_bytes!("assets/strings.zh.js")),
    ("/tabs.js", JS, include_bytes!("assets/tabs.js")),
    ("/trainer.js", JS, include_bytes!("assets/trainer.js")),
    ("/transport.js", JS, include_bytes!("assets/transport.js")),
    ("/tutorial.js", JS, include_bytes!("assets/tutorial.js")),
    ("/ui.js", JS, include_bytes!("assets/ui.js")),
    ("/update.js", JS, include_bytes!("assets/update.js")),
    ("/variations.js", JS, include_bytes!("assets/variations.js")),
    ("/views.js", JS, include_bytes!("assets/views.js")),
];

/// The path of the puzzles.
const PUZZLES: &str = "/puzzles.jsonl";
/// The style sheets, the module that starts the page, and the picture, as the template names them.
const SHEETS: [&str; 3] = ["/page.css", "/board.css", "/play.css"];
const ENTRY: &str = "main.js";
const PICTURE: &str = "/icon.svg";
/// The module that is loaded on a Chinese page only.
const CHINESE: &str = "zh.js";

/// An embedded file.
pub struct Asset {
    pub path: Cow<'static, str>,
    kind: &'static str,
    pub content: Cow<'static, [u8]>,
    /// The compressed content, if smaller.
    gzip: Option<Vec<u8>>,
    etag: HeaderValue,
    /// Whether the path never stands for another content.
    is_immutable: bool,
}

impl Asset {
    fn new(path: impl Into<Cow<'static, str>>, kind: &'static str, content: impl Into<Cow<'static, [u8]>>) -> Asset {
        let content = content.into();
        let gzip = gzip(&content).ok().filter(|gzip| gzip.len() < content.len());
        Asset { path: path.into(), kind, etag: etag(&content), content, gzip, is_immutable: false }
    }

    /// A file that has the hash of its content in its path: `/app.0123456789abcdef.js`.
    fn hashed(name: &str, kind: &'static str, content: Vec<u8>) -> Asset {
        Asset { is_immutable: true, ..Asset::new(format!("/{}", hashed_name(name, &content)), kind, content) }
    }
}

/// A file name with the hash of the content: `app.0123456789abcdef.js`.
pub fn hashed_name(name: &str, content: &[u8]) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    format!("{stem}.{:016x}.{extension}", xxh3_64(content))
}

/// The text of an embedded file.
pub fn embedded(path: &str) -> Option<&'static str> {
    let (_, _, content) = FILES.iter().find(|(other, ..)| *other == path)?;
    std::str::from_utf8(content).ok()
}

/// The joined modules and style sheets, and the template that names them instead of their parts.
pub fn joined() -> Result<(String, Vec<Asset>), String> {
    let read = |file: &str| embedded(&format!("/{file}"));
    let missing = || "a file of the page is missing".to_owned();
    let chinese = Asset::hashed(CHINESE, JS, bundle::join(CHINESE, &read)?.into_bytes());
    let (import, hashed) = (format!("import(\"./{CHINESE}\")"), format!("import(\".{}\")", chinese.path));
    let app = bundle::join(ENTRY, &read)?.replace(&import, &hashed);
    let app = Asset::hashed("app.js", JS, app.into_bytes());
    let sheets = SHEETS.iter().map(|path| embedded(path)).collect::<Option<String>>().ok_or_else(missing)?;
    let style = Asset::hashed("style.css", CSS, sheets.into_bytes());
    let picture = Asset::hashed("icon.svg", SVG, embedded(PICTURE).ok_or_else(missing)?.into());
    let link = |path: &str| format!("<link rel=\"stylesheet\" href=\"{path}\">\n");
    let index = embedded("/").ok_or_else(missing)?;
    let index = index
        .replace(&SHEETS.map(link).concat(), &link(&style.path))
        .replace(&format!("/{ENTRY}"), &app.path)
        .replace(PICTURE, &picture.path);
    Ok((index, vec![app, chinese, style, picture]))
}

/// The page's files.
pub struct Assets {
    /// The template of the page.
    index: String,
    embedded: Vec<Asset>,
    /// A directory to read instead of the embedded files.
    dir: Option<PathBuf>,
}

/// The entity tag of a content: its hash. It is weak, as the content may be sent compressed and plain.
#[must_use]
#[expect(clippy::expect_used, reason = "quotes and digits are a header value")]
pub fn etag(content: &[u8]) -> HeaderValue {
    HeaderValue::from_str(&format!("W/\"{:016x}\"", xxh3_64(content))).expect("digits are a header value")
}

fn gzip(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

/// The media type of a file name.
fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("jsonl") => "application/jsonl",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

impl Assets {
    /// The embedded files. `dir` replaces them by the files of a directory, `puzzles` replaces the puzzles.
    #[must_use]
    pub fn new(dir: Option<PathBuf>, puzzles: Option<String>) -> Assets {
        let content = |path: &str, embedded: &'static [u8]| match &puzzles {
            Some(text) if path == PUZZLES => Cow::Owned(text.clone().into_bytes()),
            _ => Cow::Borrowed(embedded),
        };
        // Modules that cannot be joined, which a test excludes, are served one by one.
        let (index, joined) = joined().unwrap_or_else(|_| (embedded("/").unwrap_or("").to_owned(), Vec::new()));
        let files = FILES.iter().map(|&(path, kind, embedded)| Asset::new(path, kind, content(path, embedded)));
        Assets { index, embedded: files.chain(joined).collect(), dir }
    }

    /// The puzzles as text, one a line.
    #[must_use]
    pub fn puzzles(&self) -> Cow<'_, str> {
        let found = self.embedded.iter().find(|asset| asset.path == PUZZLES);
        String::from_utf8_lossy(found.map_or(&[][..], |asset| &asset.content))
    }

    /// The page's template.
    pub fn index(&self) -> String {
        match &self.dir {
            Some(dir) => {
                String::from_utf8_lossy(&std::fs::read(dir.join("index.html")).unwrap_or_default()).into_owned()
            }
            None => self.index.clone(),
        }
    }

    /// The response to a request for a file; `None` if it does not exist.
    #[must_use]
    pub fn get(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        // Files that the directory lacks, such as the puzzles, are embedded.
        if let Some((kind, content)) = self.dir.as_ref().and_then(|dir| read(dir, path)) {
            return Some(
                ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], content).into_response(),
            );
        }
        let asset = self.embedded.iter().find(|asset| asset.path == path)?;
        let mut response = if matches(headers, &asset.etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            match asset.gzip.as_ref().filter(|_| accepts_gzip(headers)) {
                Some(gzip) => ([(header::CONTENT_ENCODING, "gzip")], gzip.clone()).into_response(),
                None => asset.content.clone().into_response(),
            }
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
        let caching = if asset.is_immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(header::ETAG, asset.etag.clone());
        Some(response)
    }
}

/// The entity tags in `If-None-Match`, without their weakness.
fn given_tags(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let given = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or("");
    given.split(',').map(bare)
}

fn bare(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/")
}

/// Whether `If-None-Match` names the entity tag.
#[must_use]
pub fn names(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    etag.to_str().is_ok_and(|etag| given_tags(headers).any(|tag| tag == bare(etag)))
}

/// Whether `If-None-Match` is `*`, which matches whatever exists.
#[must_use]
pub fn names_any(headers: &HeaderMap) -> bool {
    given_tags(headers).any(|tag| tag == "*")
}

/// Whether an existing response with this entity tag matches `If-None-Match`.
#[must_use]
pub fn matches(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    names_any(headers) || names(headers, etag)
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
    accepted.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        parts.next() == Some("gzip") && parts.next() != Some("q=0")
    })
}

/// A file of a directory. The path is compared with the names of existing files and never opened, so it cannot leave
/// the directory.
fn read(dir: &Path, wanted: &str) -> Option<(&'static str, Vec<u8>)> {
    let wanted = if wanted == "/" { "/index.html" } else { wanted };
    let mut dirs = vec![(dir.to_owned(), String::new())];
    while let Some((dir, prefix)) = dirs.pop() {
        for entry in std::fs::read_dir(dir).ok()?.flatten() {
            let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                dirs.push((entry.path(), name));
            } else if name == wanted {
                return Some((kind_of(&name), std::fs::read(entry.path()).ok()?));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The template names the joined files, which exist under these names, and none of their parts.
    #[test]
    fn the_page_needs_few_files() {
        let (index, files) = joined().unwrap();
        let assets = Assets::new(None, None);
        let named: Vec<&str> = index.split('"').filter(|text| text.starts_with('/')).collect();
        assert_eq!(named.len(), 5, "{named:?}");
        for path in named {
            assert!(assets.get(path, &HeaderMap::new()).is_some(), "{path}");
            assert!(path == "/noscript.css" || files.iter().any(|asset| asset.path == path), "{path}");
        }
        let app = std::str::from_utf8(&files[0].content).unwrap();
        assert!(app.contains(&format!("import(\".{}\")", files[1].path)), "the strings that are loaded on demand");
        for asset in &files[..2] {
            let text = std::str::from_utf8(&asset.content).unwrap();
            let left = text.lines().filter(|line| line.starts_with("import ") || line.starts_with("export "));
            assert_eq!(left.count(), 1, "{}", asset.path);
        }
    }

    #[test]
    fn names_with_a_hash_are_kept_for_good() {
        let assets = Assets::new(None, None);
        let caching = |path: &str| {
            let response = assets.get(path, &HeaderMap::new()).unwrap();
            response.headers()[header::CACHE_CONTROL].to_str().unwrap().to_owned()
        };
        for asset in joined().unwrap().1 {
            assert!(caching(&asset.path).contains("immutable"), "{}", asset.path);
        }
        assert_eq!(caching("/main.js"), "no-cache");
    }
}
