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

/// Path and content of every file of `src/assets`.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
/// The service worker that removes that of a page without a server.
const LEAVE: (&str, &[u8]) = ("/sw.js", include_bytes!("site/leave.js"));

/// The path of the template of the page, which is not served as it is.
const INDEX: &str = "/index.html";
/// The path of the puzzles.
const PUZZLES: &str = "/puzzles.jsonl";
/// The style sheets, the module that starts the page, and the picture, as the template names them.
const SHEETS: [&str; 3] = ["/page.css", "/board.css", "/play.css"];
const ENTRY: &str = "main.js";
const PICTURE: &str = "/icon.svg";
/// The modules that are loaded on demand: on a Chinese page, and in the opening.
const ON_DEMAND: [&str; 2] = ["zh.js", "opening.js"];

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
    fn new(path: impl Into<Cow<'static, str>>, content: impl Into<Cow<'static, [u8]>>) -> Asset {
        let (path, content) = (path.into(), content.into());
        let gzip = gzip(&content).ok().filter(|gzip| gzip.len() < content.len());
        Asset { kind: kind_of(&path), path, etag: etag(&content), content, gzip, is_immutable: false }
    }

    /// A file that has the hash of its content in its path: `/app.0123456789abcdef.js`.
    fn hashed(name: &str, content: Vec<u8>) -> Asset {
        Asset { is_immutable: true, ..Asset::new(format!("/{}", hashed_name(name, &content)), content) }
    }
}

/// A file name with the hash of the content: `app.0123456789abcdef.js`.
pub fn hashed_name(name: &str, content: &[u8]) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    format!("{stem}.{:016x}.{extension}", xxh3_64(content))
}

/// The text of an embedded file.
pub fn embedded(path: &str) -> Option<&'static str> {
    let (_, content) = FILES.iter().find(|(other, _)| *other == path)?;
    std::str::from_utf8(content).ok()
}

/// The joined modules and style sheets, and the template that names them instead of their parts.
pub fn joined() -> Result<(String, Vec<Asset>), String> {
    let read = |file: &str| embedded(&format!("/{file}"));
    let missing = || "a file of the page is missing".to_owned();
    let mut app = bundle::join(ENTRY, &read)?;
    let mut on_demand = Vec::new();
    for module in ON_DEMAND {
        let asset = Asset::hashed(module, bundle::join(module, &read)?.into_bytes());
        app = app.replace(&format!("import(\"./{module}\")"), &format!("import(\".{}\")", asset.path));
        on_demand.push(asset);
    }
    let app = Asset::hashed("app.js", app.into_bytes());
    let sheets = SHEETS.iter().map(|path| embedded(path)).collect::<Option<String>>().ok_or_else(missing)?;
    let style = Asset::hashed("style.css", sheets.into_bytes());
    let picture = Asset::hashed("icon.svg", embedded(PICTURE).ok_or_else(missing)?.into());
    let link = |path: &str| format!("<link rel=\"stylesheet\" href=\"{path}\">\n");
    let index = embedded(INDEX).ok_or_else(missing)?;
    let index = index
        .replace(&SHEETS.map(link).concat(), &link(&style.path))
        .replace(&format!("/{ENTRY}"), &app.path)
        .replace(PICTURE, &picture.path);
    Ok((index, [vec![app], on_demand, vec![style, picture]].into_iter().flatten().collect()))
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

pub(super) fn gzip(content: &[u8]) -> io::Result<Vec<u8>> {
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
        let (index, joined) = joined().unwrap_or_else(|_| (embedded(INDEX).unwrap_or("").to_owned(), Vec::new()));
        let files = FILES.iter().chain([&LEAVE]).filter(|(path, _)| *path != INDEX);
        let files = files.map(|&(path, embedded)| Asset::new(path, content(path, embedded)));
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
        let (modules, _) = files.split_at(1 + ON_DEMAND.len());
        for asset in &modules[1..] {
            assert!(app.contains(&format!("import(\".{}\")", asset.path)), "{} is loaded on demand", asset.path);
        }
        for asset in modules {
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
