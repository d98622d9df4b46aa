// The rule options: their values, the presets, and how rules are written as text.

/** Every option with its values, the default first, in the order of the canonical spelling. */
export const OPTIONS = /** @type {Record<string, string[]>} */ ({
  "elephant-takes-rat": ["yes", "no"],
  shore: ["elephant-safe", "none", "no-exit"],
  traps: ["opponent", "any", "none", "sanctuary"],
  "dog-over-wolf": ["yes", "no"],
  "tiger-leap": ["both", "files", "ranks", "none"],
  "own-rat-blocks": ["yes", "no"],
  "no-move": ["draw", "loss"],
  repetition: ["threefold", "twofold", "illegal", "none"],
});

/** @type {Record<string, Record<string, string>>} */
const PRESETS = {
  paper: {},
  cazaux: { shore: "none", repetition: "illegal" },
  bodlaender: { traps: "sanctuary" },
  quadibloc: { shore: "no-exit" },
  bell: { traps: "none" },
  chinese: { "elephant-takes-rat": "no", shore: "none", "dog-over-wolf": "no", "no-move": "loss" },
};

const DEFAULTS = Object.fromEntries(Object.entries(OPTIONS).map(([key, values]) => [key, values[0]]));

/**
 * The value of every option of rules such as `chinese,traps=any`; null if the text is not a rule set.
 * @param {string} text
 * @returns {Record<string, string> | null}
 */
export function readRules(text) {
  let values = { ...DEFAULTS };
  for (const [i, item] of text
    .split(",")
    .map((part) => part.trim())
    .entries()) {
    const [key, value] = item.split("=").map((part) => part.trim());
    if (value === undefined) {
      if (i || !(key in PRESETS)) return null;
      values = { ...DEFAULTS, ...PRESETS[key] };
    } else if (OPTIONS[key]?.includes(value)) values[key] = value;
    else return null;
  }
  return values;
}

/**
 * Every option with its value, in one fixed order.
 * @param {any} values
 */
export const spelledOut = (values) =>
  Object.keys(OPTIONS)
    .map((key) => `${key}=${values[key]}`)
    .join(",");
