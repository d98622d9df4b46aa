// The choice of rules: the presets in the header, and a form with every option.

import { app, on, useRules } from "./app.js";
import { OPTIONS, PRESETS } from "./rule-options.js";
import { contradict, readRules, shortest } from "./ruleset.js";
import { $, bar, button, h, labelled, select, t } from "./ui.js";

const NAMES = Object.keys(PRESETS);

export function startRules() {
  $("#rules").addEventListener("change", () => {
    const { value } = $("#rules");
    if (value !== "other") return useRules(value);
    draw();
    openForm();
  });
  on(["rules", "language"], draw);
  draw();
}

/** The list in the header. */
function draw() {
  const own = !NAMES.includes(app.rules);
  $("#rules").replaceChildren(
    ...NAMES.map((name) => h("option", { value: name, selected: name === app.rules }, t(`rules.${name}`))),
    own ? h("option", { value: app.rules, selected: true }, t("rules.own")) : "",
    h("option", { value: "other" }, t("rules.other")),
  );
  $("#rules").title = rulesText(app.rules);
}

/** What rules change, in a sentence. @param {string} rules */
export function rulesText(rules) {
  const values = readRules(rules) ?? {};
  const changed = Object.keys(OPTIONS).filter((key) => key in values && values[key] !== OPTIONS[key][0]);
  const changes = changed.map((key) => labelled(t(`option.${key}`), t(`option.${key}.${values[key]}`))).join(" · ");
  return changes ? t("rules.unlike", { changes }) : t("rules.standard");
}

function openForm() {
  build(readRules(app.rules) ?? {});
  $("#ruleform").showModal();
}

/** @param {Record<string, string>} values */
function build(values) {
  const dialog = $("#ruleform");
  const chosen = () =>
    Object.fromEntries(Object.keys(OPTIONS).map((key) => [key, $(`[data-option="${key}"]`, dialog).value]));
  const show = () => {
    const spelling = shortest(chosen());
    const wrong = contradict(chosen());
    $("#rulespelling").textContent = wrong ? "" : spelling;
    $("#rulewrong").textContent = wrong ? t("rules.contradict") : "";
    $("#ruleuse").disabled = wrong;
    $("#rulebase").value = NAMES.includes(spelling) ? spelling : "";
  };
  const from = (/** @type {string} */ name) => {
    if (!name) return;
    for (const [key, value] of Object.entries(readRules(name) ?? {})) $(`[data-option="${key}"]`, dialog).value = value;
    show();
  };
  const rule = (/** @type {string} */ text, /** @type {HTMLElement} */ control) =>
    h("label", { class: "rule" }, h("span", {}, text), control);
  const option = (/** @type {[string, string[]]} */ [key, all]) => {
    const text = (/** @type {string} */ value) => t(`option.${key}.${value}`);
    return rule(t(`option.${key}`), select(all, values[key], show, { "data-option": key }, text));
  };
  const preset = (/** @type {string} */ name) => t(`rules.${name || "own"}`);
  dialog.replaceChildren(
    h(
      "form",
      { method: "dialog", onsubmit: () => useRules(shortest(chosen())) },
      h("h2", { id: "ruleformhead" }, t("rules")),
      rule(t("rules.base"), select(["", ...NAMES], null, from, { id: "rulebase" }, preset)),
      Object.entries(OPTIONS).map(option),
      h("p", { class: "soft" }, t("rules.spelling"), " ", h("code", { id: "rulespelling" })),
      h("p", { id: "rulewrong", role: "alert" }),
      bar(
        h("span", { class: "space" }),
        button(t("cancel"), () => dialog.close(), { id: "rulecancel" }),
        h("button", { type: "submit", class: "main", id: "ruleuse" }, t("rules.use")),
      ),
    ),
  );
  show();
}
