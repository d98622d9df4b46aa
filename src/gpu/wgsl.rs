//! The text of kernels. The files in `shaders/` are WGSL but for lines that start with `//@`: `//@include FILE` puts in
//! another file; the lines from `//@for X` to `//@end` are repeated, with a number in place of `$X` and the same number
//! counted from the other end in place of `$m`; and what else a line asks for is written by the program.

/// What the words of one kernel's directives mean.
pub(crate) trait Directives {
    /// The text of another file.
    fn file(&self, name: &str) -> &'static str;

    /// The numbers of a `for`, by what stands behind it.
    fn numbers(&self, words: &str) -> Vec<usize>;

    /// What the program writes in place of a line.
    fn written(&self, words: &str) -> String {
        unreachable!("no such directive: {words}")
    }
}

/// The whole text of some files one after the other.
pub(crate) fn text(files: &[&str], directives: &dyn Directives) -> String {
    let mut lines = Vec::new();
    for line in files.iter().flat_map(|file| directives.file(file).lines()) {
        match line.strip_prefix("//@include ") {
            Some(part) => lines.extend(directives.file(part).lines()),
            None => lines.push(line),
        }
    }
    let mut text = String::new();
    let mut lines = lines.into_iter();
    while let Some(line) = lines.next() {
        let Some(words) = line.strip_prefix("//@") else {
            text += line;
            text.push('\n');
            continue;
        };
        let Some(repeated) = words.strip_prefix("for ") else {
            text += &directives.written(words);
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "//@end").collect();
        let name = format!("${}", repeated.split(' ').next().unwrap_or_default());
        let numbers = directives.numbers(repeated);
        let last = numbers.iter().max().copied().unwrap_or(0);
        for i in numbers {
            for line in &body {
                let line = line.replace(&name, &i.to_string()).replace("$m", &(last - i).to_string());
                match line.strip_prefix("//@") {
                    Some(words) => text += &directives.written(words),
                    None => text = text + &line + "\n",
                }
            }
        }
    }
    text
}

/// A word of 64 bits as a constant, of a `Word` that is one integer or two.
pub(crate) fn word(int64: bool, bits: u64) -> String {
    if int64 { format!("{bits}lu") } else { format!("vec2<u32>({}u, {}u)", bits as u32, bits >> 32) }
}
