//! Command lines of programs, split into words and joined.

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

/// The command line of these words, as a user types it: in the shell of Windows, else in a POSIX shell.
#[must_use]
pub fn join(words: &[&str]) -> String {
    if cfg!(windows) {
        return join_for_windows(words);
    }
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

/// Joins words as programs on Windows split them: only `"` encloses spaces, and a backslash escapes only before it.
fn join_for_windows(words: &[&str]) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || r"\/:.,=+-_~".contains(letter);
    let quoted = |word: &&str| {
        if !word.is_empty() && word.chars().all(is_plain) {
            return (*word).to_owned();
        }
        let mut parts = word.split('"').map(|part| {
            let backslashes = part.len() - part.trim_end_matches('\\').len();
            format!("{part}{}", &part[part.len() - backslashes..])
        });
        let first = parts.next().unwrap_or_default();
        format!("\"{}\"", parts.fold(first, |text, part| format!("{text}\\\"{part}")))
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_words_are_quoted_as_windows_needs_it() {
        for (words, expected) in [
            (&["dsq", "play", "--game", r"C:\Users\Jörg\games.txt"][..], r"dsq play --game C:\Users\Jörg\games.txt"),
            (&["--game", r"C:\my games\", ""], r#"--game "C:\my games\\" """#),
            (&[r#""C:\a b\x.exe" uci"#], r#""\"C:\a b\x.exe\" uci""#),
            (&[r#"a\"b"#], r#""a\\\"b""#),
        ] {
            assert_eq!(join_for_windows(words), expected);
        }
    }

    #[test]
    fn joined_words_are_split_again() {
        let words = ["dsq", "--game", "my games/1.txt", "builtin:default,hash=1MiB", ""];
        assert!(split(&join(&words)).unwrap().iter().eq(&words));
    }

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
