// Below the board: the step buttons, the scrubber, and the ribbon: the share of moves that keep the result at each ply.

import { addBestLine, app, emit, goTo, infoOf, on, step as by, storeProbe } from "./app.js";
import { get } from "./api.js";
import { icon, iconButton } from "./icons.js";
import { $, asTable, h, labelled, moveText, number, s, select, t, valueForSide } from "./ui.js";

/** @type {number | undefined} */
let timer;
/** @type {{ play: HTMLElement, range: HTMLInputElement, text: HTMLElement, speed: HTMLSelectElement }} The controls. */
let parts;

/** The speeds by the milliseconds of a move. */
const SPEEDS = new Map([
  [1500, "½×"],
  [700, "1×"],
  [300, "2×"],
  [90, "5×"],
]);

const playing = () => timer !== undefined;

function stop() {
  clearTimeout(timer);
  timer = undefined;
  parts.play.replaceChildren(icon("play"));
  parts.play.setAttribute("aria-label", t("player.play"));
}

async function tick() {
  const line = app.game.line();
  if (app.game.cursor.ply >= line.length - 1) return stop();
  await goTo(app.game.cursor.ply + 1, { quiet: true });
  if (timer !== undefined) timer = setTimeout(tick, Number(parts.speed.value));
}

async function toggle() {
  if (playing()) return stop();
  if (app.game.cursor.ply >= app.game.line().length - 1) {
    if (!(await addBestLine())?.length) return;
  }
  timer = setTimeout(tick, 250);
  parts.play.replaceChildren(icon("pause"));
  parts.play.setAttribute("aria-label", t("player.pause"));
}

export function buildPlayer() {
  const step = (/** @type {string} */ name, /** @type {() => unknown} */ act) =>
    iconButton(name, t(`player.${name}`), act, { id: `player-${name}` });
  /** @type {Page.Attributes["oninput"]} */
  const oninput = ({ target }) => (stop(), goTo(Number(target.value), { quiet: true }));
  const range = { type: "range", min: 0, max: 0, value: 0, id: "scrubber", "aria-label": t("player.scrub") };
  const speed = { "aria-label": t("player.speed"), id: "speed" };
  parts = {
    play: step("play", toggle),
    range: h("input", { ...range, oninput }),
    text: h("span", { class: "soft", id: "ply" }),
    speed: select(
      [...SPEEDS.keys()],
      700,
      () => {},
      speed,
      (ms) => SPEEDS.get(ms) ?? "",
    ),
  };
  $("#player").replaceChildren(
    step("first", () => (stop(), goTo(0))),
    step("back", () => (stop(), by(-1))),
    parts.play,
    step("forward", () => (stop(), by(1))),
    step("last", () => (stop(), goTo(Infinity))),
    parts.range,
    parts.text,
    parts.speed,
  );
  render();
}

export function startPlayer() {
  buildPlayer();
  on(["position", "probe", "tree"], render);
  on("language", () => {
    stop();
    buildPlayer();
  });
  on("jump", stop);
  on("controller", () => {
    stop();
    parts.play.toggleAttribute("disabled", app.controller !== null);
  });
}

function render() {
  const line = app.game.line();
  const { ply } = app.game.cursor;
  parts.range.max = String(line.length - 1);
  parts.range.value = String(ply);
  parts.range.disabled = line.length < 2;
  parts.range.setAttribute("aria-valuetext", t("player.at", { n: ply, of: line.length - 1 }));
  parts.text.textContent = line.length > 1 ? `${ply} / ${line.length - 1}` : "";
  $("#player-first").disabled = $("#player-back").disabled = ply === 0;
  $("#player-forward").disabled = $("#player-last").disabled = ply === line.length - 1;
  // During a game the values would be a hint.
  ribbon(app.controller ? [] : line, ply);
  if (!app.controller) fetchMissing(line);
}

const H = 44;

/**
 * A column for each ply: its height is the share of legal moves that keep the result; a diamond marks an only move.
 * @param {GameNode[]} line
 * @param {number} ply
 */
function ribbon(line, ply) {
  const host = $("#ribbon");
  const known = line.flatMap((node) => infoOf(node) ?? []).filter((info) => info.value && info.legal);
  if (line.length < 3 || !known.length) return host.replaceChildren();
  const open = host.querySelector("details")?.open;
  const width = 600 / line.length;
  const only = known.filter((info) => info.keeps === 1 && (info.legal ?? 0) > 1).length;
  const columns = line.map((node, i) => {
    const info = infoOf(node);
    const parts = [];
    if (info?.value && info.legal) {
      const height = Math.max(3, ((info.keeps ?? 0) / info.legal) * (H - 14));
      const single = info.keeps === 1 && info.legal > 1;
      const place = { x: i * width + width * 0.1, width: width * 0.8, y: H - height, height };
      parts.push(s("rect", { class: single ? "only" : "bar", ...place }));
      const top = `${i * width + width / 2} ${H - height - 11}`;
      if (single) parts.push(s("path", { class: "only", d: `M${top} l4 4.500 l-4 4.500 l-4 -4.500 z` }));
    }
    const hit = { class: `hit${i === ply ? " current" : ""}`, x: i * width, y: 0, width, height: H };
    const title = s("title", {}, columnText(node, line[i + 1]));
    return [...parts, s("rect", { ...hit, onclick: () => goTo(i) }, title)];
  });
  const caption = t("ribbon.caption", { only: number(only), n: number(known.length) });
  const table = asTable(
    t("astable"),
    [t("ply"), t("move"), t("value"), t("keeps"), t("legal")],
    line
      .slice(0, -1)
      .map((node, i) => [
        String(i + 1),
        moveText(line[i + 1].san ?? ""),
        valueForSide(infoOf(node)?.value, node.fen.slice(-1)),
        infoOf(node)?.keeps ?? "?",
        infoOf(node)?.legal ?? "?",
      ]),
    t("ribbon.title"),
  );
  table.open = open ?? false;
  host.replaceChildren(
    h("div", { class: "soft", id: "ribbontext" }, caption),
    s(
      "svg",
      { class: "chart ribbon", viewBox: `0 0 600 ${H + 1}`, role: "img", "aria-label": caption },
      s("path", { class: "axis", d: `M0 ${H + 0.5} H600` }),
      columns,
    ),
    table,
  );
}

/** @type {(node: GameNode, next?: GameNode) => string} */
function columnText(node, next) {
  const info = infoOf(node);
  const kept =
    info?.value && info.legal
      ? t("ribbon.ply", { keeps: info.keeps, legal: info.legal, value: valueForSide(info.value, node.fen.slice(-1)) })
      : "";
  const move = `${t("ply")} ${node.ply + 1}${next ? ` ${moveText(next.san ?? "")}` : ""}`;
  return kept ? labelled(move, kept) : move;
}

let fetching = false;
const ASKED = 80;

/** Requests the missing values of a line, one position after another. @param {GameNode[]} line */
async function fetchMissing(line) {
  if (fetching || line.length < 3 || line.length > ASKED) return;
  const missing = line.filter((node) => !infoOf(node) && node !== app.game.cursor);
  if (!missing.length) return;
  fetching = true;
  try {
    for (const node of missing) storeProbe(node, await get("probe", { fen: node.fen, rules: app.rules }));
  } catch {
    // The request is repeated when the line is drawn the next time.
    return;
  } finally {
    fetching = false;
  }
  emit("tree");
}
