// Elements, strings, and how values are shown.

import { cancel, during, later } from "./pending.js";
import { ANIMALS } from "./position.js";
import english from "./strings.en.js";
import learning from "./strings-learn.en.js";
import playing from "./strings-play.en.js";

/** @typedef {Record<string, string>} Strings */

/** @type {Strings} */
const en = { ...english, ...playing, ...learning };
/** @type {Record<string, Strings | null>} */
const languages = { en, zh: null, "zh-Hant": null };
let strings = en;
let language = "en";

/** What lengths of games are counted in: "moves" of the player who makes most of them, or "plies". */
let unit = "moves";

export const isChinese = () => language.startsWith("zh");
export const currentLanguage = () => language;
export const setUnit = (/** @type {string} */ chosen) => (unit = chosen);

/**
 * A number of plies in the unit of the page. A win takes an odd number of them, a loss an even one.
 * @param {number | null | undefined} plies
 */
const inUnit = (plies) => (unit === "moves" ? Math.ceil(Number(plies) / 2) : Number(plies));

/** @param {string} code */
export async function setLanguage(code) {
  if (!Object.hasOwn(languages, code)) code = "en";
  if (!languages[code]) {
    const { strings: zh, traditional } = (await during("a language", import("./zh.js"))).default;
    const hant = Object.fromEntries(Object.entries(zh).map(([key, text]) => [key, traditional(text)]));
    Object.assign(languages, { zh, "zh-Hant": hant });
  }
  strings = languages[code] ?? en;
  language = code;
  document.documentElement.lang = code === "zh" ? "zh-Hans" : code;
}

/** The places of strings that are filled with moves. */
const MOVES = ["line", "move", "moves", "reply"];

/**
 * The string of a key; English if the language lacks it. `{name}` is replaced by the value of that name, and
 * `{name:move|moves}` by the singular or the plural for it. `{name#}` is a number of plies as a length: "4 moves"; and
 * `{name~}` its number alone. A name may be the number itself.
 * @param {string} key
 * @param {Record<string, unknown>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = strings[key] ?? en[key] ?? key;
  return text.replace(/\{(\w+)([#~])?(?::(.*?)\|(.*?))?\}/g, (whole, /** @type {string} */ name, form, one, many) => {
    const value = String(values[name] ?? (form ? name : whole));
    if (form) return form === "#" ? t(`length.${unit}`, { n: inUnit(Number(value)) }) : String(inUnit(Number(value)));
    if (one === undefined) return MOVES.includes(name) ? moveText(value) : value;
    return String(values[name]) === "1" ? one : many;
  });
}

const NS = "http://www.w3.org/2000/svg";

/**
 * @template {Element} E
 * @param {E} element
 * @param {Page.Attributes} attributes
 * @param {Page.Child[]} children
 */
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else if (value === true) element.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, String(value));
  }
  element.append(...flat(children));
  return element;
}

/**
 * The children without those that are left out.
 * @param {Page.Child[]} children
 * @returns {(Node | string)[]}
 */
const flat = (children) =>
  children.flatMap((child) => {
    if (Array.isArray(child)) return flat(child);
    if (child === null || child === undefined || child === false) return [];
    return [typeof child === "number" ? String(child) : child];
  });

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Page.Attributes} [attributes]
 * @param {...Page.Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Page.Attributes} [attributes]
 * @param {...Page.Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(NS, tag), attributes, children);

/**
 * The first element of a selector. The type checker knows neither its tag nor whether the markup contains it.
 * @type {(selector: string, within?: ParentNode) => Page.Found}
 */
export const $ = (selector, within = document) => /** @type {Page.Found} */ (within.querySelector(selector));

/** @type {(label: Page.Child, onclick: Page.Attributes["onclick"], more?: Page.Attributes) => HTMLButtonElement} */
export const button = (label, onclick, attributes = {}) =>
  h("button", { type: "button", onclick, ...attributes }, label);

/**
 * A list to choose from.
 * @template {string | number} V
 * @param {V[]} values
 * @param {V | null} chosen
 * @param {(value: string) => unknown} act
 * @param {Page.Attributes} [attributes]
 * @param {(value: V) => string} [text] of a value
 */
