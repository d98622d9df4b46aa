//! Joins the page's ES modules into one file, so that a browser needs few requests.
//!
//! Each module becomes a function that is called once and returns its exports. The modules keep to a few forms of
//! imports and exports, which start a line; any other form is an error, and so is a circle.

use std::borrow::Cow;
use std::fmt::Write;

/// The parts of a module.
#[derive(Default)]
struct Module {
    /// Each import as a declaration, and the file that it names.
    imports: Vec<(String, String)>,
    /// The lines without indentation, imports, the word `export`, types and lines of comments.
    body: String,
    /// The exported names, as the properties of an object.
    exports: Vec<String>,
}

/// The module `entry` and all modules that it needs as one module, which exports the default export of `entry`. `read`
/// returns the text of a file.
///
/// # Errors
/// Why the modules cannot be joined.
pub fn join<'a>(entry: &str, read: &impl Fn(&str) -> Option<&'a str>) -> Result<String, String> {
    let mut joined = Joined { read, text: String::new(), done: Vec::new(), path: Vec::new() };
    joined.add(entry)?;
    let _ = writeln!(joined.text, "export default {}.default;", variable(entry));
    Ok(joined.text)
}

struct Joined<'r, R> {
    read: &'r R,
    text: String,
    done: Vec<String>,
    /// The files from the entry to the one that is being added.
    path: Vec<String>,
}

impl<'a, R: Fn(&str) -> Option<&'a str>> Joined<'_, R> {
    /// Adds a file after the files that it imports, unless it is there already.
    fn add(&mut self, file: &str) -> Result<(), String> {
        if self.done.iter().any(|done| done == file) {
            return Ok(());
        }
        if self.path.iter().any(|open| open == file) {
            return Err(format!("{file} imports itself: {}", self.path.join(", ")));
        }
        let text = (self.read)(file).ok_or_else(|| format!("there is no {file}"))?;
        let module = parse(text).map_err(|line| format!("{file} has a line of an unknown form: {line}"))?;
        self.path.push(file.to_owned());
        for (_, imported) in &module.imports {
            self.add(imported)?;
        }
        self.path.pop();
        let declarations: String = module.imports.iter().map(|(declaration, _)| declaration.as_str()).collect();
        let (body, exports) = (module.body, module.exports.join(", "));
        let _ = write!(
            self.text,
            "const {} = (() => {{\n{declarations}{body}return {{ {exports} }};\n}})();\n",
            variable(file)
        );
        self.done.push(file.to_owned());
        Ok(())
    }
}

/// The variable that holds the exports of a file.
fn variable(file: &str) -> String {
    let stem = file.strip_suffix(".js").unwrap_or(file);
    format!("${}", stem.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_"))
}

/// Takes a module apart; an error is the first line of an unknown form.
fn parse(text: &str) -> Result<Module, String> {
    let mut module = Module::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("//") || trimmed.is_empty() {
            continue;
        }
        if trimmed.starts_with("/*") && (!trimmed.contains("*/") || trimmed.ends_with("*/")) {
            if !trimmed.ends_with("*/") {
                lines.by_ref().find(|line| line.ends_with("*/"));
            }
            continue;
        }
        if line.starts_with("import ") {
            let mut statement = line.to_owned();
            while !statement.ends_with(';') {
                statement.push_str(lines.next().ok_or(line)?);
            }
            module.imports.push(import(&statement).ok_or(line)?);
        } else if let Some(exported) = line.strip_prefix("export ") {
            let exported = export(exported, &mut module.exports).ok_or(line)?;
            module.body.push_str(&code(&exported));
            module.body.push('\n');
        } else {
            module.body.push_str(&code(trimmed));
            module.body.push('\n');
        }
    }
    Ok(module)
}

/// A line without the types in it. No string of the page contains such a comment, and no text has several lines.
fn code(line: &str) -> Cow<'_, str> {
    match line.split_once("/** @").and_then(|(before, rest)| Some((before, rest.split_once("*/")?.1))) {
        Some((before, after)) => Cow::Owned(format!("{before}{}", code(after.trim_start()))),
        None => Cow::Borrowed(line),
    }
}

