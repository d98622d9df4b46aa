// Starts the page: settings, header, board, tabs.

import { forget, get } from "./api.js";
import { choose as analyse, startAnalysis } from "./analysis.js";
import { app, control, emit, illegal, mayLeave, on, play, playable, refresh, step, undo, useRules } from "./app.js";
import { Board } from "./board.js";
import { startConnection } from "./connection.js";
import { edit, editKey, startEditor, toggleEditor } from "./editor.js";
import { startGauge } from "./gauge.js";
import { icon, iconButton } from "./icons.js";
import { showKeys, startKeys } from "./keys.js";
import { defaultRules, fromAddress, isEmbedded, jump, problemIn, push, settled, toAddress, write } from "./link.js";
import { startMatchBar } from "./matchbar.js";
import { startMeasure } from "./measure.js";
import { line } from "./owner.js";
import * as duels from "./panel-duels.js";
import * as endgames from "./panel-endgames.js";
import * as engine from "./panel-engine.js";
import * as explore from "./panel-explore.js";
import * as game from "./panel-game.js";
import * as home from "./panel-home.js";
import * as learn from "./panel-learn.js";
import * as material from "./panel-material.js";
import * as playing from "./panel-play.js";
import * as position from "./panel-position.js";
import * as review from "./panel-review.js";
import { during, later, startPending } from "./pending.js";
import { START } from "./position.js";
import { startPlayer } from "./player.js";
import { startRules } from "./rules.js";
import { keepSettings, readSettings } from "./settings.js";
import { startSolve } from "./solve.js";
import { startSounds } from "./sounds.js";
import { drawEntries, labelOfPanel, viewTabs } from "./tabs.js";
import { $, currentLanguage, h, inLetters, number, percent, setLanguage, setUnit, t, toast, translate } from "./ui.js";
import { startUpdates } from "./update.js";
import { entryOf, isView, noteView } from "./views.js";

/** @type {Page.Panel[]} */
const panels = [home, playing, learn, position, explore, engine, game, endgames, duels, material];