export const select = (values, chosen, act, attributes = {}, text = String) =>
  h(
    "select",
    { onchange: ({ target }) => act(target.value), ...attributes },
    values.map((value) => h("option", { value, selected: value === chosen }, text(value))),
  );

/**
 * A box to tick, with its text.
 * @param {string} text
 * @param {boolean} checked
 * @param {(checked: boolean) => unknown} act
 * @param {Page.Attributes} [attributes]
 */
export const checkbox = (text, checked, act, attributes = {}) => {
  /** @type {Page.Attributes["onchange"]} */
  const onchange = ({ target }) => act(target.checked);
  return h("label", {}, h("input", { type: "checkbox", checked, onchange, ...attributes }), text);
};

/**
 * A control with its text before it.
 * @param {string} text
 * @param {HTMLElement} control
 */
export const field = (text, control) => h("label", {}, text, " ", control);

/** Controls beside each other. @param {...Page.Child} controls */
export const bar = (...controls) => h("div", { class: "bar" }, controls);

/**
 * A part of a panel with its title.
 * @param {string} id of the title
 * @param {string} title
 * @param {...Page.Child} children
 */
export const section = (id, title, ...children) =>
  h("section", { "aria-labelledby": id }, h("h3", { id }, title), children);

/**
 * A part of the page that scrolls by itself, with keys too.
 * @param {string | Page.Attributes} title the identifier of its title, or attributes with a label
 * @param {...Page.Child} children
 */
export const scrolled = (title, ...children) => {
  const label = typeof title === "string" ? { "aria-labelledby": title } : title;
  return h("div", { class: "scroll", tabindex: "0", role: "group", ...label }, children);
};

/**
 * A row of a table: the head and the other cells, or their contents.
 * @param {Page.Child[]} cells
 * @param {Page.Attributes} [attributes]
 */
export const row = ([head, ...cells], attributes = {}) =>
  h(
    "tr",
    attributes,
    h("th", { scope: "row" }, head),
    cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : h("td", {}, cell))),
  );

/**
 * A table with a caption for screen readers.
 * @param {string} caption
 * @param {(string | null)[]} heads the titles of the columns; a column without one has none
 * @param {Page.Child[]} rows
 * @param {Page.Attributes} [attributes]
 */
export const table = (caption, heads, rows, attributes = {}) =>
  h(
    "table",
    { class: "list", ...attributes },
    h("caption", { class: "sr" }, caption),
    h("thead", {}, h("tr", {}, ...heads.map((head) => (head ? h("th", { scope: "col" }, head) : h("td"))))),
    h("tbody", {}, rows),
  );

/**
 * Fills an element with the answer to a question, or with the error. The next question of the owner replaces this one.
 * @param {HTMLElement} host
 * @param {import("./owner.js").Owner} owner
 * @param {(signal: AbortSignal) => Promise<Page.Child>} make
 */
export async function fillWith(host, owner, make) {
  const wait = () => refill(host, [h("p", { class: "soft working" }, t("working"))]);
  if (!host.firstChild) wait();
  const content = await owner.ask(make, wait).catch((error) => h("p", { class: "soft" }, errorText(error)));
  refill(host, [content]);
}

/** The controls that had the focus in elements whose content, for the time being, lacks them. */
const missed = /** @type {WeakMap<HTMLElement, HTMLElement>} */ (new WeakMap());

/**
 * Replaces the content of an element. The focus stays on the control with the same `id` or `data-key`, or else in the
 * element, until a content has that control.
 * @param {HTMLElement} host
 * @param {Page.Child[]} content
 */
export function refill(host, content) {
  const focused = /** @type {HTMLElement | null} */ (host.contains(document.activeElement) && document.activeElement);
  host.replaceChildren(...flat(content));
  if (!focused) return;
  const control = focused === host ? (missed.get(host) ?? host) : focused;
  const { id, dataset } = control;
  ($(id ? `#${id}` : `[data-key="${dataset.key}"]`, host) ?? host).focus({ preventScroll: true });
  missed.set(host, control);
  if (host.contains(document.activeElement)) return;
  host.tabIndex = -1;
  host.focus({ preventScroll: true });
}

