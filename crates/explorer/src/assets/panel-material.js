// A material's counts and histogram, the longest lines, and the matrix of materials.

import { get } from "./api.js";
import { app, fen, randomPosition, showLine } from "./app.js";
import { Owner } from "./owner.js";
import { material } from "./position.js";
import {
  $,
  asTable,
  bar,
  button,
  checkbox,
  described,
  field,
  fillWith,
  h,
  labelled,
  number,
  percent,
  row,
  s,
  scrolled,
  section,
  select,
  side,
  t,
  table,
} from "./ui.js";

export const key = "material";
let shown = "";
let turn = /** @type {"white" | "black"} */ ("white");
let logarithmic = true;
let size = "1v1";
const SIZES = ["1v1", "2v1", "1v2", "2v2"];
/** @type {[string, number, number] | null} */
let swapOf = null;
/** Each part of the panel waits for the newest answer. */
const asking = { stats: new Owner(), longest: new Owner(), matrix: new Owner() };

export function build() {
  shown = "";
  return [
    section("countshead", t("counts"), bar(materialInput(), turnSelect(), scaleBox()), h("div", { id: "stats" })),
    section("longesthead", t("longest"), h("p", { class: "soft" }, t("longest.help")), h("div", { id: "longest" })),
    section("matrixhead", t("matrix"), bar(sizeSelect()), h("div", { id: "matrix" })),
  ];
}

function materialInput() {
  /** @type {Page.Attributes["onchange"]} */
  const onchange = ({ target }) => {
    shown = "";
    draw(target.value.trim());
  };
  const attributes = { id: "materialin", size: 9, value: material(fen()), spellcheck: "false", autocomplete: "off" };
  return field(t("view.material"), h("input", { ...attributes, onchange }));
}

function turnSelect() {
  const act = (/** @type {string} */ value) => {
    turn = value === "white" ? "white" : "black";
    redraw();
  };
  return field(t("tomove.short"), select(["white", "black"], turn, act, { id: "statsturn" }, side));
}

const scaleBox = () =>
  checkbox(t("logarithmic"), logarithmic, (checked) => {
    logarithmic = checked;
    redraw();
  });

function sizeSelect() {
  const act = (/** @type {string} */ value) => {
    size = value;
    drawMatrix();
  };
  return field(t("matrix.size"), select(SIZES, size, act, { id: "matrixsize" }));
}

export function update() {
  $("#materialin").value = material(fen());
  draw(material(fen()));
  if (shownRules !== app.rules) {
    shownRules = app.rules;
    drawMatrix();
  }
}
/** @type {string | null} */
let shownRules = null;
/** Forgets what is shown and what is asked for: the panel is closed, or the rules have changed. */
export function renew() {
  shownRules = null;
  shown = "";
  for (const owner of Object.values(asking)) owner.drop();
}

const redraw = () => {
  const was = shown;
  shown = "";
  draw(was.split("|")[0] || $("#materialin").value);
};

/** @param {string} wanted */
async function draw(wanted) {
  const id = `${wanted}|${app.rules}`;
  if (id === shown) return;
  shown = id;
  // Another panel may be open when the answer arrives.
  const [host, longest] = [$("#stats"), $("#longest")];
  const isTooLarge = wanted.length - 1 > app.largest;
  await fillWith(host, asking.stats, async (signal) => {
    if (isTooLarge) return h("p", { class: "soft" }, t("stats.toomany"));
    const stats = await get(`stats/${encodeURIComponent(wanted)}`, { rules: app.rules }, { signal });
    return [...counts(stats), ...histogram(stats)];
  });
  drawLongest(longest, isTooLarge ? "" : wanted);
}

/** @param {Api.Stats} stats */
function counts(stats) {
  const countsOf = (/** @type {"white" | "black"} */ color) => {
    const c = stats[color];
    const of = (/** @type {number} */ n) => `${number(n)} (${percent(n / Math.max(1, c.positions))})`;
    return row([side(color), number(c.positions), of(c.wins), of(c.draws), of(c.losses), number(c.longest)], {
      class: color === turn ? "now" : null,
    });
  };
  const heads = [t("tomove.short"), t("positions"), t("wins"), t("draws"), t("losses"), t("longestline")];
  return [
    scrolled("countshead", table(t("counts"), heads, [countsOf("white"), countsOf("black")], { id: "counts" })),
    stats.class && stats.class !== stats.material
      ? h("p", { class: "soft" }, t("sameas", { name: stats.class, n: number(stats.represents) }))
      : "",
  ];
}

const W = 640,
  H = 190,
  FOOT = 22,
  LEFT = 34;

/**
 * The histogram as a table: a row for each pair of plies.
 * @param {number[]} data
 * @param {(plies: number) => void} open
 */
