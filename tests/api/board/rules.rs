//! Rules as text, presets, and the hash of tables.

use super::{combinations, options, position};
use doushouqi::board::{Color, ParseRulesError, Repetition, RuleOptions, Rules};
use std::collections::HashSet;

#[test]
fn values_say_what_they_are() {
    assert_eq!(format!("{} {}", Color::White, Color::Black), "White Black");
    let moves = position("7/7/7/7/7/7/7/7/R6 w").moves(&Rules::default());
    let listed: Vec<String> = moves.iter().map(|mv| format!("{mv:?}")).collect();
    assert_eq!(format!("{moves:?}"), format!("[{}]", listed.join(", ")));
}

#[test]
fn rules_have_one_spelling() {
    assert_eq!(
        RuleOptions::PAPER.to_string(),
        "elephant-takes-rat=yes,shore=elephant-safe,traps=opponent,dog-over-wolf=yes,tiger-leap=both,\
         own-rat-blocks=yes,no-move=draw,repetition=threefold"
    );
    assert_eq!(
        options("chinese,repetition=none,tiger-leap=files").to_string(),
        "elephant-takes-rat=no,shore=none,traps=opponent,dog-over-wolf=no,tiger-leap=files,own-rat-blocks=yes,\
         no-move=loss,repetition=none"
    );
    assert_eq!(RuleOptions::default(), RuleOptions::PAPER);
    assert_eq!(*Rules::default().options(), RuleOptions::PAPER);
    let all = RuleOptions::all();
    let spellings: HashSet<String> = all.iter().map(RuleOptions::to_string).collect();
    assert_eq!(spellings.len(), combinations(|option| option.in_tables));
    for options in &all {
        assert_eq!(options.to_string().parse(), Ok(*options));
        assert_eq!(options.to_string(), format!("{},repetition={}", options.table_spelling(), options.repetition));
        assert_eq!(Rules::new(*options).options(), options);
        assert_eq!(Rules::from(*options).options(), options);
    }
}

#[test]
fn presets() {
    let expected = [
        ("paper", ""),
        ("cazaux", "shore=none,repetition=illegal"),
        ("bodlaender", "traps=sanctuary"),
        ("quadibloc", "shore=no-exit"),
        ("bell", "traps=none"),
        ("chinese", "elephant-takes-rat=no,shore=none,dog-over-wolf=no,no-move=loss"),
    ];
    assert_eq!(RuleOptions::PRESETS.len(), expected.len());
    for ((name, preset), (expected_name, difference)) in RuleOptions::PRESETS.into_iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert_eq!(preset, if difference.is_empty() { RuleOptions::PAPER } else { options(difference) });
        assert_eq!(options(name), preset);
        assert_eq!(RuleOptions::preset(name), Some(preset));
        assert_eq!(preset.preset_name(), Some(name));
    }
    assert_eq!(RuleOptions::preset("Paper"), None);
    assert_eq!(options("tiger-leap=none").preset_name(), None);
    assert_eq!(options(" bell , traps = opponent "), RuleOptions::PAPER);
    assert_eq!(options("shore=none,shore=no-exit"), options("quadibloc"), "the last one counts");
}

