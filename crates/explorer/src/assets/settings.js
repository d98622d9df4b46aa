// The settings: kept in this browser; an address may name others for one visit.

import { app } from "./app.js";
import { keep, recall } from "./storage.js";

const STORE = "doushouqi";

/** @type {Record<string, string[]>} */
const CHOICES = {
  pieces: ["animals", "letters", "characters"],
  theme: ["auto", "light", "dark"],
  language: ["en", "zh", "zh-Hant"],
  unit: ["moves", "plies"],
};

/** The settings as they were read or kept last. */
let known = { ...app.settings };

/**
 * Sets a setting, unless the value is none of its values.
 * @param {string} key
 * @param {unknown} value
 */
function set(key, value) {
  if (!Object.hasOwn(app.settings, key)) return;
  if (CHOICES[key] ? CHOICES[key].includes(String(value)) : typeof value === typeof app.settings[key])
    app.settings[key] = /** @type {string | boolean} */ (value);
}

export function readSettings() {
  const { language } = navigator;
  if (language.startsWith("zh")) set("language", /TW|HK|MO|Hant/i.test(language) ? "zh-Hant" : "zh");
  for (const [key, value] of Object.entries(recall(STORE, {}))) set(key, value);
  const query = new URLSearchParams(location.search);
  for (const key of ["pieces", "theme", "unit"]) set(key, query.get(key));
  set("language", query.get("lang"));
  known = { ...app.settings };
}

/** Keeps the settings that the user has changed, among those that other tabs have kept. */
export function keepSettings() {
  const changed = Object.entries(app.settings).filter(([key, value]) => known[key] !== value);
  keep(STORE, { ...recall(STORE, {}), ...Object.fromEntries(changed) });
  known = { ...app.settings };
}
