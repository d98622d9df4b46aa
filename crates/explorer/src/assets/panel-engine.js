// The engine's lines, and the options of its analysis.

import { choose, isOn } from "./analysis.js";
import { app, append, emit, on, turn } from "./app.js";
import { scoreKind, scoreText } from "./score.js";
import {
  $,
  announce,
  bar,
  button,
  errorText,
  field,
  h,
  moveText,
  number,
  refill,
  row,
  scrolled,
  section,
  spokenName,
  t,
  table,
} from "./ui.js";

export const key = "engine";
/** @type {Record<string, string | number>} */
const options = { multipv: 3, depth: "", movetime: 30000, threads: "", hash: "" };

/** @type {(name: string, attributes: Page.Attributes) => HTMLElement} */
function option(name, attributes) {
  /** @type {Page.Attributes["onchange"]} */
  const onchange = ({ target }) => {
    if (!target.reportValidity()) return;
    options[name] = target.value;
    if (isOn()) choose({ ...options });
  };
  const input = h("input", { type: "number", value: options[name], id: `engine-${name}`, onchange, ...attributes });
  return field(t(`engine.${name}`), input);
}

export function build() {
  const heads = [t("engine.score"), t("engine.depth"), t("line")];
  return [
    section(
      "analysishead",
      t("engine.analysis"),
      bar(
        button(t("engine.start"), toggleAnalysis, { id: "analyze", class: "main", "aria-pressed": "false" }),
        option("multipv", { min: 1, max: 5 }),
        h("span", { id: "enginestate", class: "soft" }),
      ),
      h("p", { class: "soft" }, t("engine.help")),
      h(
        "details",
        {},
        h("summary", {}, t("engine.options")),
        bar(
          option("movetime", { min: 1, max: 600000 }),
          option("depth", { min: 1, max: 100, placeholder: "∞" }),
          option("threads", { min: 1, max: 64, placeholder: "1" }),
          option("hash", { min: 1, max: 256, placeholder: "64" }),
        ),
      ),
      scrolled("analysishead", table(t("engine.lines"), heads, [], { id: "lines" })),
    ),
  ];
}

export const update = draw;

export function startEngine() {
  on("evaluation", draw);
  on("evaluated", tell);
}

export function toggleAnalysis() {
  if (app.controller) return;
  choose(isOn() ? null : { ...options });
}

function tell() {
  const { last } = app.evaluation;
  if (!last?.pv?.length) return;
  if (isOn()) announce(t("engine.best", { move: last.pv[0].san, score: scoreText(last.score, turn()) }));
}

/** @param {Api.Info} info */
const moves = (info) =>
  moveText(
    info.pv
      ?.map((move) => move.san)
      .slice(0, 12)
      .join(" ") ?? "",
  );

/** @type {(info: Api.Info, i: number) => HTMLElement} */
function lineRow(info, i) {
  const kind = scoreKind(info.score, turn());
  const line = button(moves(info), () => append(info.pv.map((move) => move.uci)), {
    class: "plain",
    "data-key": i,
    "aria-label": spokenName(moves(info), t("engine.take", { line: moves(info), n: i + 1 })),
  });
  const score = h("span", { class: `chip ${kind}` }, scoreText(info.score, turn()));
  const depth = `${info.depth}${info.seldepth ? `/${info.seldepth}` : ""}`;
  return row([score, depth, h("td", { class: "pv" }, line)], {
    onmouseenter: () => app.board.point(info.pv?.[0]?.uci),
    onmouseleave: () => emit("unpoint"),
  });
}

function draw() {
  const start = $("#analyze");
  if (!start) return;
  const label = t(isOn() ? "engine.stop" : "engine.start");
  if (start.textContent !== label) start.textContent = label;
  start.setAttribute("aria-pressed", String(isOn()));
  start.disabled = app.controller !== null;
  $("#enginestate").textContent = stateText();
  const lines = app.controller ? [] : app.evaluation.lines.filter(Boolean);
  $("#lines").hidden = !lines.length;
  refill($("#lines tbody"), lines.map(lineRow));
}

function stateText() {
  const { state, last, error } = app.evaluation;
  if (app.controller) return t("engine.playing");
  if (error) return errorText(error);
  if (state === "stopped") return t("engine.stopped");
  if (state === "done") return t("engine.done", { depth: last?.depth ?? 0 });
  if (state !== "running") return "";
  if (!last) return t("engine.thinking");
  const speed = number(Math.round((last.nps ?? 0) / 1000));
  return t("engine.state", { depth: last.depth, nodes: number(last.nodes ?? 0), speed });
}
