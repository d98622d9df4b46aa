//! Command lines of programs, split into words.

/// The words of a command line, in which quotes enclose spaces; `None` if a quote is not closed. A backslash is an
/// escape as in a POSIX shell, but part of a path on Windows and after a drive (`C:\engines\a.exe`).
pub(super) fn split(text: &str) -> Option<Vec<String>> {
    if cfg!(windows) || begins_with_drive(text) { split_paths(text) } else { shlex::split(text) }
}

fn begins_with_drive(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches(['\'', '"']);
    matches!(text.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic())
}

/// Splits a command line in which only quotes have a meaning.
fn split_paths(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in text.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if letter == '\'' || letter == '"' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_paths_keep_their_backslashes() {
        for (text, expected) in [
            (r"C:\e\x.exe", &[r"C:\e\x.exe"][..]),
            (r#" "D:\my e\x.exe" --net 'a b.nnue' C:\e"#, &[r"D:\my e\x.exe", "--net", "a b.nnue", r"C:\e"]),
            (r#"c:\x.exe """#, &[r"c:\x.exe", ""]),
        ] {
            let words = split(text).unwrap();
            assert!(words.iter().eq(expected), "{text}: {words:?}");
        }
        assert_eq!(split(r#""C:\x"#), None);
    }

    #[cfg(not(windows))]
    #[test]
    fn other_command_lines_are_those_of_a_shell() {
        assert!(split(r"./my\ engine 'a \b'").unwrap().iter().eq(["./my engine", r"a \b"]));
    }
}
