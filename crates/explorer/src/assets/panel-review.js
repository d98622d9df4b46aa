// Review: a graph of the evaluation, every move with its loss, the better move, and another try at mistakes.

import { app, go, load, mayLeave, on, refresh, rules, show } from "./app.js";
import { Game, MARKS } from "./game.js";
import { EXAMPLE, lineOf, readGame } from "./game-text.js";
import { legalMoves } from "./movegen.js";
import { line, Owner } from "./owner.js";
import { during } from "./pending.js";
import { colorOf, notation } from "./position.js";
import { reasonsOf } from "./reasons.js";
import { Retry } from "./retry.js";
import { reviewGame, sideAccuracy } from "./review.js";
import { scoreText, whiteShare } from "./score.js";
import { fullMoves, gameStatus } from "./status.js";
import {
  $,
  announce,
  bar,
  button,
  checkbox,
  described,
  errorText,
  h,
  labelled,
  moveText,
  percent,
  refill,
  row,
  said,
  s,
  section,
  select,
  spokenName,
  t,
  table,
  toast,
} from "./ui.js";

/** @type {Page.Reviewed[] | null} The reviewed moves of the line on the board. */
let review = null;
/** @type {string | null} The side of the user in the reviewed game; null if there is none, or both are. */
let mine = null;
/** Whether the user wants to learn from the opponent's mistakes, too. */
let theirs = false;
/** The review that is being made. */
const reviews = new Owner();
/**
 * @typedef {{ end: GameNode, moves: Promise<Page.Reviewed[]>, isWanted: boolean }} Early
 * @type {Early | null} The review of a game that has just ended, which is made before the user asks for it.
 */
let early = null;
/** @type {(() => unknown) | null} Shows a review that was finished when the board was in use. */
let ready = null;
/** The state of the review in words, and its progress from 0 to 1 while it is being made. */
let state = { text: "", share: /** @type {number | null} */ (null) };
/** What the user has written into the text field. */
let pasted = "";
/** @type {Retry | null} */
let retry = null;

export function startReview() {
  on("lesson", (now) => {
    retry = now instanceof Retry ? now : null;
    drawRetry();
  });
  on(["jump", "rules"], () => {
    review = null;
  });
  // The next game needs the engine.
  on("controller", () => {
    if (!app.controller || !early || early.isWanted) return;
    early = null;
    reviews.drop();
    tell("");
  });
}

/**
 * Asks for a better move again, as before a reload; null if the page did not.
 * @param {Page.Kept} kept as `Retry.identity` returns it
 */
export function resume({ mistake, ply }) {
  if (!mistake) return null;
  app.game.goTo(ply ?? 0);
  return new Retry(mistake).begin();
}

export const reviewSection = () =>
  section(
    "reviewhead",
    t("review"),
    h("p", { id: "reviewstate", class: "soft", role: "status" }),
    h("div", { id: "reviewbar", class: "bar" }),
    h("div", { id: "retry" }),
    h("div", { id: "reviewed" }),
    bar(button(t("review.line"), reviewLine, { id: "reviewline" })),
  );

/** Games from elsewhere: as text, or as a file. */
export function textSection() {
  const file = h("input", {
    type: "file",
    id: "gamefile",
    accept: ".txt,.pgn,.game,.json,.jsonl,.gz,text/plain",
    onchange: readFile,
  });
  const text = h("textarea", {
    id: "gametext",
    rows: 4,
    spellcheck: "false",
    "aria-labelledby": "texthead",
    placeholder: EXAMPLE,
    oninput: ({ target }) => (pasted = target.value),
  });
  text.value = pasted;
  const numbers = select([], 1, openText, { id: "gamenumber" });
  return section(
    "texthead",
    t("review.paste"),
    text,
    h("p", { id: "textstate", class: "soft", role: "status" }),
    bar(
      button(t("review.do"), reviewText, { id: "review", class: "main" }),
      button(t("review.open"), openText, { id: "opengame" }),
      h("label", { class: "filelabel" }, t("review.file"), " ", file),
      h("label", { id: "whichgame", hidden: true }, t("review.game"), " ", numbers),
    ),
  );
}

/** The state of the review, with its progress, or with a button that shows a review that is ready. */
function drawState() {
  if (!$("#reviewstate")) return;
  $("#reviewstate").textContent = state.text;
  const shown = $("#reviewprogress");
  if (shown && state.share !== null) return shown.setAttribute("value", String(state.share));
  const progress = h("progress", { id: "reviewprogress", max: 1, value: state.share, "aria-labelledby": "reviewhead" });
  const parts = ready
    ? [button(t("review.show"), ready, { id: "reviewshow", class: "main" })]
    : [progress, button(t("engine.stop"), stop, { id: "reviewstop" })];
  refill($("#reviewbar"), ready || state.share !== null ? parts : []);
}

