//! The module `src/assets/rule-options.js`: what the page knows about rules, written from the library.

use doushouqi::board::{Animal, Color, Direction, Piece, RuleOptions};
use std::fmt::Write;

/// For each option of a condition, the values with which it can hold.
type Condition = Vec<(&'static str, Vec<&'static str>)>;

/// The condition on the rules that `holds` tests; `None` if it holds under no rules.
fn condition(all: &[RuleOptions], holds: impl Fn(&RuleOptions) -> bool) -> Option<Condition> {
    let some = all.iter().find(|rules| holds(rules))?;
    let allowed = RuleOptions::OPTIONS.iter().map(|option| {
        let allows = |value: &&'static str| holds(&some.with(option.key, value).unwrap());
        (option, option.values.iter().copied().filter(allows).collect::<Vec<_>>())
    });
    let condition = allowed.filter(|(option, allowed)| allowed.len() < option.values.len());
    let condition: Condition = condition.map(|(option, allowed)| (option.key, allowed)).collect();
    for rules in all {
        let meets = rules.values().all(|(option, value)| {
            condition.iter().all(|(key, allowed)| *key != option.key || allowed.contains(&value))
        });
        assert_eq!(meets, holds(rules), "not a condition on single options: {rules}");
    }
    Some(condition)
}

/// A key of an object, quoted if necessary.
fn key(text: &str) -> String {
    if text.contains('-') { format!("{text:?}") } else { text.to_owned() }
}

/// An object on one line.
fn object(items: impl Iterator<Item = (&'static str, String)>) -> String {
    let items: Vec<String> = items.map(|(name, value)| format!("{}: {value}", key(name))).collect();
    if items.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", items.join(", ")) }
}

fn condition_text(condition: Condition) -> String {
    object(condition.into_iter().map(|(option, values)| (option, format!("{values:?}"))))
}

/// The text of the module.
fn module() -> String {
    let all = RuleOptions::all();
    let mut text = String::from(
        "// The options of the rules. `DSQ_WRITE_RULES=1 ./test the_page_has_the_rules` writes this file from the library.\n",
    );
    let mut export = |doc: &str, name: &str, kind: &str, lines: Vec<String>| {
        let lines: String = lines.iter().map(|line| format!("  {line},\n")).collect();
        write!(text, "\n/** {doc} */\nexport const {name} = /** @type {{{kind}}} */ ({{\n{lines}}});\n").unwrap();
    };
    let options = RuleOptions::OPTIONS;
    export(
        "Every option with its values, the default first, in the order of the canonical spelling.",
        "OPTIONS",
        "Record<string, string[]>",
        options.iter().map(|option| format!("{}: {:?}", key(option.key), option.values)).collect(),
    );
    let changes = |rules: RuleOptions| {
        let changed = rules.values().filter(|(option, value)| *value != option.values[0]);
        object(changed.map(|(option, value)| (option.key, format!("{value:?}"))))
    };
    export(
        "The presets: the options that do not have the default value.",
        "PRESETS",
        "Record<string, Record<string, string>>",
        RuleOptions::PRESETS.iter().map(|(name, rules)| format!("{}: {}", key(name), changes(*rules))).collect(),
    );
    let leaps = |animal: Animal| {
        let along = |name, direction| {
            let leaps = condition(&all, |rules| rules.leaps(animal, direction));
            leaps.map(|condition| (name, condition_text(condition)))
        };
        let leaps: Vec<_> =
            [along("files", Direction::Up), along("ranks", Direction::Right)].into_iter().flatten().collect();
        (!leaps.is_empty()).then(|| format!("{}: {}", animal.letter(), object(leaps.into_iter())))
    };
    export(
        "The animals that leap along files and ranks, each under a condition: options with values that allow the leap.",
        "LEAPS",
        "Record<string, { files?: Page.Condition, ranks?: Page.Condition }>",
        Animal::ALL.into_iter().filter_map(leaps).collect(),
    );
    let own_rat = Piece { color: Color::White, animal: Animal::Rat };
    let blocks = condition(&all, |rules| rules.blocks_leap(own_rat, Color::White)).unwrap();
    let omitted: Vec<&str> = options.iter().filter(|option| !option.always_spelled).map(|option| option.key).collect();
    write!(
        text,
        "\n/** The condition under which the leaper's own rat blocks a leap. */\n\
         export const OWN_RAT_BLOCKS = {};\n\
         \n/** The options that the canonical spelling leaves out if they have the default value. */\n\
         export const OMITTED = /** @type {{string[]}} */ ({omitted:?});\n",
        condition_text(blocks)
    )
    .unwrap();
    text
}

/// `DSQ_WRITE_RULES=1 ./test the_page_has_the_rules` writes the module after a change of the rules.
#[test]
fn the_page_has_the_rules_of_the_library() {
    let text = module();
    if std::env::var_os("DSQ_WRITE_RULES").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/assets/rule-options.js"), &text).unwrap();
    }
    assert!(
        text == include_str!("../src/assets/rule-options.js"),
        "the rules have changed: DSQ_WRITE_RULES=1 ./test the_page_has_the_rules"
    );
}
