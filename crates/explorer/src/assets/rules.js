// The choice of rules: the presets in the header, and a form with every option.

import { get } from "./api.js";
import { app, on, useRules } from "./app.js";
import { $, button, errorText, h, t, toast } from "./ui.js";

const PRESETS = ["paper", "cazaux", "bodlaender", "quadibloc", "bell", "chinese"];

/** @type {any} Presets and options as the server lists them. */
let known = null;

export function startRules() {
  $("#rules").addEventListener("change", (/** @type {any} */ event) => {
    if (event.target.value !== "other") return useRules(event.target.value);
    draw();
    openForm();
  });
  on("rules", draw);
  on("language", draw);
  draw();
}

/** The list in the header. */
function draw() {
  const own = !PRESETS.includes(app.rules);
  $("#rules").replaceChildren(
    ...PRESETS.map((name) => h("option", { value: name, selected: name === app.rules }, t(`rules.${name}`))),
    own ? h("option", { value: app.rules, selected: true }, t("rules.own")) : "",
    h("option", { value: "other" }, t("rules.other")),
  );
  $("#rules").title = app.rules;
}

/**
 * "shore=none,traps=any" as a map.
 * @param {string} text
 */
const valuesOf = (text) => {
  const items = text.split(",").filter((item) => item.includes("="));
  return new Map(items.map((item) => /** @type {[string, string]} */ (item.split("=").map((part) => part.trim()))));
};

/**
 * The value of every option under rules: the values of a preset, with the changes to it.
 * @param {string} rules
 */
function read(rules) {
  const first =
    known.presets.find((/** @type {any} */ preset) => preset.name === rules.split(",")[0].trim()) ?? known.presets[0];
  return new Map([...valuesOf(first.rules), ...valuesOf(rules)]);
}

/**
 * The shortest spelling of rules: the closest preset and the options that differ from it.
 * @param {any} values
 */
function spell(values) {
  const spellings = known.presets.map((/** @type {{ name: string, rules: string }} */ { name, rules }) => {
    const preset = valuesOf(rules);
    return [
      name,
      ...[...values].filter(([key, value]) => preset.get(key) !== value).map(([key, value]) => `${key}=${value}`),
    ];
  });
  return spellings.reduce((/** @type {any} */ a, /** @type {any} */ b) => (b.length < a.length ? b : a)).join(",");
}

async function openForm() {
  try {
    known ??= await get("rules");
  } catch (error) {
    return toast(errorText(error));
  }
  build(read(app.rules));
  $("#ruleform").showModal();
}

/**
 * A string of the page, or the server's word if the page has none.
 * @param {string} key
 * @param {string} otherwise
 */
const word = (key, otherwise) => (t(key) === key ? otherwise : t(key));

/**
 * @param {any} values
 */
function build(values) {
  const dialog = $("#ruleform");
  const chosen = () =>
    new Map([...dialog.querySelectorAll("[data-option]")].map((select) => [select.dataset.option, select.value]));
  const show = () => {
    const spelling = spell(chosen());
    $("#rulespelling").textContent = spelling;
    $("#rulebase").value = PRESETS.includes(spelling) ? spelling : "";
  };
  const from = (/** @type {string} */ name) => {
    if (!name) return;
    for (const [key, value] of read(name)) $(`[data-option="${key}"]`, dialog).value = value;
    show();
  };
  const option = (/** @type {any} */ { key, values: all, help }) =>
    h(
      "label",
      { class: "rule" },
      h("span", {}, word(`option.${key}`, help)),
      h(
        "select",
        { "data-option": key, onchange: show },
        all.map((/** @type {string} */ value) =>
          h("option", { value, selected: value === values.get(key) }, word(`option.${key}.${value}`, value)),
        ),
      ),
    );
  dialog.replaceChildren(
    h(
      "form",
      { method: "dialog", onsubmit: () => useRules(spell(chosen())) },
      h("h2", { id: "ruleformhead" }, t("rules")),
      h(
        "label",
        { class: "rule" },
        h("span", {}, t("rules.base")),
        h(
          "select",
          { id: "rulebase", onchange: (/** @type {any} */ event) => from(event.target.value) },
          h("option", { value: "" }, t("rules.own")),
          PRESETS.map((name) => h("option", { value: name }, t(`rules.${name}`))),
        ),
      ),
      known.options.map(option),
      h("p", { class: "soft" }, t("rules.spelling"), " ", h("code", { id: "rulespelling" })),
      h(
        "div",
        { class: "bar" },
        h("span", { class: "space" }),
        button(t("cancel"), () => dialog.close(), { id: "rulecancel" }),
        h("button", { type: "submit", class: "main", id: "ruleuse" }, t("rules.use")),
      ),
    ),
  );
  show();
}