/** Reads a file, which gzip may have compressed. @param {Event & { target: HTMLInputElement }} event */
async function readFile({ target }) {
  const [file] = target.files ?? [];
  if (!file) return;
  const packed = file.name.endsWith(".gz");
  const data = packed ? new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))) : file;
  try {
    $("#gametext").value = pasted = await during("a file", data.text());
  } catch {
    state.text = t("review.damaged");
    drawState();
  }
}

/** The text of which the list of games shows the numbers. */
let listed = "";

/** The game in the text field, the chosen one of several; null if the text is not a game, which the page reports. */
async function readText() {
  const text = $("#gametext").value;
  try {
    const game = await readGame(text, text === listed ? Number($("#gamenumber").value) : 1);
    if (!$("#gametext")) return null;
    $("#whichgame").hidden = game.games < 2;
    if (text !== listed) {
      const option = (/** @type {unknown} */ _, /** @type {number} */ i) => h("option", {}, String(i + 1));
      $("#gamenumber").replaceChildren(...Array.from({ length: game.games }, option));
      listed = text;
    }
    $("#textstate").textContent = "";
    return game;
  } catch (error) {
    if ($("#textstate")) $("#textstate").textContent = errorText(error);
    announce(errorText(error));
    return null;
  }
}

/** Puts the game in the text field on the board, with its variations and comments. */
async function openText() {
  const game = await line.ask(readText);
  return game && show(game);
}

async function reviewText() {
  const game = await line.ask(readText);
  return game && run(game);
}

/** The user's last game, if its end is on the line of the board. */
const finishedHere = () => (app.finished && app.game.line().includes(app.finished.node) ? app.finished : null);

function reviewLine() {
  for (const node of app.game.line()) node.forgetReview();
  if (early) early.isWanted = true;
  return run(lineOf(app.game), finishedHere());
}

/** Reviews the game on the board, which has just ended; returns the accuracy of both sides. */
export async function accuracies() {
  early = { end: app.game.cursor, moves: reviewed(lineOf(app.game)), isWanted: false };
  const moves = await early.moves.finally(() => tell(""));
  return { white: sideAccuracy(moves, "white"), black: sideAccuracy(moves, "black") };
}

/** @typedef {ReturnType<typeof lineOf>} Written a game as files contain it */

/** The reviewed moves of a game. @param {Written} game */
function reviewed(game) {
  const moves = playedMoves(game).map(({ uci }) => uci);
  const progress = (/** @type {number} */ done, /** @type {number} */ of) =>
    tell(t("review.progress", { n: fullMoves(done), of: fullMoves(of) }), done / of);
  return reviews.ask((signal) => reviewGame({ ...game, moves }, { signal, progress }));
}

/** The moves of a game up to its end by the rules. A line on the board may go on after a draw. @param {Written} game */
function playedMoves({ start, rules, limit, moves }) {
  const game = new Game(start, { rules, limit });
  game.read(game.root, moves);
  const line = game.line();
  const end = line.findIndex((node) => gameStatus(node, game.options(), limit).over);
  return end < 0 ? moves : moves.slice(0, end);
}

/**
 * Reviews a game and shows the review, or offers it if the board has been used meanwhile.
 * @param {Written} game
 * @param {Match | null} [finished] the user's game, if it is one
 */
async function run(game, finished = null) {
  const played = playedMoves(game);
  const { token } = line;
  try {
    ready = null;
    if (!finished || early?.end !== finished.node) early = null;
    const moves = await (early?.moves ?? reviewed(game));
    const rest = game.moves.slice(played.length);
    const bad = moves.filter((move) => move.mark).length;
    const n = fullMoves(moves.length);
    const done = t("review.done", { n, bad });
    const put = async () => {
      if (!(await mayLeave())) return;
      ready = early = null;
      const at = finished ? moves.length : 0;
      load({ ...game, moves: [...played.map((move, i) => withBetter(move, moves[i])), ...rest] }, at);
      moves.forEach((move, i) => annotate(app.game.line()[i + 1], move));
      const you = finished?.setup.you ?? "both";
      [review, mine, theirs] = [moves, you === "both" ? null : colorOf(you), false];
      // The user's own game begins with its result.
      if (finished) app.finished = Object.assign(finished, { node: app.game.cursor });
      tell(rest.length ? `${done} ${t("review.ended", { n })}` : done);
      announce(state.text);
      await refresh({ quiet: true });
      drawReview();
      showResults();
    };
    if (token === line.token && !app.controller) return await put();
    ready = put;
    tell(done);
    toast(t("review.ready"));
  } catch (error) {
    early = null;
    tell(errorText(error));
    announce(state.text);
  }
}

/** @type {(text: string, share?: number | null) => void} */
function tell(text, share = null) {
  state = { text, share };
  drawState();
}

