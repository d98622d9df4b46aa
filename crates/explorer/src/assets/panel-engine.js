// The engine: analysis as a stream, and a game against it or against perfection.

import { address, get } from "./api.js";
import { app, emit, fen, on, params, refresh, turn } from "./app.js";
import { $, button, errorText, h, number, say, side, t, toast } from "./ui.js";

export const key = "engine";
let stream = null;
let lines = [];
let last = null;
let opponent = null;
const options = { multipv: 3, depth: "", movetime: 10000, threads: "", hash: "" };

export function build() {
  const field = (name, attributes) => h("label", {}, t(`engine.${name}`), " ", h("input", { type: "number", value: options[name], id: `engine-${name}`, onchange: (event) => { if (!event.target.reportValidity()) return; options[name] = event.target.value; if (stream) start(); }, ...attributes }));
  return [
    h("section", { "aria-labelledby": "analysishead" }, h("h3", { id: "analysishead" }, t("engine.analysis")),
      h("div", { class: "bar" }, button(stream ? t("engine.stop") : t("engine.start"), toggleAnalysis, { id: "analyze", class: "main" }),
        field("multipv", { min: 1, max: 5 }), h("span", { id: "enginestate", class: "soft" })),
      h("details", {}, h("summary", {}, t("engine.options")), h("div", { class: "bar" },
        field("movetime", { min: 1, max: 600000 }), field("depth", { min: 1, max: 100, placeholder: "∞" }), field("threads", { min: 1, max: 64, placeholder: "1" }), field("hash", { min: 1, max: 256, placeholder: "64" }))),
      h("div", { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": "analysishead" }, h("table", { class: "list", id: "lines" }, h("caption", { class: "sr" }, t("engine.lines")),
        h("thead", {}, h("tr", {}, [t("engine.score"), t("engine.depth"), t("line")].map((x) => h("th", { scope: "col" }, x)))), h("tbody", {})))),
    h("section", { "aria-labelledby": "playhead" }, h("h3", { id: "playhead" }, t("play")),
      h("div", { class: "bar" },
        h("label", {}, t("play.you"), " ", h("select", { id: "yourside" }, h("option", { value: "w" }, side("w")), h("option", { value: "b" }, side("b")))),
        h("label", {}, t("play.strength"), " ", h("select", { id: "strength" }, Array.from({ length: 10 }, (_, i) => h("option", { value: i + 1, selected: i === 5 }, String(i + 1))), h("option", { value: "perfect" }, t("play.perfect")))),
        h("label", {}, t("play.time"), " ", h("select", { id: "playtime" }, [200, 1000, 3000, 10000].map((ms) => h("option", { value: ms, selected: ms === 1000 }, `${ms / 1000} s`)))),
        button(opponent ? t("play.stop") : t("play.start"), toggleGame, { id: "playstart", class: "main" })),
      h("p", { id: "playstate", class: "soft", role: "status" }, t("play.help"))),
  ];
}

export function update() {
  drawLines();
}

export function startEngine() {
  on("position", () => { if (stream) start(); else { lines = []; last = null; drawLines(); } });
  on("played", () => answerSoon());
  on("rules", () => stopGame());
  on("jump", () => stopGame());
  on("probe", drawGauge);
}

export function toggleAnalysis() {
  if (stream) stop();
  else start();
}

function stop(state = "engine.stopped") {
  stream?.close();
  stream = null;
  const start = $("#analyze");
  if (start) start.textContent = t("engine.start");
  const text = $("#enginestate");
  if (text && state) text.textContent = t(state);
}

function start() {
  stream?.close();
  lines = [];
  last = null;
  stream = new EventSource(address("analyze", params({ ...options })));
  const mine = stream;
  const position = fen();
  if ($("#analyze")) $("#analyze").textContent = t("engine.stop");
  if ($("#enginestate")) $("#enginestate").textContent = t("engine.thinking");
  mine.addEventListener("info", (event) => {
    if (mine !== stream || position !== fen()) return;
    const info = JSON.parse(event.data);
    lines[(info.multipv ?? 1) - 1] = info;
    if ((info.multipv ?? 1) === 1) last = info;
    schedule();
  });
  mine.addEventListener("done", (event) => {
    if (mine !== stream) return;
    stop(null);
    drawLines();
    $("#enginestate")?.replaceChildren(t("engine.done", { depth: last?.depth ?? 0 }));
    const { bestmove } = JSON.parse(event.data);
    if (last) say(t("engine.best", { move: last.pv?.[0]?.san ?? bestmove, score: score(last.score) }));
  });
  mine.addEventListener("error", async () => {
    if (mine !== stream) return;
    stop(null);
    // An event source does not say why it failed: if the server answers at all, all its processors are searching.
    const code = await get("status", {}, { keep: false }).then(() => "busy", (error) => error.code);
    $("#enginestate")?.replaceChildren(errorText({ code, message: t("error.offline") }));
  });
  drawLines();
}

