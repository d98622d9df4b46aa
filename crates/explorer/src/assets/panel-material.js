// A material's counts and histogram, the longest lines, and the matrix of materials.

import { get } from "./api.js";
import { addBestLine, app, fen, randomPosition, setPosition } from "./app.js";
import { material } from "./position.js";
import { $, asTable, button, described, errorText, h, labelled, number, percent, s, side, t } from "./ui.js";

export const key = "material";
let shown = "";
let turn = "white";
let logarithmic = true;
let size = "1v1";
/** @type {[string, number, number] | null} */
let swapOf = null;

export function build() {
  shown = "";
  return [
    section(
      "countshead",
      t("counts"),
      h("div", { class: "bar" }, materialInput(), turnSelect(), scaleBox()),
      h("div", { id: "stats" }),
    ),
    section("longesthead", t("longest"), h("p", { class: "soft" }, t("longest.help")), h("div", { id: "longest" })),
    section("matrixhead", t("matrix"), h("div", { class: "bar" }, sizeSelect()), h("div", { id: "matrix" })),
  ];
}

/**
 * @param {string} id
 * @param {string} title
 * @param {...any} content
 */
const section = (id, title, ...content) => h("section", { "aria-labelledby": id }, h("h3", { id }, title), content);

const materialInput = () =>
  h(
    "label",
    {},
    t("material"),
    " ",
    h("input", {
      id: "materialin",
      size: 9,
      value: material(fen()),
      spellcheck: "false",
      autocomplete: "off",
      onchange: (/** @type {any} */ event) => {
        shown = "";
        draw(event.target.value.trim());
      },
    }),
  );

const turnSelect = () =>
  h(
    "label",
    {},
    t("tomove.short"),
    " ",
    h(
      "select",
      {
        id: "statsturn",
        onchange: (/** @type {any} */ event) => {
          turn = event.target.value;
          redraw();
        },
      },
      ["white", "black"].map((c) => h("option", { value: c, selected: c === turn }, side(c))),
    ),
  );

const scaleBox = () =>
  h(
    "label",
    {},
    h("input", {
      type: "checkbox",
      checked: logarithmic,
      onchange: (/** @type {any} */ event) => {
        logarithmic = event.target.checked;
        redraw();
      },
    }),
    t("logarithmic"),
  );

const sizeSelect = () =>
  h(
    "label",
    {},
    t("matrix.size"),
    " ",
    h(
      "select",
      {
        id: "matrixsize",
        onchange: (/** @type {any} */ event) => {
          size = event.target.value;
          drawMatrix();
        },
      },
      ["1v1", "2v1", "1v2", "2v2"].map((value) => h("option", { value, selected: value === size }, value)),
    ),
  );

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
export const renew = () => {
  shownRules = null;
  shown = "";
};

const redraw = () => {
  const was = shown;
  shown = "";
  draw(was.split("|")[0] || $("#materialin").value);
};

/**
 * @param {string} wanted
 */
async function draw(wanted) {
  const id = `${wanted}|${app.rules}`;
  if (id === shown) return;
  shown = id;
  const host = $("#stats");
  if (wanted.length - 1 > app.largest) {
    host.replaceChildren(h("p", { class: "soft" }, t("stats.toomany")));
    return drawLongest("");
  }
  try {
    const stats = await get(`stats/${encodeURIComponent(wanted)}`, { rules: app.rules });
    if (shown !== id) return;
    host.replaceChildren(...counts(stats), ...histogram(stats));
  } catch (error) {
    if (shown !== id) return;
    host.replaceChildren(h("p", { class: "soft" }, errorText(error)));
  }
  drawLongest(wanted);
}

/**
 * @param {any} stats
 */
function counts(stats) {
  const row = (/** @type {"white" | "black"} */ color) => {
    const c = stats[color];
    const of = (/** @type {number} */ n) => `${number(n)} (${percent(n / Math.max(1, c.positions))})`;
    return h(
      "tr",
      { class: color === turn ? "now" : null },
      h("th", { scope: "row" }, side(color)),
      h("td", {}, number(c.positions)),
      h("td", {}, of(c.wins)),
      h("td", {}, of(c.draws)),
      h("td", {}, of(c.losses)),
      h("td", {}, number(c.longest)),
    );
  };
  return [
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": "countshead" },
      h(
        "table",
        { class: "list", id: "counts" },
        h("caption", { class: "sr" }, t("counts")),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            [t("tomove.short"), t("positions"), t("wins"), t("draws"), t("losses"), t("longestline")].map((x) =>
              h("th", { scope: "col" }, x),
            ),
          ),
        ),
        h("tbody", {}, row("white"), row("black")),
      ),
    ),
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
 * The keys of the histogram: arrows, Home and End move between bars, Enter opens one.
 * @param {any} event
 */
