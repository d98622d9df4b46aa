//! Lists the files of the page, which `assets.rs` embeds.

use std::env;
use std::fs;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let dir = env::current_dir()?.join("src/assets");
    println!("cargo::rerun-if-changed={}", dir.display());
    let names = fs::read_dir(&dir)?.map(|file| Ok(file?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<io::Result<Vec<String>>>()?;
    names.sort();
    let file = |name: &String| format!("({:?}, include_bytes!({:?})),\n", format!("/{name}"), dir.join(name));
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("files.rs"), format!("&[\n{}]", names.iter().map(file).collect::<String>()))
}
