// Rules as text.

import { OMITTED, OPTIONS, PRESETS } from "./rule-options.js";

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
      if (i || !Object.hasOwn(PRESETS, key)) return null;
      values = { ...DEFAULTS, ...PRESETS[key] };
    } else if (Object.hasOwn(OPTIONS, key) && OPTIONS[key].includes(value)) values[key] = value;
    else return null;
  }
  return contradict(values) ? null : values;
}

/**
 * Whether two options contradict each other: both decide what a repeated position means.
 * @param {Record<string, string>} values
 */
export const contradict = ({ loop, repetition }) =>
  loop === "repeat-end" && ["twofold", "illegal"].includes(repetition);

/**
 * The canonical spelling: the options with their values in one fixed order.
 * @param {Record<string, string> | null} values
 */
export const spelledOut = (values) =>
  Object.keys(OPTIONS)
    .filter((key) => !OMITTED.includes(key) || values?.[key] !== DEFAULTS[key])
    .map((key) => `${key}=${values?.[key]}`)
    .join(",");

/**
 * The shortest spelling: the closest preset and the options that differ from it.
 * @param {Record<string, string>} values
 */
export function shortest(values) {
  const spellings = Object.entries(PRESETS).map(([name, changes]) => {
    const preset = /** @type {Record<string, string>} */ ({ ...DEFAULTS, ...changes });
    const others = Object.keys(OPTIONS).filter((key) => values[key] !== preset[key]);
    return [name, ...others.map((key) => `${key}=${values[key]}`)];
  });
  return spellings.reduce((a, b) => (b.length < a.length ? b : a)).join(",");
}
