//! Writes the page without a server for `packaging/site`: `write_site MODULE DIR`.
//!
//! Files of the version before stay, as a page that is open may still need them; older ones are deleted. All names of such
//! files contain a hash, and other files are not touched.

use explorer::site::{SiteFile, files};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let result = match &arguments[..] {
        [module, dir] => write(module, dir),
        _ => Err("usage: write_site MODULE DIR".to_owned()),
    };
    result.map_or_else(
        |message| {
            eprintln!("write_site: {message}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

fn write(module: &Path, dir: &Path) -> Result<(), String> {
    let error = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| format!("{path}: {error}")
    };
    let code = fs::read(module).map_err(error(module))?;
    let files = files(code, dir.join("tables/manifest.json").exists())?;
    let before = fs::read(dir.join("sw.js")).unwrap_or_default();
    // The page and its service worker are the last ones, so that they never name a file that is missing.
    for SiteFile { name, content } in &files {
        let (path, new) = (dir.join(name), dir.join(format!("{name}.new")));
        fs::write(&new, content).and_then(|()| fs::rename(&new, &path)).map_err(error(&path))?;
    }
    let is_same = files.iter().any(|file| file.name == "sw.js" && file.content == before);
    let before = String::from_utf8_lossy(&before);
    let is_named = |name: &str| files.iter().any(|file| file.name == name) || before.contains(&format!("\"{name}\""));
    let is_old = |name: &str| !is_same && has_hash(name) && !is_named(name);
    for entry in fs::read_dir(dir).map_err(error(dir))?.flatten() {
        if entry.file_name().to_str().is_some_and(is_old) {
            fs::remove_file(entry.path()).map_err(error(&entry.path()))?;
        }
    }
    Ok(())
}

/// Whether a name has the form `stem.0123456789abcdef.ending`.
fn has_hash(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    parts.len() == 3 && parts[1].len() == 16 && parts[1].bytes().all(|digit| digit.is_ascii_hexdigit())
}