/**
 * Replaces the content of an element, if the page shows it.
 * @param {string} selector
 * @param {() => Page.Child[]} make
 */
export function renew(selector, make) {
  const host = $(selector);
  if (host) refill(host, make());
}

/** Writes every string of the markup in the language of the page. */
export function translate(root = document) {
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-t], [data-t-label]"))) {
    const { t: text, tLabel: label } = element.dataset;
    if (text) element.textContent = t(text);
    if (label) element.setAttribute("aria-label", t(label));
    if (label && element.matches("button")) element.title = t(label);
  }
}

/** @param {number} value */
export const number = (value) => new Intl.NumberFormat(language).format(value);
/** @type {Intl.NumberFormatOptions} */
const ROUNDED = { notation: "compact", compactDisplay: "long", maximumSignificantDigits: 3 };
/** Three digits of a number, in words: "53 billion". @param {number} value */
export const rounded = (value) => new Intl.NumberFormat(language, ROUNDED).format(value);
/** A share in percent: 100 % is all, and 0 % is none. @param {number} value */
export function percent(value) {
  const shown = value > 0 && value < 1 ? Math.min(Math.max(value, 0.001), 0.999) : value;
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(shown);
}

/** @type {(value: number, unit: string, digits?: number) => string} */
const withUnit = (value, unit, digits = 0) =>
  new Intl.NumberFormat(language, { style: "unit", unit, maximumFractionDigits: digits }).format(value);

/** A duration in words: seconds, or minutes if there are many; at least one. @param {number} seconds */
export const duration = (seconds) =>
  seconds < 90 ? withUnit(Math.max(1, Math.ceil(seconds)), "second") : withUnit(Math.ceil(seconds / 60), "minute");

/** Bytes in megabytes or gigabytes. @param {number} count */
export const bytes = (count) =>
  count < 1e9 ? withUnit(Math.ceil(count / 1e6), "megabyte") : withUnit(count / 1e9, "gigabyte", 1);

/**
 * "+17", "−16", "=": the sign repeats what the colour shows. A finished position has a mark.
 * @param {Api.Value | null | undefined} value
 */
export function valueSymbol(value) {
  if (!value) return "?";
  if (value.wdl === "draw") return "=";
  if (value.dtw === 0) return value.wdl === "win" ? "✓" : "✗";
  return (value.wdl === "win" ? "+" : "−") + (value.dtw === null ? "" : inUnit(value.dtw));
}

/** Whether only the no-capture limit draws. @param {Page.Value} value */
const isDrawnByLimit = ({ category }) => category === "cursed-win" || category === "blessed-loss";

/** "wins in 9 moves". @param {Page.Value | null | undefined} value */
export function inWords(value) {
  if (!value) return t("value.unknown");
  if (value.no_move) return t(value.wdl === "draw" ? "value.nomove.draw" : "value.nomove.loss");
  if (isDrawnByLimit(value)) return t(`value.${value.category}`);
  if (value.dtw === null && value.wdl !== "draw") return t(`value.result.${value.wdl}`);
  return t(value.dtw === 0 ? `value.over.${value.wdl}` : `value.${value.wdl}`, { n: value.dtw });
}

/** @param {Api.Value | null | undefined} value */
export const chip = (value) =>
  h("span", { class: `chip ${value ? value.wdl : "unknown"}`, title: inWords(value) }, valueSymbol(value));

/** @param {string} turn */
export const side = (turn) => t(turn === "w" || turn === "white" ? "white" : "black");
/** @param {string} piece */
export const animal = (piece) => t(`animal.${piece.toUpperCase()}`);
/** @param {string} text */
const capitalized = (text) => text[0].toUpperCase() + text.slice(1);
/** The name of a level: its animal. @param {string} level */
export const levelName = (level) => capitalized(animal(level));
/** @param {string} piece */
export const pieceName = (piece) =>
  t("piece", { side: side(piece === piece.toUpperCase() ? "w" : "b"), animal: animal(piece) });