let scheduled = false;
function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => { scheduled = false; drawLines(); drawGauge(); });
}

/** A score as the side to move sees it: "+1.20", or "+M17": a win in 17 plies. */
export function score({ kind, value }) {
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  if (kind === "mate") return `${sign}M${Math.abs(value)}`;
  return sign + (Math.abs(value) / 100).toFixed(2);
}

function drawLines() {
  const body = $("#lines tbody");
  if (!body) return;
  body.replaceChildren(...lines.filter(Boolean).map((info, i) => h("tr", { onmouseenter: () => app.board.point(info.pv?.[0]?.uci), onmouseleave: () => app.board.point(null) },
    h("th", { scope: "row" }, h("span", { class: `chip ${info.score.value > 0 ? "win" : info.score.value < 0 ? "loss" : "draw"}` }, score(info.score))),
    h("td", {}, `${info.depth}${info.seldepth ? `/${info.seldepth}` : ""}`),
    h("td", { class: "pv" }, button(info.pv?.map((move) => move.san).slice(0, 12).join(" ") ?? "", () => take(info), { class: "plain", "aria-label": t("engine.take", { line: info.pv?.map((move) => move.san).slice(0, 12).join(" ") ?? "", n: i + 1 }) })))));
  if (stream && last) $("#enginestate").textContent = t("engine.state", { depth: last.depth, nodes: number(last.nodes ?? 0), speed: number(Math.round((last.nps ?? 0) / 1000)) });
}

function take(info) {
  app.game.append(info.pv.map((move) => move.uci));
  emit("tree");
  say(t("line.added", { n: info.pv.length }));
}

/** White's share of the gauge: from the tables if they know, else from the engine. */
function drawGauge() {
  const gauge = $("#gauge");
  const white = turn() === "w" ? 1 : -1;
  let share = null;
  let text = t("gauge.unknown");
  const { probe } = app;
  if (probe?.over) [share, text] = [probe.over.winner === "white" ? 1 : probe.over.winner ? 0 : 0.5, t("gauge.over")];
  else if (probe?.known && probe.value) {
    const sign = { win: 1, draw: 0, loss: -1 }[probe.value.wdl] * white;
    share = 0.5 + 0.5 * sign;
    text = $("#resulttext")?.textContent ?? "";
  } else if (last) {
    const value = last.score.value * white;
    share = last.score.kind === "mate" ? (value > 0 ? 1 : 0) : 1 / (1 + Math.exp(-value / 250));
    text = t("gauge.engine", { score: score(last.score), side: side(turn()) });
  }
  gauge.classList.toggle("off", share === null);
  gauge.setAttribute("aria-label", text);
  gauge.title = text;
  gauge.querySelector(".white").style.flexGrow = share ?? 0.5;
  gauge.querySelector(".black").style.flexGrow = 1 - (share ?? 0.5);
}

function toggleGame() {
  if (opponent) return stopGame();
  const yours = $("#yourside").value;
  opponent = { side: yours === "w" ? "b" : "w", strength: $("#strength").value, movetime: $("#playtime").value };
  app.board.flip(yours === "b");
  $("#playstart").textContent = t("play.stop");
  $("#playstate").textContent = t("play.on", { side: side(yours) });
  say(t("play.on", { side: side(yours) }));
  answerSoon();
}

function stopGame() {
  if (!opponent) return;
  opponent = null;
  if ($("#playstart")) $("#playstart").textContent = t("play.start");
  if ($("#playstate")) $("#playstate").textContent = t("play.stopped");
}

/** Lets the engine answer if it is its turn. */
async function answerSoon() {
  const game = opponent;
  const node = app.game.cursor;
  if (!game || turn() !== game.side) return;
  if ($("#playstate")) $("#playstate").textContent = t("engine.thinking");
  const path = app.game.line().filter((n) => n.ply <= node.ply);
  const history = path.slice(1).map((n) => n.uci).join(",");
  const strength = game.strength === "perfect" ? { perfect: 1 } : { strength: game.strength };
  try {
    const answer = await get("bestmove", { fen: app.game.start(), rules: app.rules, moves: history, movetime: game.movetime, ...strength }, { keep: false });
    if (opponent !== game || app.game.cursor !== node) return;
    app.game.play(answer.uci);
    await refresh();
    if ($("#playstate")) $("#playstate").textContent = t("play.answer", { move: answer.san });
    if (app.probe?.over) stopGame();
  } catch (error) {
    if (opponent !== game) return;
    if (app.probe?.over) return stopGame();
    toast(errorText(error));
    stopGame();
  }
}

