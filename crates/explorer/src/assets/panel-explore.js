// Explanations of a value: overlays on the board, other rules, fortresses, the decision tree.

import { get } from "./api.js";
import { app, append, emit, fen, on, params, pieces, turn, useRules } from "./app.js";
import { because, clauseSquares, clauseText } from "./clauses.js";
import { icon } from "./icons.js";
import { Owner } from "./owner.js";
import { boardOf, index, isWhite, name } from "./position.js";
import {
  $,
  animal,
  asTable,
  button,
  errorText,
  fillWith,
  h,
  inWords,
  labelled,
  listed,
  moveText,
  number,
  pieceName,
  renew,
  result,
  row,
  scrolled,
  section,
  side,
  sidedChip,
  t,
  table,
  toast,
  valueSymbol,
} from "./ui.js";

export const key = "explore";
const OVERLAYS = ["none", "whatif", "race", "fortress"];

export function build() {
  const shown = app.overlay?.name.split(":")[0] ?? "none";
  const choice = (/** @type {string} */ name) => {
    const onchange = () => choose(name);
    const radio = h("input", { type: "radio", name: "overlay", value: name, checked: shown === name, onchange });
    return h("label", {}, radio, t(`overlay.${name}`));
  };
  return [
    section(
      "overlayhead",
      t("overlay"),
      h(
        "div",
        { class: "bar", role: "radiogroup", "aria-labelledby": "overlayhead", id: "overlays" },
        OVERLAYS.map(choice),
      ),
      h("div", { id: "overlaytext" }),
    ),
    h(
      "div",
      { class: "pair" },
      section("ruleshead", t("rules.side"), h("div", { id: "presets" })),
      section("treehead", t("tree"), h("div", { id: "decision" })),
    ),
  ];
}

export function update() {
  kept = null;
  drawPresets();
  drawTree();
}

/** Switches an overlay on: "none", "whatif", "whatif:d2", "race" or "fortress". @param {string} wanted */
export function choose(wanted) {
  if (kept) keep(kept);
  const [kind, square] = wanted.split(":");
  if (!OVERLAYS.includes(kind) || kind === "none") app.overlay = null;
  else if (kind === "whatif") {
    const { squares } = boardOf(fen());
    const first = squares.findIndex((piece) => piece && isWhite(piece) === (turn() === "w"));
    const picked = square && squares[index(square)] ? index(square) : (app.board.selected ?? first);
    app.overlay = picked < 0 ? { name: kind } : { name: `whatif:${name(picked)}`, letter: squares[picked] ?? "" };
  } else app.overlay = { name: kind };
  for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("#overlays input")))
    input.checked = input.value === (app.overlay ? kind : "none");
  emit("overlay");
  return draw();
}

export function startOverlays() {
  on("position", () => drawings.drop());
  on(["probe", "language"], draw);
  on("tab", () => kept && keep(kept));
}

const drawings = new Owner();

/** Requests the data of the overlay and draws it on the board. */
async function draw() {
  const { overlay, board } = app;
  /** @type {() => Promise<Drawn>} */
  const make = async () => {
    if (!overlay) return { board: null, text: [h("p", { class: "soft" }, t("overlay.help"))] };
    return DRAWINGS[overlay.name.split(":")[0]](overlay);
  };
  /** @type {(error: Page.Problem) => Drawn} */
  const failed = (error) => ({ board: null, text: [h("p", { class: "error" }, errorText(error))] });
  const wait = () => renew("#overlaytext", () => [h("p", { class: "soft" }, t("working"))]);
  const shown = await drawings.ask(make, wait).catch(failed);
  board.overlay = shown.board;
  board.render();
  renew("#overlaytext", () => shown.text);
}

/**
 * What an overlay draws on the board, and what it says below.
 * @typedef {{ board: import("./board.js").Overlay | null, text: Page.Child[] }} Drawn
 * @type {Record<string, (overlay: NonNullable<Page.App["overlay"]>) => Promise<Drawn>>}
 */
const DRAWINGS = { whatif: drawWhatIf, race: drawRace, fortress: drawFortress };

const isPending = () => app.probe?.pending;
/** @type {() => Drawn} */
const untold = () => ({ board: {}, text: [h("p", { class: "soft" }, t(isPending() ? "working" : "error.no_table"))] });

/**
 * The value of the position with the piece on each square, as a table.
 * @param {Map<number, Api.WhatIf["squares"][number]>} values
 */
function whatIfTable(values) {
  const cell = (/** @type {number} */ at) => {
    const entry = values.get(at);
    return entry?.value
      ? h("span", { title: labelled(name(at), inWords(entry.value)) }, valueSymbol(entry.value))
      : h("span", { title: entry?.reason ? t(`why.${entry.reason}`) : null }, "·");
  };
  const ranks = [8, 7, 6, 5, 4, 3, 2, 1, 0].map((rank) =>
    row([rank + 1, ...Array.from({ length: 7 }, (_, file) => cell(rank * 7 + file))]),
  );
  return h(
    "details",
    { class: "astable" },
    h("summary", {}, t("astable")),
    table(t("overlay.whatif"), ["", ..."abcdefg"], ranks, { class: "whatmap" }),
  );
}

