//! Writes the page without a server for `packaging/site`: `write_site MODULE DIR`.
//!
//! Files of the version before stay, as a page that is open may still need them; older ones are deleted. All names of such
//! files contain a hash, and other files are not touched.

use explorer::site::{SiteFile, files};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), String> {
    let [module, dir] = <[PathBuf; 2]>::try_from(env::args_os().skip(1).map(PathBuf::from).collect::<Vec<_>>())
        .map_err(|_| "usage: write_site MODULE DIR")?;
    let error = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let code = fs::read(&module).map_err(|reason| error(&module, reason))?;
    let files = files(code, dir.join("tables/manifest.json").exists())?;
    let service = dir.join("sw.js");
    let before = fs::read_to_string(&service).unwrap_or_default();
    // The page and its service worker are the last ones, so that they never name a file that is missing.
    for SiteFile { name, content } in &files {
        let (path, new) = (dir.join(name), dir.join(format!("{name}.new")));
        fs::write(&new, content).and_then(|()| fs::rename(&new, &path)).map_err(|reason| error(&path, reason))?;
    }
    let is_named = |name: &str| files.iter().any(|file| file.name == name) || before.contains(&format!("\"{name}\""));
    for entry in fs::read_dir(&dir).map_err(|reason| error(&dir, reason))?.flatten() {
        if entry.file_name().to_str().is_some_and(|name| has_hash(name) && !is_named(name)) {
            fs::remove_file(entry.path()).map_err(|reason| error(&entry.path(), reason))?;
        }
    }
    Ok(())
}

/// Whether a name has the form `stem.0123456789abcdef.ending`.
fn has_hash(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    parts.len() == 3 && parts[1].len() == 16 && parts[1].bytes().all(|digit| digit.is_ascii_hexdigit())
}
