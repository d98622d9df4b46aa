// "Measure this device": perft and endgames on the CPU and on the GPU, which must agree, where the page has its module.

import { savePng } from "./board-export.js";
import { $, bar, button, bytes, copy, field, h, number, rounded, row, s, select, t, table } from "./ui.js";

/**
 * @typedef {{ plies: number, nodes: number, seconds: number }} Count
 * @typedef {object} Speed
 * @property {string | null} name
 * @property {boolean} software
 * @property {Count} bulk perft whose last ply is counted, not made: the speed of move generation
 * @property {Count | null} merged perft that expands equal positions once; null for a GPU
 * @property {number} positions
 * @property {number} seconds
 * @typedef {{ material: string, fen: string | null, cpu: string, gpu: string }} Difference
 * @typedef {object} Report
 * @property {string} version
 * @property {string} rules
 * @property {number} pieces
 * @property {Speed} cpu
 * @property {Speed | null} gpu
 * @property {string | null} no_gpu the reason
 * @property {number} compared
 * @property {Difference | null} difference
 * @property {string} [browser]
 * @property {number} [threads] of the device; the module uses one
 * @property {number} memory bytes that the module took
 */

/** @type {Worker | null} */
let worker = null;

/** Shows the button, if the page has a worker that measures. */
export function startMeasure() {
  const { device } = document.documentElement.dataset;
  if (!device) return;
  $("#measuring").hidden = false;
  $("#measuring").addEventListener("click", () => {
    $("#settings").hidePopover();
    build(device);
    $("#measure").showModal();
  });
  $("#measure").addEventListener("close", stop);
}

function stop() {
  worker?.terminate();
  worker = null;
}

/** @param {string} script of the worker */
function build(script) {
  const words = (/** @type {number} */ pieces) => t("measure.pieces", { pieces });
  const pieces = select([2, 3, 4], 3, () => {}, { id: "measurepieces" }, words);
  $("#measure").replaceChildren(
    h("h2", { id: "measurehead" }, t("measure")),
    h("p", {}, t("measure.what")),
    bar(
      field(t("tab.endgames"), pieces),
      button(t("measure.start"), () => measure(script), { class: "main", id: "measurestart" }),
    ),
    h("p", { id: "measurestate", role: "status" }),
    h("div", { id: "measured" }),
    bar(
      h("span", { class: "space" }),
      button(t("close"), () => $("#measure").close(), { id: "measureclose" }),
    ),
  );
}

/** @param {string} script */
function measure(script) {
  stop();
  const say = (/** @type {string} */ text) => {
    $("#measurestate").textContent = text;
  };
  const end = (/** @type {string} */ text) => {
    stop();
    $("#measurestart").disabled = false;
    say(text);
  };
  $("#measured").replaceChildren();
  $("#measurestart").disabled = true;
  say(t("measure.loading"));
  worker = new Worker(script, { type: "module" });
  worker.addEventListener("error", () => end(t("measure.failed", { reason: t("error.no_module") })));
  worker.addEventListener("message", ({ data: { event, data, report, error } }) => {
    if (event === "progress") {
      const progress = JSON.parse(data);
      return say(t(`measure.${progress.phase}`, progress));
    }
    if (error) return end(t("measure.failed", { reason: error }));
    end("");
    show({ ...report, browser: navigator.userAgent, threads: navigator.hardwareConcurrency });
  });
  worker.postMessage({ measure: Number($("#measurepieces").value) });
}

/** @type {(speed: Speed) => string} */
const nameOf = ({ name, software }) => (software ? t("measure.software", { name }) : (name ?? "GPU"));

/** @type {(report: Report) => string} */
function verdict({ gpu, no_gpu: reason, compared, difference }) {
  if (difference) return t("measure.different", { ...difference, fen: difference.fen ?? "-" });
  if (reason) return t("measure.no_gpu", { reason: reason === "none" ? t("measure.none") : reason });
  return gpu ? t("measure.equal", { count: number(compared) }) : "";
}