/** @type {typeof DRAWINGS[string]} */
async function drawWhatIf(overlay) {
  const { squares } = boardOf(fen());
  if (!squares.some(Boolean) || (!app.probe?.known && pieces() > app.largest)) return untold();
  let square = squares.indexOf(overlay.letter ?? "");
  if (square < 0) square = squares.findIndex(Boolean);
  overlay.letter = squares[square] ?? "";
  overlay.name = `whatif:${name(square)}`;
  emit("overlay");
  const map = await get("whatif", params({ piece: name(square) }));
  const values = new Map(map.squares.map((entry) => [index(entry.square), entry]));
  const picks = squares.flatMap((piece, at) =>
    piece
      ? [
          button(pieceName(piece), () => choose(`whatif:${name(at)}`), {
            "data-key": name(at),
            "aria-pressed": String(at === square),
            "aria-label": `${pieceName(piece)} ${name(at)}`,
          }),
        ]
      : [],
  );
  const count = (/** @type {string} */ wdl) => map.squares.filter(({ value }) => value?.wdl === wdl).length;
  const sentence = t("whatif.sentence", {
    piece: pieceName(overlay.letter ?? ""),
    side: side(turn()),
    win: count("win"),
    draw: count("draw"),
    loss: count("loss"),
  });
  return {
    board: { values, square },
    text: [
      h("p", {}, t("whatif.pick")),
      h("div", { class: "bar picks" }, picks),
      h("p", { id: "whatiftext" }, sentence),
      whatIfTable(values),
    ],
  };
}

const COLORS = /** @type {const} */ (["white", "black"]);

/** @type {typeof DRAWINGS[string]} */
async function drawRace() {
  const race = await get("race", params());
  const ways = COLORS.map((color) => ({ ...race[color], color, squares: race[color].path.map(index) }));
  const draw = (/** @type {Board} */ board) => {
    for (const { color, squares } of ways) if (squares.length > 1) board.path(squares, color[0]);
  };
  const parts = [race.first ? t("race.first", { side: side(race.first) }) : t("race.none")];
  if (race.parity) parts.push(t(`race.${race.parity}`));
  const table = asTable(
    t("astable"),
    [t("side"), t("piece.head"), t("race.moves"), t("ply"), t("race.path")],
    ways.map(({ color, piece, steps, plies, path }) => [
      side(color),
      piece ? animal(piece) : "–",
      steps ?? "–",
      plies ?? "–",
      path.join(" "),
    ]),
    t("overlay.race"),
  );
  const text = ways.map(({ color, piece, steps }) => {
    const values = { side: side(color), animal: piece && animal(piece), steps };
    const key = h("span", { class: `key ${color}` }, color === "white" ? "━━ " : "╍╍ ");
    return h("p", {}, key, t(piece ? "race.way" : "race.noway", values));
  });
  const say = (/** @type {number} */ square) =>
    ways.flatMap(({ color, squares }) => (squares.includes(square) ? [t("race.onpath", { side: side(color) })] : []));
  return {
    board: { draw, say },
    text: [...text, h("p", { id: "racetext" }, parts.join(" ")), h("p", { class: "soft" }, t("race.note")), table],
  };
}

/** @type {typeof DRAWINGS[string]} */
async function drawFortress() {
  if (!app.probe?.known) return untold();
  const node = app.game.cursor;
  const fortress = app.probe.value?.wdl === "draw" && (await get("fortress", params()));
  if (!fortress || !fortress.draw) return { board: {}, text: [h("p", { id: "fortresstext" }, t("fortress.nodraw"))] };
  const { defender, cycle, squares } = fortress;
  const held = (defender && squares[defender]) ?? [];
  const defending = { side: side(defender ?? ""), squares: listed(held) };
  const draw = (/** @type {Board} */ board) => held.forEach((square) => board.tintSquare(index(square), "hold"));
  const from = fortress.repeats_from ?? 0;
  const moves = cycle.map(({ san }) => moveText(san));
  const text = [
    h("p", { id: "fortresstext" }, t("fortress.sentence", { n: cycle.length - from })),
    held.length ? h("p", {}, t("fortress.squares", defending)) : "",
    h("p", { id: "fortresswhy" }, fortressText(fortress)),
    h("p", {}, ...moves.slice(0, from).map((move) => `${move} `), h("strong", {}, `⟳ ${moves.slice(from).join(" ")}`)),
    button(t("fortress.play"), () =>
      append(
        cycle.map(({ uci }) => uci),
        node,
      ),
    ),
  ];
  const say = (/** @type {number} */ square) => (held.includes(name(square)) ? [t("fortress.on", defending)] : []);
  return { board: { draw, say }, text };
}

/** How the defender holds the draw, in a sentence. @param {Api.Fortress} fortress */
function fortressText({ defender, squares }) {
  if (app.probe && !app.probe.moves?.length) return t("fortress.stuck", { side: side(app.probe.turn) });
  const held = squares?.[defender ?? "white"];
  if (!held) return t("fortress.unlisted");
  const other = side(defender === "white" ? "b" : "w");
  return t(held.length <= 12 ? "fortress.needs" : "fortress.many", {
    side: t(defender ?? ""),
    other,
    squares: listed(held),
    n: held.length,
  });
}

