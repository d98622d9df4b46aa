// Play: the choice of side, opponent and clock, the state of the game, and the games that this browser keeps.

import { app, control, emit, load, mayLeave, on, pieces, refresh } from "./app.js";
import { nextTask } from "./class.js";
import { Game } from "./game.js";
import { saveGame } from "./game-text.js";
import { LEVELS, TIMES } from "./levels.js";
import { Match } from "./match.js";
import { accuracies } from "./panel-review.js";
import { pieceIcon } from "./pieces.js";
import { boardOf, index, isWhite, otherTurn, START } from "./position.js";
import { rulesText } from "./rules.js";
import { isKeeping } from "./storage.js";
import { fullMoves } from "./status.js";
import { deleteGame, isElsewhere, onStoredElsewhere, storedGames } from "./store.js";
import {
  $,
  announce,
  bar,
  button,
  checkbox,
  described,
  h,
  inTurn,
  labelled,
  levelName,
  percent,
  renew,
  section,
  select,
  side,
  t,
  toast,
} from "./ui.js";
import { parseTree } from "./variations.js";

export const key = "play";

/** @type {Record<string, string>} */
const RESULTS = { white: "1–0", black: "0–1" };

/** The choices of the form, with which the next game begins. */
const choice = { you: "w", level: "C", time: "", turning: false, from: "start" };
/** @type {Match | null} The current game, or the game that has just ended. */
let match = null;

export function startPlay() {
  on("match", (now) => {
    match = now;
    redraw();
  });
  on("gameover", showResult);
  on(["tree", "jump", "rules"], redraw);
  window.addEventListener("pagehide", () => app.controller?.isRunning?.() && app.controller.store?.());
  onStoredElsewhere(() => {
    if (match && app.controller === match && isElsewhere(match.id)) {
      app.notice = t("notice.othertab");
      leave();
    }
    redraw();
  });
}

const redraw = () => renew("#play", content);

export const build = () => [h("div", { id: "play", class: "play", tabindex: -1 }, content())];

function content() {
  // The game on the board: the current one, or the one that has ended there.
  const game = app.controller === match ? match : app.finished;
  return [game ? gameSection(game) : setupSection(), storedSection()];
}

/** @param {keyof typeof choice} name */
const choose = (name) => (/** @type {string | boolean} */ value) => {
  Object.assign(choice, { [name]: value });
  redraw();
};

/** @param {string} piece */
const disc = (piece) => pieceIcon(piece, app.settings.pieces, app.spelled);

/**
 * Radio buttons: values with their labels.
 * @param {"you" | "level"} name
 * @param {string} label
 * @param {[string, ...Page.Child[]][]} values
 */
function radios(name, label, values) {
  const radio = (/** @type {string} */ value) => {
    const attributes = { type: "radio", name, id: `${name}-${value}`, value, checked: choice[name] === value };
    return h("input", { ...attributes, onchange: () => choose(name)(value) });
  };
  const labels = values.map(([value, ...shown]) => h("label", {}, radio(value), shown));
  return h("fieldset", { class: `choice ${name}` }, h("legend", {}, label), labels);
}

/** The opponents as discs, and a sentence on the chosen one. */
function levels() {
  /** @type {(level: { key: string }) => [string, ...Page.Child[]]} */
  const level = ({ key: name }) => [name, disc(name.toLowerCase()), h("span", {}, levelName(name))];
  return [
    radios("level", t("play.opponent"), LEVELS.map(level)),
    h("p", { id: "leveltext" }, t(`level.${choice.level}.what`)),
  ];
}

/** @param {string} value */
function timeText(value) {
  const [minutes, seconds] = value.split("+");
  return value ? t("play.clock", { minutes, seconds }) : t("play.noclock");
}

function setupSection() {
  const two = choice.you === "both";
  /** @type {(name: "time" | "from", values: string[], text: (value: string) => string) => HTMLElement} */
  const list = (name, values, text) =>
    h("label", {}, h("span", {}, t(`play.${name}`)), select(values, choice[name], choose(name), { id: name }, text));
  return section(
    "playhead",
    t("play.head"),
    radios("you", t("play.you"), [
      ["w", disc("L"), side("w")],
      ["b", disc("l"), side("b")],
      ["random", t("play.random")],
      ["both", t("play.both")],
    ]),
    two ? "" : levels(),
    h(
      "div",
      { class: "fields" },
      list("time", TIMES, timeText),
      list("from", ["start", "board"], (value) => t(`play.from.${value}`)),
      two ? checkbox(t("play.turning"), choice.turning, choose("turning"), { id: "turning" }) : "",
    ),
    h("p", { id: "rulestext", class: "soft" }, rulesText(app.chosen)),
    bar(button(t("play.start"), () => begin(), { id: "playstart", class: "main big" })),
  );
}