/// An import as a declaration, and the file that it names.
fn import(statement: &str) -> Option<(String, String)> {
    let (what, file) = statement.strip_prefix("import ")?.split_once(" from \"./")?;
    let file = file.strip_suffix("\";")?.to_owned();
    let from = variable(&file);
    let is_name = |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric());
    let declaration = if let Some(names) = what.strip_prefix('{') {
        let names = names.strip_suffix('}')?.replace(" as ", ": ");
        format!("const {{{names}}} = {from};\n")
    } else if let Some(name) = what.strip_prefix("* as ").filter(|name| is_name(name)) {
        format!("const {name} = {from};\n")
    } else if is_name(what) {
        format!("const {what} = {from}.default;\n")
    } else {
        return None;
    };
    Some((declaration, file))
}

/// The code of an export, without the word; adds the exported name to `exports`. A variable that changes is not among
/// the known forms, because an importer would not see its new value.
fn export(exported: &str, exports: &mut Vec<String>) -> Option<String> {
    if let Some(value) = exported.strip_prefix("default ") {
        exports.push("default: $default".to_owned());
        return Some(format!("const $default = {value}"));
    }
    let kinds = ["const ", "class ", "function ", "async function "];
    let rest = kinds.iter().find_map(|kind| exported.strip_prefix(kind))?;
    let name: String =
        rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "$_".contains(*letter)).collect();
    exports.push(Some(name).filter(|name| !name.is_empty())?);
    Some(exported.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(entry: &str, files: &[(&str, &'static str)]) -> Result<String, String> {
        join(entry, &|file| files.iter().find(|(name, _)| *name == file).map(|(_, text)| *text))
    }

    #[test]
    fn modules_are_joined_in_the_order_of_their_imports() {
        let files = [
            (
                "a.js",
                "// A.\n\nimport { one, two as other } from \"./b-c.js\";\nimport * as all from \"./b-c.js\";\nimport texts from \"./d.js\";\nexport default one + other + all.one + texts.x;\n",
            ),
            (
                "b-c.js",
                "/**\n * One.\n */\nexport const one = 1;\nexport async function two() {\n  // Two.\n  return 2;\n}\nconst cast = /** @type {any} */ (3);\n",
            ),
            ("d.js", "import {\n  one,\n} from \"./b-c.js\";\nexport default {\n  x: one,\n};\n"),
        ];
        let wanted = "const $b_c = (() => {\nconst one = 1;\nasync function two() {\nreturn 2;\n}\nconst cast = (3);\nreturn { one, two };\n})();\n\
                      const $d = (() => {\nconst {  one,} = $b_c;\nconst $default = {\nx: one,\n};\nreturn { default: $default };\n})();\n\
                      const $a = (() => {\nconst { one, two: other } = $b_c;\nconst all = $b_c;\nconst texts = $d.default;\nconst $default = one + other + all.one + texts.x;\nreturn { default: $default };\n})();\n\
                      export default $a.default;\n";
        assert_eq!(joined("a.js", &files).as_deref(), Ok(wanted));
    }

    #[test]
    fn other_forms_are_errors() {
        for text in [
            "export let changing = 1;\n",
            "export { a };\n",
            "export * from \"./b.js\";\n",
            "import \"./b.js\";\n",
            "import a, { b } from \"./b.js\";\n",
            "import { a } from \"/b.js\";\n",
            "import {\n  a,\n",
        ] {
            assert!(joined("a.js", &[("a.js", text), ("b.js", "")]).is_err(), "{text}");
        }
        let circle = [("a.js", "import { b } from \"./b.js\";\n"), ("b.js", "import { a } from \"./a.js\";\n")];
        assert!(joined("a.js", &circle).is_err());
        assert!(joined("a.js", &[("a.js", "import { b } from \"./b.js\";\n")]).is_err(), "a missing file");
    }
}