/**
 * The winner in a sentence, from a value for the side to move.
 * @param {Page.Value | null | undefined} value
 * @param {string} turn
 */
export function result(value, turn) {
  if (!value) return "";
  if (value.no_move) {
    const sides = { side: side(turn), other: side(turn === "w" ? "b" : "w") };
    return t(value.wdl === "draw" ? "result.nomove.draw" : "result.nomove.loss", sides);
  }
  if (isDrawnByLimit(value)) return t(`result.${value.category}`, { side: side(turn) });
  return value.wdl === "draw" ? t("result.draw") : won(value, turn, "result.win");
}

/**
 * The winner of a decided value, with the plies if they are known, by the string `key`.
 * @param {Api.Value} value
 * @param {string} turn
 * @param {string} key
 */
function won({ wdl, dtw }, turn, key) {
  const winner = side((wdl === "win") === (turn === "w") ? "w" : "b");
  return t(dtw === null || dtw === undefined ? "score.wins" : key, { side: winner, n: dtw });
}

/**
 * A value in a form that does not depend on the side to move: "White in 9", "=".
 * @param {Api.Value | null | undefined} value
 * @param {string} turn
 */
export const valueForSide = (value, turn) =>
  !value || value.wdl === "draw" ? valueSymbol(value) : won(value, turn, "score.in");

/**
 * The text of `valueForSide` as a chip: blue if White wins, orange if Black wins.
 * @param {Api.Value | null | undefined} value
 * @param {string} turn
 */
export function sidedChip(value, turn) {
  const decided = value && value.wdl !== "draw";
  const kind = decided ? ((value.wdl === "win") === (turn === "w") ? "win" : "loss") : (value?.wdl ?? "unknown");
  return h("span", { class: `chip ${kind}`, title: result(value, turn) || inWords(value) }, valueForSide(value, turn));
}

/**
 * A collapsed table with the numbers of a picture.
 * @param {string} summary
 * @param {string[]} head
 * @param {Page.Child[][]} rows
 * @param {string} caption
 */
export const asTable = (summary, head, rows, caption) =>
  h(
    "details",
    { class: "astable" },
    h("summary", {}, summary),
    scrolled({ "aria-label": caption }, table(caption, head, [...rows.map((cells) => row(cells))], { class: null })),
  );

/** Texts as a list: animals, squares. @param {string[]} texts */
export const listed = (texts) => texts.join(t("list"));

/** The parts of a description, without empty ones. @param {(string | null | undefined | false)[]} parts */
export const described = (parts) => parts.filter(Boolean).join(t("comma"));

/** Sentences one after the other, without empty ones. @param {(string | null | undefined)[]} sentences */
export const inTurn = (sentences) => sentences.filter(Boolean).join(t("stop"));

/** The letters of a material in words: "Elephant and dog against wolf" for EDvW. @param {string} material */
export function teams(material) {
  const all = material.split("v").map((letters) => [...letters].map(animal));
  if (all.some((team) => !team.length)) return material;
  const [white, black] = all.map((team) => new Intl.ListFormat(language).format(team));
  return capitalized(t("material.against", { white, black }));
}

/** @type {(label: string, text: string | number) => string} */
export const labelled = (label, text) => `${label}${t("colon")}${text}`;

/** @type {Record<string, string>} */
const MARKS = { "??": "mark.blunder", "?": "mark.mistake", "?!": "mark.inaccuracy" };

/**
 * Moves in the papers' notation as the page shows them: in Chinese with animals, 猫c1 for `Cc1`.
 * @param {string} text
 */
export const moveText = (text) =>
  isChinese() ? text.replace(/\b([RCWDPTLE])(?=x?[a-g][1-9](?!\d))/g, (letter) => animal(letter)) : text;

/** Moves as the page shows them in the papers' notation. @param {string} text */
export const inLetters = (text) =>
  isChinese()
    ? [...ANIMALS].reduce(
        (text, letter) => text.replace(new RegExp(`${animal(letter)}(?=x?[a-g][1-9])`, "g"), letter),
        text,
      )
    : text;