const asking = { presets: new Owner(), tree: new Owner() };

function drawPresets() {
  return fillWith($("#presets"), asking.presets, async () => {
    if (pieces() > app.largest) return h("p", { class: "soft" }, t("error.no_table"));
    const { presets } = await get("rulesets", { fen: fen(), rules: app.rules });
    /** @type {(preset: typeof presets[number]) => HTMLElement} */
    const presetRow = ({ name, rules, known, value, changes_result: isOther }) => {
      const choice = { class: "plain", "data-key": name, title: rules };
      const chip = known ? sidedChip(value, turn()) : h("span", { class: "soft" }, t("notable"));
      const other = isOther ? [" ", h("span", { class: "badge-note" }, t("rules.changes"))] : "";
      const attributes = { "data-preset": name, class: name === app.rules ? "now" : null };
      return row([button(t(`rules.${name}`), () => useRules(name), choice), [chip, other]], attributes);
    };
    return table(t("rules.side"), [t("rules"), t("value")], presets.map(presetRow));
  });
}

/** The result of a leaf in words; labels are for the side to move. @param {string} label */
function treeResult(label) {
  if (label !== "win" && label !== "loss") return t("tree.result.draw");
  const [own, other] = turn() === "w" ? ["w", "b"] : ["b", "w"];
  return t("score.wins", { side: side(label === "win" ? own : other) });
}

/** Marks on the board the squares that a test of the tree is about. @param {Api.Clause} test */
function mark(test) {
  const { pieces, region } = clauseSquares(test, fen());
  app.board.overlay = {
    draw: (/** @type {Board} */ board) => {
      for (const square of region) board.tintSquare(square, "hold");
      for (const square of pieces) board.tintSquare(square, "subject");
    },
  };
  app.board.render();
}

/** @type {Api.Clause | null} The question of the tree that the board keeps showing. */
let kept = null;

/** The board as it was before a question was pointed at. */
const unmark = () => (kept ? mark(kept) : draw());

/** Keeps the marks of a question on the board, or removes them if they are kept. @param {Api.Clause} test */
function keep(test) {
  kept = test.text === kept?.text ? null : test;
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#decision .marker")))
    element.setAttribute("aria-pressed", String(element.dataset.test === kept?.text));
  unmark();
  if (!kept) return;
  toast(clauseText(kept));
  $("#board").scrollIntoView({ block: "nearest" });
}

/** A button that marks the squares of a question on the board, for users without a pointer. @param {Api.Clause} test */
const marker = (test) =>
  button(icon("eye"), () => keep(test), {
    class: "marker",
    "data-test": test.text,
    "aria-label": t("tree.mark", { test: clauseText(test) }),
    "aria-pressed": String(test.text === kept?.text),
  });

function drawTree() {
  return fillWith($("#decision"), asking.tree, async () => {
    if (pieces() > 3) return h("p", { class: "soft" }, t("tree.toomany"));
    const tree = await get("tree", params());
    const nodes = new Map(tree.nodes.map((node) => [node.id, node]));
    const nodeOf = (/** @type {number | null | undefined} */ id) => /** @type {Api.TreeNode} */ (nodes.get(id ?? -1));
    /** @type {(node: Api.TreeNode, answer: string | null) => HTMLElement} */
    const walk = ({ id, test, feature, label, yes, no }, answer) => {
      const lit = tree.path.includes(id);
      const text = h(
        "span",
        { class: "node", title: feature },
        answer ? labelled(t(answer), "") : "",
        test ? clauseText(test) : h("strong", {}, t(`leaf.${label}`)),
      );
      if (!test) return h("li", { class: lit ? "lit" : null }, text);
      const on = () => mark(test);
      const marks = { onmouseenter: on, onfocus: on, onmouseleave: unmark, onblur: unmark };
      const branches = h("ul", {}, walk(nodeOf(yes), "yes"), walk(nodeOf(no), "no"));
      const details = h("details", { open: lit }, h("summary", marks, text), branches);
      return h("li", { class: lit ? "lit" : null }, marker(test), details);
    };
    const root = nodeOf(tree.path[0] ?? tree.nodes[0].id);
    const { label } = nodeOf(tree.path.at(-1));
    // A tree is a rule of thumb; the tables are right.
    const isWrong = tree.value && tree.value.wdl !== label;
    const said = treeResult(label);
    const sentence = isWrong
      ? h("span", { id: "treewrong" }, t("tree.wrong", { result: result(tree.value, turn()), said }))
      : because(said, tree);
    return [
      h("p", { id: "treesentence" }, sentence),
      h(
        "p",
        { class: "soft" },
        t("tree.accuracy", {
          wrong: number(tree.misclassified),
          all: number(tree.positions),
          n: number(tree.nodes.length),
        }),
      ),
      h("p", { class: "soft" }, t("tree.marks")),
      scrolled({ class: "tree scroll", "aria-labelledby": "treehead" }, h("ul", {}, walk(root, null))),
    ];
  });
}