function stop() {
  early = null;
  reviews.drop();
  tell(t("review.stopped"));
}

/** Scrolls the results into view, which begin below the board on a phone. */
function showResults() {
  const box = $("#evaluation")?.getBoundingClientRect();
  if (box && (box.top < 0 || box.bottom > innerHeight)) $("#reviewhead").scrollIntoView({ block: "start" });
}

/**
 * A reviewed move for the tree: with the better move as a variation if it was a mistake.
 * @param {Api.AnnotatedMove} move
 * @param {Page.Reviewed} entry
 * @returns {Page.TreeMove}
 */
const withBetter = (move, entry) =>
  isMistake(entry) ? { ...move, variations: [...(move.variations ?? []), [{ uci: entry.best ?? "" }]] } : move;

/**
 * Marks a move, unless the game has an assessment or a comment of its own.
 * @param {GameNode} node
 * @param {Page.Reviewed} move
 */
function annotate(node, move) {
  if (!move.mark || node.nags.length || node.comment) return;
  Object.assign(node, { nags: [MARKS.indexOf(move.mark)], reviewed: true });
}

/** @param {Page.Reviewed} move */
const scored = ({ color, score_after: score }) => (score ? scoreText(score, color[0]) : "?");

/**
 * "3. Ed7" or "3… ra6": the number of the move, not of the ply.
 * @param {Page.Reviewed} move
 * @param {number} i
 */
function numbered(move, i) {
  const half = i + (review?.[0].color === "black" ? 1 : 0);
  return `${Math.floor(half / 2) + 1}${half % 2 ? "…" : "."} ${moveText(move.san)}${move.mark ?? ""}`;
}

/** A move in the list, with the evaluation after it. @type {(move: Page.Reviewed, i: number) => Page.Child} */
const moveCell = (move, i) =>
  button([moveText(move.san) + move.mark, h("small", {}, scored(move))], () => goToReviewed(i + 1), {
    class: "plain",
    "data-key": i + 1,
    "data-mark": move.mark,
    "aria-current": i + 1 === app.game.cursor.ply ? "true" : null,
    "aria-label": spokenName(described([numbered(move, i), scored(move)])),
  });

/** The moves of both sides in two columns. @param {Page.Reviewed[]} moves */
function moveList(moves) {
  const cells = moves.map(moveCell);
  if (moves[0].color === "black") cells.unshift("…");
  const rows = Array.from({ length: Math.ceil(cells.length / 2) }, (_, i) =>
    row([i + 1, ...cells.slice(2 * i, 2 * i + 2)]),
  );
  return table(t("review"), [null, t("white"), t("black")], rows, { id: "reviewtable" });
}

/** The better move with its reasons, which are more if it is known to win. @param {Page.Reviewed} move */
function betterText({ before, best, score_before: score }) {
  const wdl = score && score.kind !== "cp" && score.value > 0 ? "win" : "draw";
  const better = legalMoves(before, rules()).filter(({ uci }) => uci === best);
  const moves = better.map((move) => ({ ...move, value: /** @type {const} */ ({ wdl, dtw: null, no_move: false }) }));
  const reasons = moves.flatMap((move) => reasonsOf(before, move, rules()));
  return described([moveText(notation(before, best ?? "")), ...reasons]);
}

/** What the review says of the move that led to the shown position. @param {Page.Reviewed[]} moves */
function shownMove(moves) {
  const i = app.game.cursor.ply - 1;
  const move = moves[i];
  if (!move || retry) return "";
  const isWrong = isMistake(move);
  const texts = [numbered(move, i), isWrong && labelled(t("review.better"), betterText(move))];
  const again = () => begin(move, i);
  return bar(
    h("span", { id: "reviewmove" }, said(texts.filter(Boolean).join(" · "))),
    isWrong ? button(t("solve.again"), again, { class: "retry", "data-key": -i }) : "",
  );
}

/** Whether a reviewed move was a mistake to which the review knows a better move. @param {Page.Reviewed} move */
const isMistake = (move) => Boolean(move.mark && move.best && move.best !== move.uci);

/**
 * Whether the page asks for a better move by itself: not for those of the user's opponent.
 * @param {Page.Reviewed} move
 */
const isMine = (move) => isMistake(move) && (!mine || theirs || move.color === mine);

/**
 * The accuracy of both sides, a button that begins with the mistakes, and whether the opponent's are among them.
 * @param {Page.Reviewed[]} moves
 */