#[test]
fn rules_errors() {
    use ParseRulesError::*;
    let unknown = |key: &str, value: &str, allowed: &str| UnknownValue {
        key: key.into(),
        value: value.into(),
        allowed: allowed.into(),
    };
    let cases: [(&str, ParseRulesError, &str); 17] = [
        (
            "",
            UnknownPreset { name: "".into() },
            "no rules preset is called \"\"; the presets are paper, cazaux, bodlaender, quadibloc, bell, chinese",
        ),
        ("papier", UnknownPreset { name: "papier".into() }, "no rules preset is called \"papier\""),
        (
            "dens=none",
            UnknownKey { key: "dens".into() },
            "no rule option is called \"dens\"; the options are elephant-takes-rat, shore, traps, dog-over-wolf, \
             tiger-leap, own-rat-blocks, no-move,",
        ),
        ("=none", UnknownKey { key: "".into() }, "no rule option is called \"\""),
        ("Shore=none", UnknownKey { key: "Shore".into() }, "no rule option is called \"Shore\""),
        ("shore=", unknown("shore", "", "elephant-safe, none, no-exit"), "shore cannot be \"\"; it is one of"),
        ("shore=none=none", unknown("shore", "none=none", "elephant-safe, none, no-exit"), "\"none=none\""),
        ("elephant-takes-rat=1", unknown("elephant-takes-rat", "1", "yes, no"), "it is one of yes, no"),
        (
            "paper,traps=all",
            unknown("traps", "all", "opponent, any, none, sanctuary"),
            "traps cannot be \"all\"; it is one of opponent, any, none, sanctuary",
        ),
        ("dog-over-wolf=x", unknown("dog-over-wolf", "x", "yes, no"), "dog-over-wolf cannot be \"x\""),
        ("tiger-leap=x", unknown("tiger-leap", "x", "both, files, ranks, none"), "both, files, ranks, none"),
        ("own-rat-blocks=x", unknown("own-rat-blocks", "x", "yes, no"), "own-rat-blocks cannot be \"x\""),
        ("no-move=win", unknown("no-move", "win", "draw, loss"), "no-move cannot be \"win\"; it is one of draw, loss"),
        (
            "repetition=twice",
            unknown("repetition", "twice", "threefold, twofold, illegal, none"),
            "threefold, twofold, illegal, none",
        ),
        ("paper,bell", Malformed { text: "bell".into() }, "\"bell\" is neither a preset nor key=value"),
        ("shore=none,paper", Malformed { text: "paper".into() }, "\"paper\" is neither a preset nor key=value"),
        ("paper,", Malformed { text: "".into() }, "\"\" is neither a preset nor key=value"),
    ];
    for (text, error, message) in cases {
        assert_eq!(text.parse::<RuleOptions>(), Err(error.clone()), "{text:?}");
        assert!(error.to_string().contains(message), "{text:?}: {error} lacks {message:?}");
    }
}

/// FNV-1a, as its authors describe it.
fn fnv1a(text: &str) -> u64 {
    let mut hash: u64 = 14_695_981_039_346_656_037;
    for byte in text.bytes() {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(1_099_511_628_211);
    }
    hash
}

/// Tables on disk have these hashes and spellings.
#[test]
fn rules_of_existing_tables_keep_their_spelling_and_hash() {
    let paper = "elephant-takes-rat=yes,shore=elephant-safe,traps=opponent,dog-over-wolf=yes,tiger-leap=both,\
                 own-rat-blocks=yes,no-move=draw";
    assert_eq!(RuleOptions::PAPER.table_spelling(), paper);
    assert_eq!(RuleOptions::PAPER.table_hash(), 0x58c2_abbd_ead7_6a49);
    assert_eq!(options("chinese").table_hash(), 0xcda1_38ec_b642_a7c7);
    for option in RuleOptions::OPTIONS.iter().filter(|option| !option.always_spelled) {
        let changed = RuleOptions::PAPER.with(option.key, option.values[1]).unwrap();
        let item = format!("{}={}", option.key, option.values[1]);
        assert_eq!(changed.to_string().split(',').filter(|text| *text == item).count(), 1, "{changed}");
        assert!(!RuleOptions::PAPER.to_string().contains(option.key));
    }
}

#[test]
fn the_hash_of_tables_leaves_out_repetition_only() {
    let mut hashes = HashSet::new();
    for options in RuleOptions::all() {
        hashes.insert(options.table_hash());
        for &repetition in Repetition::ALL {
            let mut other = options;
            other.repetition = repetition;
            assert_eq!(other.table_hash(), options.table_hash());
            assert_eq!(other.table_spelling(), options.table_spelling());
        }
        assert_eq!(options.table_hash(), fnv1a(&options.table_spelling()));
    }
    assert_eq!(hashes.len(), combinations(|option| option.in_tables));
}
