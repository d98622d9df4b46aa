// The options of the rules. `DSQ_WRITE_RULES=1 ./test the_page_has_the_rules` writes this file from the library.

/** Every option with its values, the default first, in the order of the canonical spelling. */
export const OPTIONS = /** @type {Record<string, string[]>} */ ({
  "elephant-takes-rat": ["yes", "no"],
  shore: ["elephant-safe", "none", "no-exit"],
  traps: ["opponent", "any", "none", "sanctuary"],
  "dog-over-wolf": ["yes", "no"],
  "tiger-leap": ["both", "files", "ranks", "none"],
  "own-rat-blocks": ["yes", "no"],
  "no-move": ["draw", "loss"],
  "panther-leap": ["none", "ranks"],
  repetition: ["threefold", "twofold", "illegal", "none"],
  loop: ["none", "7-3", "17-5", "servers", "7-3-loses", "5-2", "2-1", "repeat-end"],
  judge: ["none", "number", "weight"],
  "move-limit": ["none", "100", "200", "300", "400"],
});

/** The presets: the options that do not have the default value. */
export const PRESETS = /** @type {Record<string, Record<string, string>>} */ ({
  paper: {},
  cazaux: { shore: "none", repetition: "illegal" },
  bodlaender: { traps: "sanctuary" },
  quadibloc: { shore: "no-exit" },
  bell: { traps: "none" },
  chinese: { "elephant-takes-rat": "no", shore: "none", "dog-over-wolf": "no", "no-move": "loss" },
});

/** The animals that leap along files and ranks, each under a condition: options with values that allow the leap. */
export const LEAPS = /** @type {Record<string, { files?: Page.Condition, ranks?: Page.Condition }>} */ ({
  P: { ranks: { "panther-leap": ["ranks"] } },
  T: { files: { "tiger-leap": ["both", "files"] }, ranks: { "tiger-leap": ["both", "ranks"] } },
  L: { files: {}, ranks: {} },
});

/** The condition under which the leaper's own rat blocks a leap. */
export const OWN_RAT_BLOCKS = { "own-rat-blocks": ["yes"] };

/** The options that the canonical spelling leaves out if they have the default value. */
export const OMITTED = /** @type {string[]} */ (["panther-leap", "loop", "judge", "move-limit"]);
