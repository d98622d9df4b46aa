//! The page without a server: the same page as static files, whose answers come from a WebAssembly module.
//!
//! Files have the hash of their content in their names, so that browsers and hosts may keep them for good; only the page,
//! its service worker, the manifest with its icons and the style for pages without scripts are asked for again.

use super::assets::{self, Asset, joined};
use super::bundle;
use doushouqi::search::network::Network;
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

/// The page loads its own files only. Its scripts compile the module, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                      img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; \
                      form-action 'self'; base-uri 'none'";
/// The rules of the page.
const RULES: &str = "paper";
const ICONS: [(&str, &[u8]); 2] =
    [("icon-192.png", include_bytes!("site/icon-192.png")), ("icon-512.png", include_bytes!("site/icon-512.png"))];

/// A file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Its name; the site has no folders.
    pub name: String,
    /// Its content.
    pub content: Vec<u8>,
}

/// All files of the site, of which `index.html` and `sw.js` are the last ones.
///
/// `module` is the compiled crate `doushouqi-web`, `with_tables` whether endgame tables are beside the page in the folder
/// `tables`.
///
/// # Errors
/// If a file of the page lacks what the site replaces. A test excludes it.
pub fn files(module: Vec<u8>, with_tables: bool) -> Result<Vec<SiteFile>, String> {
    let mut files: Vec<SiteFile> = ICONS.iter().map(|&(name, content)| file(name, content)).collect();
    let mut hashed = |name: &str, content: Vec<u8>| {
        let name = assets::hashed_name(name, &content);
        files.push(SiteFile { name: name.clone(), content });
        name
    };

    let module = hashed("answers.wasm", module);
    // Hosts compress no files of unknown types.
    let gzip = |content: &[u8]| assets::gzip(content).map_err(|error| error.to_string());
    let puzzles = hashed("puzzles.bin", gzip(text("puzzles.jsonl")?.as_bytes())?);
    let mut networks = String::new();
    // The service worker loads one file after the other: the network of the page's rules before the others.
    let mut presets: Vec<_> = Network::embedded_files().collect();
    presets.sort_by_key(|&(preset, _)| preset != RULES);
    for (preset, network) in presets {
        networks += &format!("{preset}: \"{}\", ", hashed(&format!("{preset}.bin"), gzip(network)?));
    }
    let read = |file: &str| match file {
        "answers.js" => Some(include_str!("site/answers.js")),
        "gpu.js" => Some(include_str!("site/gpu.js")),
        "device-worker.js" => Some(include_str!("site/device-worker.js")),
        "worker.js" => Some(include_str!("site/worker.js")),
        _ => None,
    };
    let quoted = |name: &str| format!("\"{name}\"");
    let names = [
        ("\"answers.wasm\"", quoted(&module)),
        ("\"puzzles.bin\"", quoted(&puzzles)),
        ("const NETWORKS = {};", format!("const NETWORKS = {{{networks}}};")),
    ];
    let worker = hashed("worker.js", replaced(&bundle::join("worker.js", &read)?, &names)?.into());
    let device = replaced(&bundle::join("device-worker.js", &read)?, &names[..1])?;
    let device = hashed("device-worker.js", device.into());

    let (index, joined) = joined()?;
    let mut icon = None;
    for Asset { path, content, .. } in joined {
        let name = path.trim_start_matches('/').to_owned();
        icon = icon.or(name.starts_with("icon.").then(|| name.clone()));
        files.push(SiteFile { name, content: content.into_owned() });
    }
    let icon = icon.ok_or("the page has no icon")?;
    files.push(file("noscript.css", text("noscript.css")?.as_bytes()));
    let manifest = replaced(include_str!("site/site.webmanifest"), &[("icon.svg", icon)])?;
    files.push(file("site.webmanifest", manifest.as_bytes()));

    let worker = if with_tables { worker + "?tables" } else { worker };
    let head = format!(
        "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <link rel=\"manifest\" href=\"site.webmanifest\">\n<link rel=\"apple-touch-icon\" href=\"{}\">",
        ICONS[0].0
    );
    let data = format!(" data-rules=\"{RULES}\" data-worker=\"{worker}\" data-device=\"{device}\" ");
    let index = replaced(
        &index,
        &[
            (" data-rules=\"\" ", data),
            ("<meta charset=\"utf-8\">", head),
            ("href=\"/", "href=\"".to_owned()),
            ("src=\"/", "src=\"".to_owned()),
        ],
    )?;
    let service = service_worker(&files, &index)?;
    files.extend([file("index.html", index.as_bytes()), file("sw.js", service.as_bytes())]);
    Ok(files)
}