/** A text for screen readers: moves, such as `Dxa8??`, become words. @param {string} text */
export const spoken = (text) =>
  inLetters(text).replace(/\b([RCWDPTLE])(x?)([a-g][1-9])(?!\d)(\?\?|\?!|\?)?/g, (_, letter, taken, square, mark) => {
    const move = t(taken ? "said.take" : "said.move", { animal: animal(letter), square });
    return described([move, mark && t(MARKS[mark])]);
  });

/**
 * The name of a control that shows moves: a text in words, and after it the shown text, which users of speech control
 * say.
 * @param {string} shown
 * @param {string} [text]
 */
export const spokenName = (shown, text = shown) => described([spoken(text), spoken(text).includes(shown) ? "" : shown]);

/**
 * A text for the eye, and the text that screen readers read instead if it differs.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function said(text) {
  const words = spoken(text);
  return words === text ? [text] : [h("span", { "aria-hidden": "true" }, text), h("span", { class: "sr" }, words)];
}

/** @type {number | undefined} */
let clearing;
/** @type {number | undefined} */
let hiding;
/** Announces a text to screen readers. @param {string} text */
export function announce(text) {
  const live = $("#live");
  cancel(clearing);
  live.textContent = "";
  clearing = later(() => (live.textContent = spoken(text)), 40);
}

/** A short message on the page, read aloud too. @param {string} text */
export function toast(text) {
  const box = $("#toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => (box.hidden = true), 4000);
  announce(text);
}

/**
 * Asks a question in a dialog; true if the user agrees. A question that is still open is answered with no.
 * Each question has an element of its own: the event that a dialog has closed comes later, and in a shared
 * element it would answer the next question.
 * @param {string} question
 * @param {string} yes
 * @returns {Promise<boolean>}
 */
export function ask(question, yes) {
  const last = $("#ask");
  last.close();
  const dialog = /** @type {Page.Found} */ (last.cloneNode());
  last.replaceWith(dialog);
  dialog.replaceChildren(
    h("p", { id: "asktext" }, question),
    h(
      "form",
      { method: "dialog", class: "bar" },
      h("span", { class: "space" }),
      h("button", { value: "no", id: "askno" }, t("cancel")),
      h("button", { value: "yes", id: "askyes", class: "main" }, yes),
    ),
  );
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

/** Whether a request may succeed later: the server is gone, busy or stopping. @param {{ code: string }} error */
export const isTemporary = (error) =>
  ["offline", "unreadable", "rate_limited", "busy", "timeout", "unavailable"].includes(error.code);

/** Errors whose message contains more than their code. */
const DETAILED = ["bad_fen", "bad_rules", "bad_material", "bad_move", "bad_request", "too_large", "not_found"];

/**
 * The values of a message, with colours, animals and sizes in the language of the page.
 * @param {Record<string, unknown>} [params]
 */
function named(params = {}) {
  const named = { ...params };
  if (params.color) named.color = t(String(params.color));
  if (params.animal) named.animal = t(`animal.${params.animal}`);
  for (const size of ["needed", "available"]) if (params[size] !== undefined) named[size] = bytes(Number(params[size]));
  return named;
}

/**
 * An error in the language of the page. Details, which only the server knows, are in English.
 * @param {{ code: string, message?: string, reason?: string, params?: Record<string, unknown> }} error
 */
export function errorText(error) {
  if (error.code === "rate_limited") return t("error.busy");
  if (strings[`reason.${error.reason}`]) return t(`reason.${error.reason}`, named(error.params));
  if (language === "en" && DETAILED.includes(error.code)) return error.message ?? "";
  const known = t(`error.${error.code}`);
  if (known === `error.${error.code}`) return error.message ?? "";
  return DETAILED.includes(error.code) ? t("error.detail", { text: known, detail: error.message }) : known;
}

/** @param {string} text */
export async function copy(text) {
  try {
    await during("the clipboard", navigator.clipboard.writeText(text));
  } catch {
    const area = h("textarea", { class: "sr" }, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(t("copied"));
}

/** @type {(content: Blob | string, file: string, type?: string) => void} */
export function download(content, file, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: url, download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