/** Begins a game as chosen, or with other choices. */
export function begin(more = {}) {
  const { from, ...setup } = { ...choice, ...more };
  if (from === "board" && !pieces()) return toast(t("error.bad_fen"));
  if (setup.you === "random") setup.you = Math.random() < 0.5 ? "w" : "b";
  app.broken = null;
  // A puzzle has rules of its own, which are not those of the next game.
  if (from === "start") app.game.reset(START, { rules: app.chosen });
  else app.game.reset(app.game.cursor.fen);
  emit("rules");
  emit("jump");
  announce(setup.you === "both" ? t("play.both") : t("match.begin", { side: side(setup.you) }));
  return open(new Match(setup));
}

/** @param {Match} game */
function open(game) {
  match = game;
  return game.begin();
}

/**
 * Another game from the same position: with exchanged sides, or against another opponent.
 * @param {Match} game
 * @param {{ you?: string, level?: string }} [change]
 */
function rematch({ setup: last }, change = { you: last.you === "both" ? "both" : otherTurn(last.you) }) {
  const setup = { ...last, ...change };
  $("#gameover").close();
  app.game.reset(app.game.start(), { limit: app.game.limit });
  emit("jump");
  return open(new Match(setup));
}

/** @param {Match & { endgame?: import("./trainer.js").Endgame }} game */
function gameSection(game) {
  const { you, level, trainer } = game.setup;
  const against = t("match.facts", { side: side(you), name: levelName(level) });
  const facts = trainer ? game.endgame?.title || t("trainer") : you === "both" ? t("play.both") : against;
  const buttons = game.result
    ? [...resultButtons("panel", game), button(t("save.text"), () => save(game))]
    : [button(t("match.leave"), leave, { id: "leavegame" })];
  return section(
    "playhead",
    t("play.head"),
    h("p", { id: "playstate" }, inTurn([facts, game.result && game.headline()])),
    game.isKept ? "" : unkept(game),
    bar(buttons),
  );
}

/** The message that the browser does not keep a game, and a button that saves it as a file. @param {Match} game */
const unkept = (game) =>
  h(
    "p",
    { class: "unkept", role: "alert" },
    t("stored.refused"),
    " ",
    button(t("save.text"), () => save(game)),
  );

function leave() {
  control(null);
  return refresh();
}

/**
 * Whether a game was a task of a class, and another task is open.
 * @param {Match & { endgame?: import("./trainer.js").Endgame } | null} game
 */
export const isTask = (game) => game?.endgame?.title !== undefined && nextTask() !== undefined;

/**
 * The buttons after a game; `place` distinguishes the buttons of the panel from those of the dialog.
 * @param {string} place
 * @param {Match & { endgame?: import("./trainer.js").Endgame }} game
 */
function resultButtons(place, game) {
  if (game.endgame)
    return [
      trainerButton(place, isTask(game) ? "class.next" : "trainer.start", null),
      trainerButton(place, "exercise.again", game.endgame),
    ];
  const stronger = game.isWon() && LEVELS[LEVELS.findIndex(({ key: name }) => name === game.setup.level) + 1]?.key;
  const goOn = () => stronger && rematch(game, { level: (choice.level = stronger) });
  const review = () => {
    $("#gameover").close();
    emit("review");
  };
  return [
    stronger ? button(t("match.next", { name: levelName(stronger) }), goOn, { id: `${place}next`, class: "main" }) : "",
    button(t("match.rematch"), () => rematch(game), { id: `${place}rematch`, class: stronger ? null : "main" }),
    button(t("match.review"), review, { id: `${place}review` }),
    button(t("play.new"), newGame, { id: `${place}new` }),
  ];
}

/**
 * @param {string} place
 * @param {string} label
 * @param {import("./trainer.js").Endgame | null} endgame the endgame to try again; null for another one
 */
const trainerButton = (place, label, endgame) =>
  button(
    t(label),
    () => {
      $("#gameover").close();
      emit("train", endgame);
    },
    { id: place + (endgame ? "again" : "train"), class: endgame ? null : "main" },
  );

function newGame() {
  app.finished = null;
  $("#gameover").close();
  emit("opentab", "play");
  redraw();
}

/**
 * Saves a game as a file: the game on the board, or a stored one.
 * @param {Pick<Page.StoredGame, "date" | "result" | "setup">} match
 */
function save({ date, result, setup }, game = app.game) {
  const engine = `dsq (${levelName(setup.level)})`;
  const players = setup.you === "w" ? [t("match.you"), engine] : [engine, t("match.you")];
  const names = [
    ["White", players[0]],
    ["Black", players[1]],
  ];
  const tags = [...(setup.you === "both" ? [] : names), ["Date", date.slice(0, 10).replaceAll("-", ".")]];
  return saveGame(game, { tags, result });
}

/**
 * The pieces beside a result: the moved piece if its side has won, else the winner's lion; for a draw both lions.
 * @param {Match} game
 */
function heroes({ result, node }) {
  if (!result?.winner) return ["L", "l"];
  const piece = node.uci && boardOf(node.fen).squares[index(node.uci.slice(2))];
  const white = result.winner === "white";
  return [piece && isWhite(piece) === white ? piece : white ? "L" : "l"];
}