const setTheme = () => {
  if (app.settings.theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = app.settings.theme;
};

function startHeader() {
  const bind = (/** @type {string} */ id, /** @type {() => unknown} */ apply) => {
    const select = $(`#${id}`);
    select.value = String(app.settings[id]);
    select.addEventListener("change", async () => {
      app.settings[id] = select.value;
      await apply();
      keepSettings();
    });
  };
  bind("theme", setTheme);
  bind("pieces", () => {
    app.board.setStyle(app.settings.pieces);
    emit("pieces");
    buildPanel();
  });
  bind("language", chooseLanguage);
  bind("unit", () => {
    setUnit(app.settings.unit);
    speak();
  });
  $("#gear").replaceChildren(icon("gear"));
  $("#help").addEventListener("click", showKeys);
  startMeasure();
}

/** Changes the language, unless its strings cannot be loaded. */
async function chooseLanguage() {
  const before = defaultRules();
  try {
    await setLanguage(app.settings.language);
  } catch {
    app.settings.language = $("#language").value = currentLanguage();
    return toast(t("error.offline"));
  }
  speak();
  // A board that nobody has used takes the rules of the language.
  const isUnused = !app.controller && !app.broken && app.game.start() === START && !app.game.root.children.length;
  if (isUnused && app.rules === before && before !== defaultRules()) await useRules(defaultRules());
}

function startTools() {
  /** @type {(id: string, pressed: boolean | null, act: Page.Attributes["onclick"]) => HTMLElement} */
  const tool = (id, pressed, act) =>
    iconButton(id === "values" ? "eye" : id, t(`key.${id}`), act, { id, "aria-pressed": pressed?.toString() });
  $("#tools").replaceChildren(
    tool("undo", null, () => undo("undo")),
    tool("redo", null, () => undo("redo")),
    tool("flip", app.board.flipped, flip),
    tool("values", app.settings.values, ({ currentTarget }) => {
      app.board.showValues = app.settings.values = !app.settings.values;
      currentTarget.setAttribute("aria-pressed", String(app.settings.values));
      keepSettings();
      app.board.render();
    }),
    tool("edit", app.editing, () => toggleEditor()),
    h("span", { class: "space" }),
    h(
      "form",
      { class: "fenrow", onsubmit: typed },
      h("input", {
        id: "movein",
        class: "movein",
        "aria-label": t("move.type"),
        placeholder: "d2d3",
        autocomplete: "off",
        spellcheck: "false",
      }),
      h("button", { type: "submit" }, t("move.do")),
    ),
  );
  undoable();
}

function undoable() {
  $("#undo").disabled = !app.game.done.length;
  $("#redo").disabled = !app.game.undone.length;
}

/** Turns the board, also if a game has turned it. */
function flip() {
  app.settings.flipped = !app.board.flipped;
  app.board.flip(app.settings.flipped);
  keepSettings();
  emit("flip");
}

const pressedFlip = () => $("#flip").setAttribute("aria-pressed", String(app.board.flipped));

/** A typed move: `d2d3`, or as in the papers `Ed3`, `Exd3`. @param {SubmitEvent} event */
function typed(event) {
  event.preventDefault();
  const input = $("#movein");
  const text = input.value.trim();
  if (!text) return input.focus();
  const plain = inLetters(text.toLowerCase().replaceAll(/[x\- ]/g, "")).toLowerCase();
  const found = playable().find(
    (move) => move.uci === plain || move.san === text || move.san.toLowerCase().replaceAll("x", "") === plain,
  );
  if (!found) return toast(illegal(plain, text));
  input.value = "";
  play(found.uci);
}

const panel = () => panels.find((p) => p.key === app.tab) ?? panels[0];

const isPhone = () => matchMedia("(max-width: 56rem)").matches;

/** Scrolls a game or an exercise that begins into view. */
function showBegin() {
  if (!app.controller) return;
  if (isPhone()) $("main:has(#board)").scrollIntoView({ block: "start" });
  else scrollTo({ top: 0 });
  // The button that began it is gone, so the board takes the keys.
  later(() => {
    if (app.controller && document.activeElement?.matches("body, .play"))
      app.board.cellOf(app.board.focused).focus({ preventScroll: true });
  });
}

/** Opens a view. @param {string} view */
function openTab(view) {
  const isFirst = app.tab === "home";
  // What a view has asked for is not put on the board after it is left.
  if (view !== app.tab) line.drop();
  app.tab = view;
  emit("tab");
  buildPanel();
  write();
  if (!isFirst) return;
  // The button of the first choice is gone, so its tab takes the focus.
  $(`#tab-${entryOf(view)}`).focus({ preventScroll: true });
  if (isPhone()) $("#tabs").scrollIntoView({ block: "start" });
}

function buildPanel() {
  const focused = document.activeElement?.closest('[role="tab"]')?.id;
  material.renew();
  noteView(app.tab);
  drawEntries(openTab);
  const built = h("div", { role: "tabpanel", id: "panel", ...labelOfPanel() }, panel().build());
  $("#panels").replaceChildren(...viewTabs(openTab), built);
  if (focused) $(`#${focused}`)?.focus({ preventScroll: true });
  panel().update?.();
  if (app.tab === "explore") explore.choose(app.overlay?.name ?? "none");
}

/** Rewrites all strings, for another language. */
function speak() {
  translate();
  document.title = t("title");
  startTools();
  buildPanel();
  emit("language");
  app.board.render();
  refreshStatus();
}

/** The available tables as text; when it changes, the position is requested again. */
let tables = "";
async function refreshStatus() {
  try {
    const status = await get("status", {}, { keep: false });
    const solving = status.tables.find((table) => table.state === "solving");
    const ready = Math.max(0, ...status.tables.map((table) => Math.max(table.on_disk ?? 0, table.pieces)));
    app.largest = Math.max(4, ready);
    app.countable = Math.max(0, ...status.tables.map((table) => table.on_demand ?? 0));
    $("#status").textContent = solving
      ? t("status.solving", { ready: number(ready), n: solving.pieces + 1, percent: percent(solving.progress ?? 0) })
      : t("status.ready", { n: number(ready) });
    const now = JSON.stringify(status.tables.map((table) => [table.rules, table.pieces, table.state]));
    if (tables && tables !== now) {
      forget();
      if (!app.controller && (app.problem || !app.probe?.known)) refresh({ quiet: true });
      buildPanel();
    }
    tables = now;
    emit("status");
    if (solving) setTimeout(refreshStatus, 2000);
  } catch {
    $("#status").textContent = t("error.offline");
    setTimeout(refreshStatus, 5000);
  }
}

function startBoard() {
  app.board = new Board($("#board"), {
    play,
    refuse: (uci) => (app.controller ? app.controller.refuse(uci) : toast(illegal(uci))),
    edit,
    arrow: (from, to) => {
      app.board.toggleArrow(from, to);
      app.game.cursor.annotate(app.game.cursor.note, app.board.arrows);
      write();
    },
    key: (event, square) => app.editing && editKey(event, square),
    canStep: (by) => app.game.cursor.ply + by >= 0 && app.game.cursor.ply + by < app.game.line().length,
    step,
  });
  app.board.grid.id = "grid";
  app.board.style = app.settings.pieces;
  app.board.showValues = app.settings.values;
  app.board.flip(app.settings.flipped);
  $("#skip").addEventListener("click", (/** @type {Event} */ event) => {
    event.preventDefault();
    app.board.focus(app.board.focused);
  });
  on("position", () => {
    app.board.arrows = app.game.cursor.arrows;
    app.board.show(app.game.cursor.fen, app.game.cursor.uci);
    app.board.setMoves(playable());
  });
  on(["probe", "match"], () => app.board.setMoves(playable()));
  on("rules", () => app.board.setRules(app.spelled));
}

/** Whether the board shows more than the start, so that the choices of the first view do not fit. */
const isElsewhere = () => app.editing || app.game.cursor.parent || app.game.root.fen !== START;

/** Shows what the address says. */
async function open() {
  const { search } = location;
  try {
    fromAddress(search);
  } catch {
    fromAddress(search, await problemIn(search));
  }
  const { overlay } = app.wanted ?? {};
  if (!isView(app.tab) && app.tab !== "home") app.tab = "position";
  app.overlay = null;
  // A reload, and the browser's back and forward buttons, return to a game that is not over, or to an exercise.
  const kept = app.broken ? null : history.state?.owner;
  const owner = kept && (playing.resume(kept) ?? learn.resume(kept) ?? review.resume(kept));
  settled();
  if (history.state?.analysis) analyse(history.state.analysis);
  const shown = owner ? null : refresh({ quiet: true });
  buildPanel();
  if (overlay) explore.choose(overlay);
  await shown;
  // Without a server the module finds what only the library knows, such as a piece that stands twice.
  if (!app.broken && ["bad_fen", "bad_rules"].includes(app.problem?.code ?? "")) {
    fromAddress(search, app.problem);
    settled();
    await refresh({ quiet: true });
  }
  if (app.broken) toggleEditor(true);
}

/** Follows the browser's back and forward buttons. A game stays on the board until the user agrees to leave it. */
async function travel() {
  if (!app.controller?.isRunning?.()) return open();
  push();
  if (!(await mayLeave())) return;
  control(null);
  history.back();
}

/** In a frame of another page there are only the board, its moves, and a link to the whole page. */
function startEmbedding() {
  if (!isEmbedded) return;
  document.documentElement.dataset.embedded = "true";
  const link = h("a", { id: "whole", target: "_blank", rel: "noopener" });
  $("#player").after(link);
  const update = () => Object.assign(link, { href: toAddress(false), textContent: t("embed.whole") });
  on(["address", "probe", "language"], update);
}

async function start() {
  readSettings();
  setTheme();
  setUnit(app.settings.unit);
  await setLanguage(app.settings.language).catch(() => toast(t("error.offline")));
  startBoard();
  translate();
  document.title = t("title");
  startHeader();
  startRules();
  startTools();
  startPlayer();
  startEditor();
  startEmbedding();
  startKeys();
  startSounds();
  position.startResult();
  startAnalysis();
  startGauge();
  startSolve();
  startConnection();
  startUpdates();
  startMatchBar();
  playing.startPlay();
  learn.startLearn();
  home.startHome(openTab);
  explore.startOverlays();
  engine.startEngine();
  game.startGame();
  on("position", undoable);
  on(["probe", "tree"], () => {
    undoable();
    panel().update?.();
    write();
  });
  on("trimmed", () => refresh({ quiet: true }));
  on(["overlay", "analysis"], write);
  on("jump", jump);
  on("rules", material.renew);
  on(["match", "lesson", "flip"], pressedFlip);
  on("controller", showBegin);
  on("opentab", openTab);
  on("review", () => {
    openTab("game");
    $("#reviewline").focus();
    $("#reviewline").click();
  });
  on("probe", () => app.tab === "home" && isElsewhere() && openTab("position"));
  on("settings", keepSettings);
  window.addEventListener("popstate", travel);
  await open();
  refreshStatus();
  document.documentElement.dataset.ready = "true";
}

startPending();
during("the start", start());