/// The service worker, with the files that it keeps in the browser, and a version that changes with any of them.
fn service_worker(files: &[SiteFile], index: &str) -> Result<String, String> {
    let app = files.iter().find(|file| file.name.starts_with("app.")).ok_or("the page has no script")?;
    let digest =
        |content: &[u8]| -> String { Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect() };
    let list = files.iter().fold(format!("\"./\": \"{}\"", app.name), |list, file| {
        format!("{list}, \"{}\": \"{}\"", file.name, digest(&file.content))
    });
    let contents: Vec<&[u8]> = files.iter().map(|file| &file.content[..]).chain([index.as_bytes()]).collect();
    let version = xxh3_64(&contents.concat());
    let lines = [
        ("const VERSION = \"\";", format!("const VERSION = \"{version:016x}\";")),
        ("const FILES = {};", format!("const FILES = {{{list}}};")),
    ];
    replaced(include_str!("site/sw.js"), &lines)
}

fn file(name: &str, content: &[u8]) -> SiteFile {
    SiteFile { name: name.to_owned(), content: content.to_vec() }
}

/// The text of a file of the page.
fn text(name: &str) -> Result<&'static str, String> {
    assets::embedded(&format!("/{name}")).ok_or_else(|| format!("there is no {name}"))
}

/// The text with other words in it, each of which it must contain.
fn replaced(text: &str, words: &[(&str, String)]) -> Result<String, String> {
    words.iter().try_fold(text.to_owned(), |text, (from, to)| {
        if text.contains(from) { Ok(text.replace(from, to)) } else { Err(format!("a file of the page lacks {from}")) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content<'f>(files: &'f [SiteFile], name: &str) -> &'f str {
        let found = files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("{name}"));
        std::str::from_utf8(&found.content).unwrap()
    }

    /// Every file that another one names exists, and the service worker keeps all but itself.
    #[test]
    fn the_files_name_each_other() {
        for with_tables in [false, true] {
            let files = files(b"module".to_vec(), with_tables).unwrap();
            let is_file = |name: &str| files.iter().any(|file| file.name == name);
            let index = content(&files, "index.html");
            let named = |key: &str| -> Vec<&str> {
                let key = format!("{key}=\"");
                let parts = index.split(&key).skip(1);
                parts.filter_map(|rest| rest.split('"').next()).filter(|name| !name.starts_with('#')).collect()
            };
            let [links, sources] = ["href", "src"].map(named);
            assert!(links.len() >= 5 && sources.len() >= 2, "{links:?} {sources:?}");
            for name in links.into_iter().chain(sources) {
                assert!(is_file(name), "{name}");
            }
            let worker = named("data-worker")[0];
            assert_eq!(worker.ends_with("?tables"), with_tables);
            let worker = content(&files, worker.trim_end_matches("?tables"));
            let device = content(&files, named("data-device")[0]);
            let is_hash = |part: &str| part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
            // The module, the puzzles and two networks.
            for (script, called) in [(worker, 4), (device, 1)] {
                let names: Vec<&str> =
                    script.split('"').filter(|text| text.split('.').nth(1).is_some_and(is_hash)).collect();
                assert!(names.len() == called && names.iter().all(|name| is_file(name)), "{names:?}");
            }
            let app = files.iter().find(|file| file.name.starts_with("app.")).unwrap();
            let app = std::str::from_utf8(&app.content).unwrap();
            let chinese = app.split("import(\"./").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            assert!(is_file(chinese), "{chinese}");

            let service = content(&files, "sw.js");
            for SiteFile { name, .. } in &files {
                let is_kept = service.contains(&format!("\"{name}\""));
                assert_eq!(is_kept, !["index.html", "sw.js"].contains(&name.as_str()), "{name}");
            }
        }
    }

    /// Another module has another name and makes another version; the other names stay.
    #[test]
    fn a_version_replaces_what_has_changed() {
        let [one, two] = ["one", "two"].map(|module| files(module.into(), false).unwrap());
        let names = |files: &[SiteFile]| -> Vec<String> { files.iter().map(|file| file.name.clone()).collect() };
        let (old, new) = (names(&one), names(&two));
        let gone: Vec<&str> =
            old.iter().filter(|name| !new.contains(name)).map(|name| name.split('.').next().unwrap()).collect();
        assert_eq!(gone, ["answers", "worker", "device-worker"]);
        let version = |files: &[SiteFile]| {
            content(files, "sw.js").lines().find(|line| line.contains("VERSION =")).unwrap().to_owned()
        };
        assert_ne!(version(&one), version(&two));
    }
}