/** The accuracy of both players, once the review of the game has found it. @param {Match} game */
function accuracy({ setup: { you, level } }) {
  const host = h(
    "p",
    { id: "gameaccuracy", class: "soft", role: "status" },
    labelled(t("review.accuracy"), t("working")),
  );
  const name = (/** @type {"white" | "black"} */ color) =>
    you === "both" ? t(color) : you === color[0] ? t("match.you") : levelName(level);
  accuracies().then(
    (found) => {
      const of = (/** @type {"white" | "black"} */ color) =>
        found[color] !== null && `${name(color)} ${percent(found[color])}`;
      host.textContent = labelled(t("review.accuracy"), described([of("white"), of("black")]));
    },
    () => host.remove(),
  );
  return host;
}

/** The result of a game as a dialog: the winner, the reason, and the next choices. @param {Match} game */
function showResult(game) {
  const dialog = $("#gameover");
  const won = game.isWon();
  const { hints, takebacks } = game;
  const head = t(
    won === null ? (game.result?.winner ? "match.over" : "match.drawn") : won ? "match.won" : "match.lost",
  );
  dialog.replaceChildren(
    h("p", { class: "icons" }, heroes(game).map(disc)),
    h("h2", { id: "gameoverhead" }, head),
    h("p", { id: "gameovertext" }, game.headline()),
    h("p", { class: "soft" }, t("match.summary", { n: fullMoves(game.node.ply), hints, takebacks })),
    game.setup.trainer ? "" : accuracy(game),
    game.isKept || game.setup.trainer ? "" : unkept(game),
    bar(
      resultButtons("", game),
      button(t("close"), () => dialog.close(), { id: "closeresult" }),
    ),
  );
  // The button that has ended the game is gone, so the board takes the keys.
  dialog.onclose = () =>
    document.activeElement?.matches("body, #gameover *") &&
    app.board.cellOf(app.board.focused).focus({ preventScroll: true });
  dialog.showModal();
  announce(inTurn([head, game.headline()]));
}

/** @param {Page.StoredGame} game */
const resultOf = ({ result }) => (result ? (RESULTS[result.winner ?? ""] ?? "½–½") : "…");

/** @param {Page.StoredGame} game */
function storedLabel(game) {
  const { you, level } = game.setup;
  /** @type {Intl.DateTimeFormatOptions} */
  const form = { dateStyle: "medium", timeStyle: "short" };
  const date = new Date(game.date).toLocaleString(document.documentElement.lang, form);
  const who = you === "both" ? t("play.both") : t("stored.against", { name: levelName(level) });
  return t("stored.label", { date, who, n: fullMoves(game.plies), result: resultOf(game) });
}

function storedSection() {
  const games = storedGames().filter(({ id }) => id !== match?.id || app.controller !== match);
  const row = (/** @type {Page.StoredGame} */ game) => {
    const label = storedLabel(game);
    const forget = () => {
      deleteGame(game.id);
      redraw();
    };
    return h(
      "li",
      { "data-game": game.id },
      button(label, () => openStored(game), { class: "plain" }),
      game.result ? "" : button(t("stored.continue"), () => goOn(game), { class: "continue" }),
      button(t("stored.export"), () => exportStored(game), { "aria-label": labelled(t("stored.export"), label) }),
      button(t("stored.delete"), forget, { "aria-label": labelled(t("stored.delete"), label) }),
    );
  };
  return section(
    "storedhead",
    t("stored"),
    games.length
      ? h("ul", { class: "stored scroll", id: "stored" }, games.map(row))
      : h("p", { class: "soft" }, t(isKeeping() ? "stored.none" : "stored.refused")),
  );
}

/** The stored game as one to be shown. @param {Page.StoredGame} game */
const loaded = ({ start, rules, limit, line }) => ({ start, rules, limit, moves: parseTree(line) });

/** Shows a stored game at its end, with its result. @param {Page.StoredGame} game */
async function openStored(game) {
  if (!(await mayLeave())) return undefined;
  load(loaded(game), Infinity);
  if (game.result) {
    match = new Match(game.setup, game);
    match.result = game.result;
    app.finished = match;
  }
  redraw();
  return refresh();
}

/** @param {Page.StoredGame} game */
async function goOn(game) {
  if (!(await mayLeave())) return undefined;
  load(loaded(game), Infinity);
  return open(new Match(game.setup, game));
}

/**
 * Continues the game that this entry of the browser's history belongs to, if it is not over; null without one.
 * @param {Page.Kept} identity as `Match.identity` returns it
 */
export function resume({ id, date, setup }) {
  if (typeof id !== "string" || !setup) return null;
  const stored = storedGames().find((game) => game.id === id);
  if (stored?.result) return null;
  if (stored) load(loaded(stored), Infinity);
  return open(new Match(setup, { id, date, left: stored?.left }));
}

/** The last game of this browser that is not over, with its label; null if there is none. */
export function unfinished() {
  const game = storedGames().find(({ result }) => !result);
  return game ? { label: storedLabel(game), resume: () => goOn(game) } : null;
}

/** @param {Page.StoredGame} stored */
function exportStored(stored) {
  const { start, moves, ...terms } = loaded(stored);
  const game = new Game(start, terms);
  game.read(game.root, moves);
  save(stored, game);
}