function moveInHistogram(event) {
  const hits = [...event.currentTarget.querySelectorAll(".hit")];
  const at = hits.indexOf(event.target);
  const to = /** @type {Record<string, number>} */ ({
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    Home: 0,
    End: hits.length - 1,
  })[event.key];
  if (event.key === "Enter" || event.key === " ") event.target.dispatchEvent(new MouseEvent("click"));
  else if (to === undefined) return;
  else if (hits[to]) {
    hits[at].setAttribute("tabindex", "-1");
    hits[to].setAttribute("tabindex", "0");
    hits[to].focus();
  }
  event.preventDefault();
  event.stopPropagation();
}

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
 * A bar for each ply: wins take an odd number of plies, losses an even one. A bar opens a position of its depth.
 * @param {any} stats
 */
function histogram(stats) {
  const data = stats[turn].by_plies;
  const bars = data
    .map((/** @type {number} */ count, /** @type {number} */ plies) => ({ count, plies }))
    .filter((/** @type {{ count: number, plies: number }} */ { count, plies }) => count && plies > 0);
  if (!bars.length) return [h("p", { class: "soft" }, t("histogram.none"))];
  const top = Math.max(...bars.map((/** @type {any} */ bar) => bar.count));
  const scale = (/** @type {number} */ count) =>
    (logarithmic ? Math.log10(count + 1) / Math.log10(top + 1) : count / top) * (H - FOOT - 10);
  const width = (W - LEFT) / (data.length - 1 || 1);
  const open = (/** @type {number} */ plies) => randomPosition({ material: stats.material, turn: turn[0], plies });
  const x = (/** @type {number} */ plies) => LEFT + (plies - 1) * width;
  const label = (/** @type {{ plies: number, count: number }} */ { plies, count }) =>
    t(plies % 2 ? "histogram.win" : "histogram.loss", { n: plies, count: number(count) });
  const ticks = logarithmic ? powers(top) : [top];
  const svg = s(
    "svg",
    {
      class: "chart histogram",
      viewBox: `0 0 ${W} ${H}`,
      role: "group",
      "aria-label": t("histogram.label", { n: bars.length }),
      onkeydown: moveInHistogram,
    },
    ticks.map((value) => [
      s("path", { class: "axis", d: `M${LEFT} ${H - FOOT - scale(value)} H${W}` }),
      s("text", { x: LEFT - 4, y: H - FOOT - scale(value) + 4, "text-anchor": "end" }, compact(value)),
    ]),
    s("path", { class: "axis", d: `M${LEFT} ${H - FOOT} H${W}` }),
    bars.map((/** @type {any} */ bar) => {
      const height = Math.max(1.5, scale(bar.count));
      return s("rect", {
        class: bar.plies % 2 ? "win" : "loss",
        x: x(bar.plies) + width * 0.08,
        y: H - FOOT - height,
        width: Math.max(0.8, width * 0.84),
        height,
      });
    }),
    bars.map((/** @type {any} */ bar, /** @type {number} */ i) =>
      s(
        "rect",
        {
          class: "hit",
          x: x(bar.plies),
          y: 0,
          width,
          height: H - FOOT,
          role: "button",
          tabindex: i ? "-1" : "0",
          "data-plies": bar.plies,
          "aria-label": label(bar),
          onclick: () => open(bar.plies),
        },
        s("title", {}, label(bar)),
      ),
    ),
    axis(data.length - 1).map((plies) =>
      s("text", { x: x(plies) + width / 2, y: H - 6, "text-anchor": "middle" }, String(plies)),
    ),
  );
  return [
    h("p", { class: "soft" }, h("strong", {}, t("histogram.title", { side: side(turn) })), " ", t("histogram.help")),
    svg,
    histogramTable(data, open),
  ];
}

/**
 * @param {number} top
 */
const powers = (top) => Array.from({ length: Math.floor(Math.log10(top)) + 1 }, (_, i) => 10 ** i);
/**
 * @param {number} value
 */
const compact = (value) => new Intl.NumberFormat("en", { notation: "compact" }).format(value);
/**
 * @param {number} last
 */
function axis(last) {
  const step = [1, 2, 5, 10, 20, 50].find((n) => last / n <= 16) ?? 100;
  const ticks = [1];
  for (let n = step === 1 ? 2 : step; n <= last; n += step) ticks.push(n);
  return ticks;
}

/**
 * @param {string} wanted
 */