function histogramTable(data, open) {
  const cell = (/** @type {number} */ plies) =>
    plies && data[plies]
      ? button(number(data[plies]), () => open(plies), { "aria-label": t("histogram.open", { n: plies }) })
      : "–";
  const rows = [];
  for (let plies = 1; plies < data.length; plies += 2)
    rows.push([`${plies} / ${plies + 1}`, cell(plies), cell(plies + 1 < data.length ? plies + 1 : 0)]);
  return asTable(t("astable"), [t("ply"), t("wins"), t("losses")], rows, t("histogram.table"));
}

/**
 * A bar for each ply: wins take an odd number of plies, losses an even one. A bar opens a position of its depth, and so
 * does its cell in the table below.
 * @param {Api.Stats} stats
 */
function histogram(stats) {
  const data = stats[turn].by_plies;
  const bars = data.map((count, plies) => ({ count, plies })).filter(({ count, plies }) => count && plies > 0);
  if (!bars.length) return [h("p", { class: "soft" }, t("histogram.none"))];
  const top = Math.max(...bars.map((bar) => bar.count));
  const scale = (/** @type {number} */ count) =>
    (logarithmic ? Math.log10(count + 1) / Math.log10(top + 1) : count / top) * (H - FOOT - 10);
  const width = (W - LEFT) / (data.length - 1 || 1);
  const open = (/** @type {number} */ plies) => randomPosition({ material: stats.material, turn: turn[0], plies });
  const x = (/** @type {number} */ plies) => LEFT + (plies - 1) * width;
  const label = (/** @type {{ plies: number, count: number }} */ { plies, count }) =>
    t(plies % 2 ? "histogram.win" : "histogram.loss", { n: plies, count: number(count) });
  const ticks = logarithmic ? powers(top) : [top];
  const sides = { side: side(turn) };
  const svg = s(
    "svg",
    { class: "chart histogram", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": t("histogram.title", sides) },
    ticks.map((value) => [
      s("path", { class: "axis", d: `M${LEFT} ${H - FOOT - scale(value)} H${W}` }),
      s("text", { x: LEFT - 4, y: H - FOOT - scale(value) + 4, "text-anchor": "end" }, compact(value)),
    ]),
    s("path", { class: "axis", d: `M${LEFT} ${H - FOOT} H${W}` }),
    bars.map(({ count, plies }) => {
      const height = Math.max(1.5, scale(count));
      const place = { x: x(plies) + width * 0.08, y: H - FOOT - height, width: Math.max(0.8, width * 0.84), height };
      return s("rect", { class: plies % 2 ? "win" : "loss", ...place });
    }),
    bars.map((bar) => {
      const place = { x: x(bar.plies), y: 0, width, height: H - FOOT };
      return s("rect", { class: "hit", ...place, onclick: () => open(bar.plies) }, s("title", {}, label(bar)));
    }),
    axis(data.length - 1).map((plies) =>
      s("text", { x: x(plies) + width / 2, y: H - 6, "text-anchor": "middle" }, String(plies)),
    ),
  );
  return [
    h("p", { class: "soft" }, h("strong", {}, t("histogram.title", sides)), " ", t("histogram.help")),
    svg,
    histogramTable(data, open),
  ];
}

/** @param {number} top */
const powers = (top) => Array.from({ length: Math.floor(Math.log10(top)) + 1 }, (_, i) => 10 ** i);
/** @param {number} value */
const compact = (value) => new Intl.NumberFormat(document.documentElement.lang, { notation: "compact" }).format(value);
/** @param {number} last */
function axis(last) {
  const step = [1, 2, 5, 10, 20, 50].find((n) => last / n <= 16) ?? 100;
  const ticks = [1];
  for (let n = step === 1 ? 2 : step; n <= last; n += step) ticks.push(n);
  return ticks;
}

/** @type {(host: HTMLElement, wanted: string) => Promise<void>} */
function drawLongest(host, wanted) {
  const of = (/** @type {Page.Query} */ query) =>
    get("longest", { rules: app.rules, ...query }).then((answer) => answer.lines);
  const mine = async () => (wanted ? of({ material: wanted, count: 2 }).catch(() => []) : []);
  /** @type {(line: Awaited<ReturnType<typeof of>>[number]) => HTMLElement} */
  const play = ({ fen: position, material: name, plies }) =>
    button(t("longest.play"), () => showLine(position), {
      "data-longest": plies,
      "aria-label": labelled(t("longest.play"), described([name, String(plies)])),
    });
  return fillWith(host, asking.longest, async () => {
    const [own, all] = await Promise.all([mine(), of({ count: 6 })]);
    const lines = [...new Map([...own, ...all].map((line) => [line.fen, line])).values()];
    return table(
      t("longest"),
      [t("view.material"), t("ply"), t("view.position")],
      lines.map((line) => row([line.material, number(line.plies), play(line)])),
    );
  });
}

/**
 * The class of a cell's colour: by the larger share. The cell's text is the share of wins.
 * @param {number} win
 * @param {number} loss
 */
const shade = (win, loss) => (win - loss > 0.15 ? "m-win" : loss - win > 0.15 ? "m-loss" : "m-even");

async function drawMatrix() {
  const host = $("#matrix");
  const [white, black] = size.split("v").map(Number);
  host.replaceChildren();
  /** @type {Api.Matrix | undefined} */
  let found;
  /** @type {(m: Api.Matrix, i: number, j: number) => Page.Child} */
  const cell = (m, i, j) => {
    const win = m.win[i][j];
    if (win === null || win === undefined) return "–";
    const title = matrixText(m, i, j);
    return button(`${Math.round(win * 100)}`, () => swaps(m, i, j), {
      class: shade(win, m.loss[i][j]),
      title,
      "aria-label": labelled(String(Math.round(win * 100)), title),
      "data-pair": pairOf(m, i, j),
    });
  };
  await fillWith(host, asking.matrix, async (signal) => {
    const m = (found = await get("matrix", { rules: app.rules, white, black }, { signal }));
    const heads = [`${side("w")} \\ ${side("b")}`, ...m.black.map((name) => name.toLowerCase())];
    const rows = m.white.map((name, i) => row([name, ...m.black.map((_, j) => cell(m, i, j))]));
    return [
      h("p", { class: "soft" }, t("matrix.help")),
      scrolled("matrixhead", table(t("matrix"), heads, rows, { class: "matrix" })),
      h("div", { id: "swaps", "aria-live": "polite" }),
    ];
  });
  if (found && swapOf?.[0] === size) swaps(found, swapOf[1], swapOf[2]);
}

/** @type {(m: Api.Matrix, i: number, j: number) => string} The material of a cell. */
const pairOf = (m, i, j) => `${m.white[i]}v${m.black[j]}`;

/** @type {(m: Api.Matrix, i: number, j: number) => string} The shares of a cell in words. */
const matrixText = (m, i, j) => {
  const [win, draw, loss] = [m.win, m.draw, m.loss].map((shares) => percent(shares[i][j]));
  return t("matrix.cell", { pair: pairOf(m, i, j), win, draw, loss });
};

/** @type {(a: string, b: string) => boolean} */
const differByOne = (a, b) => a !== b && a.length === b.length && [...a].filter((x) => !b.includes(x)).length === 1;

/**
 * The share of wins if one animal is swapped for another.
 * @param {Api.Matrix} m
 * @param {number} i
 * @param {number} j
 */
function swaps(m, i, j) {
  swapOf = [size, i, j];
  const pair = pairOf(m, i, j);
  const base = m.win[i][j] - m.loss[i][j];
  const swap = (/** @type {string} */ text, /** @type {number} */ a, /** @type {number} */ b) => {
    const isOther = shade(m.win[a][b], m.loss[a][b]) !== shade(m.win[i][j], m.loss[i][j]);
    return { text, win: m.win[a][b], change: m.win[a][b] - m.loss[a][b] - base, isOther };
  };
  const white = m.white.flatMap((name, k) =>
    differByOne(name, m.white[i]) ? [swap(t("matrix.insteadw", { a: m.white[i], b: name }), k, j)] : [],
  );
  const [own, lower] = [m.black[j], m.black.map((name) => name.toLowerCase())];
  const black = m.black.flatMap((name, k) =>
    differByOne(name, own) ? [swap(t("matrix.insteadb", { a: lower[j], b: lower[k] }), i, k)] : [],
  );
  const rows = [...white, ...black].sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  $("#swaps")?.replaceChildren(
    h("p", {}, h("strong", {}, matrixText(m, i, j))),
    bar(
      button(t("random.of", { pair }), () => randomPosition({ material: pair })),
      button(t("counts"), () => {
        $("#materialin").value = pair;
        shown = "";
        draw(pair);
        $("#countshead").scrollIntoView();
      }),
    ),
    scrolled(
      { "aria-label": t("matrix.swaps") },
      table(
        t("matrix.swaps"),
        [t("matrix.swaps"), t("wins"), t("change"), ""],
        rows
          .slice(0, 24)
          .map(({ text, win, change, isOther }) =>
            row([
              text,
              percent(win),
              `${change > 0 ? "▲ +" : "▼ −"}${Math.abs(change * 50).toFixed(0)}`,
              isOther ? h("span", { class: "badge-note" }, t("rules.changes")) : "",
            ]),
          ),
        { id: "swaptable" },
      ),
    ),
  );
}