/** @typedef {{ value: number, text: string }} Cell a speed, also in words */

/**
 * What is measured, and a speed of each device, in one unit.
 * @param {Report} report
 * @returns {[string, ...Cell[]][]}
 */
function linesOf({ cpu, gpu, pieces }) {
  const speeds = gpu ? [cpu, gpu] : [cpu];
  /** @type {(count: number, seconds: number, key: string) => Cell} */
  const cell = (count, seconds, key) => {
    const value = count / Math.max(seconds, 1e-3);
    return { value, text: t(key, { rate: rounded(value), seconds: number(Number(seconds.toPrecision(2))) }) };
  };
  const nodes = (/** @type {Count | null} */ count) =>
    count ? cell(count.nodes, count.seconds, "measure.nodes") : { value: 0, text: "-" };
  return [
    [t("measure.bulk_row"), ...speeds.map(({ bulk }) => nodes(bulk))],
    [t("measure.merged_row"), ...speeds.map(({ merged }) => nodes(merged))],
    [
      t("measure.endgames_row", { pieces }),
      ...speeds.map((all) => cell(all.positions, all.seconds, "measure.positions")),
    ],
  ];
}

const [W, BARS, TEXT] = [860, 280, 330];
const COLOURS = ["#22664d", "#a2470a"];

/**
 * The report as a picture: a bar for each speed, beside its words.
 * @param {Report} report
 * @param {string[]} heads
 */
function picture(report, heads) {
  let y = 44;
  const text = (/** @type {number} */ x, /** @type {string} */ words, attributes = {}) =>
    s("text", { x, y, "font-family": "system-ui, sans-serif", "font-size": 17, fill: "#2a231a", ...attributes }, words);
  /** @type {SVGElement[]} */
  const parts = [text(30, `${t("title")}: ${t("measure")}`, { "font-size": 24, "font-weight": 600 })];
  for (const [name, ...cells] of linesOf(report)) {
    y += 44;
    parts.push(text(30, name, { "font-weight": 600 }));
    const most = Math.max(...cells.map(({ value }) => value));
    cells.forEach(({ value, text: words }, i) => {
      y += 28;
      parts.push(s("rect", { x: 30, y: y - 15, width: (BARS * value) / most, height: 20, rx: 4, fill: COLOURS[i] }));
      parts.push(text(TEXT, `${heads[i]}: ${words}`, { "font-size": 15 }));
    });
  }
  for (const words of [verdict(report), `doushouqi ${report.version}`]) {
    y += 38;
    parts.push(text(30, words, { "font-size": 15 }));
  }
  const size = { width: W, height: y + 24 };
  return s("svg", size, s("rect", { ...size, fill: "#fffcf6" }), parts);
}

/** @param {Report} report */
function show(report) {
  const heads = [t("measure.cpu"), report.gpu ? nameOf(report.gpu) : ""].filter(Boolean);
  const rows = linesOf(report).map(([name, ...cells]) => [name, ...cells.map(({ text }) => text)]);
  const lines = [[t("measure"), ...heads], ...rows].map((cells) => cells.join("; "));
  const save = () => savePng(new XMLSerializer().serializeToString(picture(report, heads)), "doushouqi-speed.png");
  const text = [...lines, verdict(report), `doushouqi ${report.version}, ${report.browser}`].join("\n");
  $("#measured").replaceChildren(
    table(
      t("measure"),
      ["", ...heads],
      rows.map((cells) => row(cells)),
    ),
    h("p", { id: "measureverdict" }, verdict(report), " ", t("measure.memory", { bytes: bytes(report.memory) })),
    bar(
      button(t("save.copy"), () => copy(text), { id: "measuretext" }),
      button(t("measure.picture"), save, { id: "measurepicture" }),
      button(t("measure.copy_json"), () => copy(JSON.stringify(report, null, 2)), { id: "measurejson" }),
    ),
  );
}