async function drawLongest(wanted) {
  const host = $("#longest");
  try {
    const [own, all] = await Promise.all([
      wanted
        ? get("longest", { rules: app.rules, material: wanted, count: 2 }).catch(() => ({ lines: [] }))
        : { lines: [] },
      get("longest", { rules: app.rules, count: 6 }),
    ]);
    const lines = [...own.lines, ...all.lines].filter(
      (line, i, list) => list.findIndex((other) => other.fen === line.fen) === i,
    );
    const open = async (/** @type {any} */ line) => {
      await setPosition(line.fen);
      await addBestLine();
    };
    host.replaceChildren(
      h(
        "table",
        { class: "list" },
        h("caption", { class: "sr" }, t("longest")),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            [t("material"), t("ply"), t("position")].map((x) => h("th", { scope: "col" }, x)),
          ),
        ),
        h(
          "tbody",
          {},
          lines.map((line) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, line.material),
              h("td", {}, number(line.plies)),
              h(
                "td",
                {},
                button(t("longest.play"), () => open(line), {
                  "data-longest": line.plies,
                  "aria-label": labelled(t("longest.play"), described([line.material, String(line.plies)])),
                }),
              ),
            ),
          ),
        ),
      ),
    );
  } catch (error) {
    host.replaceChildren(h("p", { class: "soft" }, errorText(error)));
  }
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
  const [asked, rules] = [size, app.rules];
  host.replaceChildren(h("p", { class: "soft" }, t("working")));
  try {
    const m = await get("matrix", { rules, white, black });
    if (asked !== size || rules !== app.rules) return;
    const cell = (/** @type {number} */ i, /** @type {number} */ j) => {
      const [win, draw, loss] = [m.win[i][j], m.draw[i][j], m.loss[i][j]];
      if (win === null || win === undefined) return h("td", {}, "–");
      const pair = `${m.white[i]}v${m.black[j]}`;
      const title = t("matrix.cell", { pair, win: percent(win), draw: percent(draw), loss: percent(loss) });
      return h(
        "td",
        {},
        button(`${Math.round(win * 100)}`, () => swaps(m, i, j), {
          class: shade(win, loss),
          title,
          "aria-label": labelled(String(Math.round(win * 100)), title),
          "data-pair": pair,
        }),
      );
    };
    host.replaceChildren(
      h("p", { class: "soft" }, t("matrix.help")),
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": "matrixhead" },
        h(
          "table",
          { class: "matrix" },
          h("caption", { class: "sr" }, t("matrix")),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "W \\ B"),
              m.black.map((/** @type {string} */ name) => h("th", { scope: "col" }, name.toLowerCase())),
            ),
          ),
          h(
            "tbody",
            {},
            m.white.map((/** @type {string} */ name, /** @type {number} */ i) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, name),
                m.black.map((/** @type {any} */ _, /** @type {number} */ j) => cell(i, j)),
              ),
            ),
          ),
        ),
      ),
      h("div", { id: "swaps", "aria-live": "polite" }),
    );
    if (swapOf && swapOf[0] === size) swaps(m, swapOf[1], swapOf[2]);
  } catch (error) {
    host.replaceChildren(h("p", { class: "soft" }, errorText(error)));
  }
}

/**
 * @param {any} a
 * @param {any} b
 */
const differByOne = (a, b) => a !== b && a.length === b.length && [...a].filter((x) => !b.includes(x)).length === 1;

/**
 * The share of wins if one animal is swapped for another.
 * @param {any} m
 * @param {number} i
 * @param {number} j
 */
function swaps(m, i, j) {
  swapOf = [size, i, j];
  const pair = `${m.white[i]}v${m.black[j]}`;
  /** @type {any[]} */
  const rows = [];
  m.white.forEach(
    (/** @type {string} */ name, /** @type {number} */ k) =>
      differByOne(name, m.white[i]) && rows.push([t("matrix.insteadw", { a: m.white[i], b: name }), k, j]),
  );
  m.black.forEach(
    (/** @type {string} */ name, /** @type {number} */ k) =>
      differByOne(name, m.black[j]) &&
      rows.push([t("matrix.insteadb", { a: m.black[j].toLowerCase(), b: name.toLowerCase() }), i, k]),
  );
  const base = m.win[i][j] - m.loss[i][j];
  const change = (/** @type {[string, number, number]} */ [, a, b]) => m.win[a][b] - m.loss[a][b] - base;
  rows.sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)));
  const turned = (/** @type {any} */ row) =>
    shade(m.win[row[1]][row[2]], m.loss[row[1]][row[2]]) !== shade(m.win[i][j], m.loss[i][j]);
  $("#swaps").replaceChildren(
    h(
      "p",
      {},
      h(
        "strong",
        {},
        t("matrix.cell", { pair, win: percent(m.win[i][j]), draw: percent(m.draw[i][j]), loss: percent(m.loss[i][j]) }),
      ),
    ),
    h(
      "div",
      { class: "bar" },
      button(t("random.of", { pair }), () => randomPosition({ material: pair })),
      button(t("matrix.stats"), () => {
        $("#materialin").value = pair;
        shown = "";
        draw(pair);
        $("#countshead").scrollIntoView();
      }),
    ),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-label": t("matrix.swaps") },
      h(
        "table",
        { class: "list", id: "swaptable" },
        h("caption", { class: "sr" }, t("matrix.swaps")),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            [t("matrix.swaps"), t("wins"), t("change"), ""].map((x) => h("th", { scope: "col" }, x)),
          ),
        ),
        h(
          "tbody",
          {},
          rows
            .slice(0, 24)
            .map((row) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, row[0]),
                h("td", {}, percent(m.win[row[1]][row[2]])),
                h("td", {}, `${change(row) > 0 ? "▲ +" : "▼ −"}${Math.abs(change(row) * 50).toFixed(0)}`),
                h("td", {}, turned(row) ? h("span", { class: "badge-note" }, t("rules.changes")) : ""),
              ),
            ),
        ),
      ),
    ),
  );
}