function summary(moves) {
  const sides = ["white", "black"].flatMap((color) => {
    const accuracy = sideAccuracy(moves, color);
    return accuracy === null ? [] : [`${t(color)} ${percent(accuracy)}`];
  });
  return bar(
    sides.length ? h("span", { id: "accuracy" }, labelled(t("review.accuracy"), described(sides))) : "",
    moves.some(isMine)
      ? button(t(mine && !theirs ? "review.learn" : "review.next"), nextMistake, {
          id: "nextmistake",
          class: "main",
          hidden: retry !== null,
        })
      : h("span", {}, t(mine && !theirs ? "review.nomistake.you" : "review.nomistake")),
    mine && moves.some((move) => isMistake(move) && move.color !== mine)
      ? checkbox(t("review.theirs"), theirs, also, { id: "theirs" })
      : "",
  );
}

/** @param {boolean} isOn */
function also(isOn) {
  theirs = isOn;
  drawReview();
}

/** Asks for a better move at the first mistake that the board has not reached, or else at the first one. */
function nextMistake() {
  const from = retry ? retry.start.ply + 1 : app.game.cursor.ply;
  const moves = review ?? [];
  const mistakes = moves.flatMap((move, i) => (isMine(move) ? [i] : []));
  const at = mistakes.find((i) => i >= from) ?? mistakes[0];
  return begin(moves[at], at);
}

/**
 * The position after so many reviewed moves, whatever variation the board shows; undefined while the game on the board
 * is another one, after an undo.
 * @param {number} plies
 * @returns {GameNode | undefined}
 */
function reviewedNode(plies) {
  const { root } = app.game;
  const moves = review ?? [];
  const next = (/** @type {GameNode | undefined} */ node, /** @type {Page.Reviewed} */ { uci }) =>
    node?.children.find((child) => child.uci === uci);
  return moves.slice(0, plies).reduce(next, root.fen === moves[0]?.before ? root : undefined);
}

/** @param {number} plies */
const goToReviewed = (plies) => go(reviewedNode(plies) ?? app.game.cursor);

export function drawReview() {
  const host = $("#reviewed");
  if (!host) return;
  drawState();
  drawRetry();
  if (!review?.length || !reviewedNode(review.length)) return host.replaceChildren();
  refill(host, [
    summary(review),
    graph(review),
    shownMove(review),
    moveList(review),
    h("p", { class: "soft" }, t("review.help")),
  ]);
}

const [W, H] = [600, 120];

/**
 * White's share after every move as an area, with a dot at each marked move. The table below contains the same.
 * @param {Page.Reviewed[]} moves
 */
function graph(moves) {
  const width = W / moves.length;
  const points = moves.map(({ score_after: score, color }, i) => {
    const share = score ? whiteShare(score, color[0]) : 0.5;
    return [(i + 0.5) * width, H - share * (H - 8) - 4];
  });
  const path = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join(" L");
  const dots = moves.flatMap(({ mark }, i) => {
    const [cx, cy] = points[i];
    return mark ? [s("circle", { class: `mark m${mark === "??" ? 2 : 1}`, cx, cy, r: 5 })] : [];
  });
  /** @type {(move: Page.Reviewed, i: number) => SVGElement} */
  const hit = (move, i) => {
    const attributes = { class: `hit${i + 1 === app.game.cursor.ply ? " current" : ""}`, x: i * width, y: 0, width };
    const onclick = () => goToReviewed(i + 1);
    return s("rect", { ...attributes, height: H, onclick }, s("title", {}, labelled(numbered(move, i), scored(move))));
  };
  const [first, last] = [points[0][1].toFixed(1), points[points.length - 1][1].toFixed(1)];
  const label = t("review.chart", { n: dots.length });
  return s(
    "svg",
    { class: "chart evaluation", id: "evaluation", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label },
    s("rect", { class: "blackside", width: W, height: H }),
    s("path", { class: "whiteside", d: `M0 ${H} L0 ${first} L${path} L${W} ${last} L${W} ${H} Z` }),
    s("path", { class: "axis", d: `M0 ${H / 2} H${W}` }),
    s("path", { class: "value", d: `M${path}` }),
    dots,
    moves.map(hit),
  );
}

/** @type {(mistake: Page.Reviewed, i: number) => Promise<unknown>} */
async function begin(mistake, i) {
  if (!(await mayLeave())) return undefined;
  app.game.go(reviewedNode(i) ?? app.game.root);
  return new Retry(mistake).begin();
}

function drawRetry() {
  const host = $("#retry");
  if (!host) return;
  $("#nextmistake")?.toggleAttribute("hidden", Boolean(retry));
  if (!retry) return refill(host, []);
  const now = retry;
  refill(host, [
    h("p", { id: "retrytext" }, now.headline()),
    bar(
      now.solved ? "" : button(t("retry.show"), () => now.show(), { id: "retryshow" }),
      now.solved && review?.some(isMine)
        ? button(t("review.next"), nextMistake, { id: "retrynext", class: "main" })
        : "",
      now.solved ? button(t("exercise.again"), () => now.again()) : "",
      button(t("retry.close"), () => now.close(), { id: "retryclose" }),
    ),
  ]);
}
