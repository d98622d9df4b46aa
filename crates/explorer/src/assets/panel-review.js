// Review: a graph of the evaluation, every move with its loss, the better move, and another try at mistakes.

import { app, go, load, mayLeave, on, refresh, show } from "./app.js";
import { Game, MARKS } from "./game.js";
import { EXAMPLE, lineOf, readGame } from "./game-text.js";
import { line, Owner } from "./owner.js";
import { during } from "./pending.js";
import { notation } from "./position.js";
import { Retry } from "./retry.js";
import { reviewGame, sideAccuracy } from "./review.js";
import { scoreText, whiteShare } from "./score.js";
import { fullMoves, gameStatus } from "./status.js";
import {
  $,
  announce,
  bar,
  button,
  described,
  errorText,
  h,
  labelled,
  moveText,
  percent,
  refill,
  row,
  s,
  scrolled,
  section,
  select,
  spoken,
  spokenName,
  t,
  table,
  toast,
} from "./ui.js";

/** @type {any} The reviewed moves of the line on the board, or null. */
let review = null;
/** @type {string | null} The side of the user in the reviewed game; null if there is none, or both are. */
let mine = null;
/** The review that is being made. */
const reviews = new Owner();
/** @type {(() => unknown) | null} Shows a review that was finished when the board was in use. */
let ready = null;
/** The state of the review in words, and its progress from 0 to 1 while it is being made. */
let state = { text: "", share: /** @type {number | null} */ (null) };
/** What the user has written into the text field. */
let pasted = "";
/** @type {any} */
let retry = null;

export function startReview() {
  on("lesson", (/** @type {any} */ now) => {
    retry = now instanceof Retry ? now : null;
    drawRetry();
  });
  for (const event of ["jump", "rules"])
    on(event, () => {
      review = null;
    });
}

/**
 * Asks for a better move again, as before a reload; null if the page did not.
 * @param {any} kept as `Retry.identity` returns it
 */
export function resume({ mistake, ply }) {
  if (!mistake) return null;
  app.game.goTo(ply);
  return new Retry(mistake).begin();
}

export function reviewSection() {
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
    "aria-labelledby": "reviewhead",
    placeholder: EXAMPLE,
    oninput: () => (pasted = text.value),
  });
  text.value = pasted;
  return section(
    "reviewhead",
    t("review"),
    h("p", { id: "reviewstate", class: "soft", role: "status" }),
    h("div", { id: "reviewbar", class: "bar" }),
    h("div", { id: "retry" }),
    h("div", { id: "reviewed" }),
    h("p", { class: "soft" }, t("review.help")),
    text,
    bar(
      button(t("review.do"), reviewText, { id: "review", class: "main" }),
      button(t("review.line"), reviewLine, { id: "reviewline" }),
      button(t("review.open"), openText, { id: "opengame" }),
      h("label", { class: "filelabel" }, t("review.file"), " ", file),
      h(
        "label",
        { id: "whichgame", hidden: true },
        t("review.game"),
        " ",
        select([], 1, openText, { id: "gamenumber" }),
      ),
    ),
  );
}

/** The state of the review, with its progress, or with a button that shows a review that is ready. */
function drawState() {
  if (!$("#reviewstate")) return;
  $("#reviewstate").textContent = state.text;
  const shown = $("#reviewprogress");
  if (shown && state.share !== null) return (shown.value = state.share);
  const progress = h("progress", { id: "reviewprogress", max: 1, value: state.share, "aria-labelledby": "reviewhead" });
  const parts = ready
    ? [button(t("review.show"), ready, { id: "reviewshow", class: "main" })]
    : [progress, button(t("engine.stop"), stop, { id: "reviewstop" })];
  refill($("#reviewbar"), ready || state.share !== null ? parts : []);
}

/**
 * Reads a file, which gzip may have compressed.
 * @param {any} event
 */
async function readFile(event) {
  const [file] = event.target.files;
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
    tell("");
    return game;
  } catch (error) {
    tell(errorText(error));
    announce(state.text);
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

function reviewLine() {
  for (const node of app.game.line()) node.forgetReview();
  const { finished } = app;
  const user = finished && app.game.line().includes(finished.node) ? finished.setup.you : null;
  return run(lineOf(app.game), user);
}

/**
 * The moves of a game up to its end by the rules. A line on the board may go on after a draw.
 * @param {{ start: string, rules: string, limit: number | null, moves: Api.AnnotatedMove[] }} game
 */
function playedMoves({ start, rules, limit, moves }) {
  const game = new Game(start, { rules, limit });
  game.read(game.root, moves);
  const line = game.line();
  const end = line.findIndex((node) => gameStatus(node, game.options(), limit).over);
  return end < 0 ? moves : moves.slice(0, end);
}

/**
 * Reviews a game and shows the review, or offers it if the board has been used meanwhile.
 * @param {any} game
 * @param {string | null} [user] the side of the user, if there is one
 */
async function run(game, user = null) {
  const played = playedMoves(game);
  const { token } = line;
  const progress = (/** @type {number} */ done, /** @type {number} */ of) =>
    tell(t("review.progress", { n: fullMoves(done), of: fullMoves(of) }), done / of);
  try {
    ready = null;
    const moves = await reviews.ask((signal) =>
      reviewGame({ ...game, moves: played.map(({ uci }) => uci) }, { signal, progress }),
    );
    const rest = game.moves.slice(played.length);
    const bad = moves.filter((move) => move.mark).length;
    const n = fullMoves(moves.length);
    const done = t("review.done", { n, bad });
    const put = async () => {
      if (!(await mayLeave())) return;
      ready = null;
      load({ ...game, moves: [...played.map((move, i) => withBetter(move, moves[i])), ...rest] });
      moves.forEach((move, i) => annotate(app.game.line()[i + 1], move));
      [review, mine] = [moves, { w: "white", b: "black" }[user ?? ""] ?? null];
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
 * @param {any} entry
 * @returns {Page.TreeMove}
 */
const withBetter = (move, entry) =>
  isMistake(entry) ? { ...move, variations: [...(move.variations ?? []), [{ uci: entry.best }]] } : move;

/**
 * Marks a move, unless the game has an assessment or a comment of its own.
 * @param {GameNode} node
 * @param {any} move
 */
function annotate(node, move) {
  if (!move.mark || node.nags.length || node.comment) return;
  const comment = t("review.loss", { n: lossText(move) });
  Object.assign(node, { nags: [MARKS.indexOf(move.mark)], comment, reviewed: true });
}

/**
 * The loss in cats (100 cp); a changed result has no such measure.
 * @param {any} move
 */
const lossText = (move) => (move.loss === null ? (move.mark ? t("review.result") : "") : (move.loss / 100).toFixed(2));

/** @type {(move: any, score: Page.Score) => string} */
const scored = (move, score) => (score ? scoreText(score, move.color[0]) : "?");

/**
 * "3. Ed7" or "3… ra6": the number of the move, not of the ply.
 * @param {any} move
 * @param {number} i
 */
function numbered(move, i) {
  const half = i + (review[0].color === "black" ? 1 : 0);
  return `${Math.floor(half / 2) + 1}${half % 2 ? "…" : "."} ${moveText(move.san)}${move.mark ?? ""}`;
}

/** @type {(move: any, i: number) => HTMLElement} */
function reviewRow(move, i) {
  const better = isMistake(move) ? moveText(notation(move.before, move.best)) : "";
  const label = spoken(labelled(t("solve.again"), numbered(move, i)));
  const again = better
    ? button(t("solve.again"), () => begin(move, i), { class: "retry", "aria-label": label, "data-key": -i })
    : "";
  const head = button(numbered(move, i), () => goToReviewed(i + 1), {
    class: "plain",
    "data-key": i + 1,
    "aria-label": spokenName(numbered(move, i)),
  });
  const cells = [
    scored(move, move.score_after),
    h("td", { class: "better" }, better),
    move.loss === 0 ? "" : lossText(move),
    h("td", { class: "soft" }, t(`source.${move.source}`)),
    again,
  ];
  return row([head, ...cells], { class: i + 1 === app.game.cursor.ply ? "now" : null, "data-mark": move.mark });
}

/**
 * Whether a reviewed move was a mistake to which the review knows a better move.
 * @param {any} move
 */
const isMistake = (move) => move.mark && move.best && move.best !== move.uci;

/**
 * Whether the page asks for a better move by itself: not for those of the user's opponent.
 * @param {any} move
 */
const isMine = (move) => isMistake(move) && (!mine || move.color === mine);

/** The accuracy of both sides, and a button that goes to the next mistake from the shown position on. */
function summary() {
  const sides = ["white", "black"].flatMap((color) => {
    const accuracy = sideAccuracy(review, color);
    return accuracy === null ? [] : [`${t(color)} ${percent(accuracy)}`];
  });
  return bar(
    sides.length ? h("span", { id: "accuracy" }, labelled(t("review.accuracy"), described(sides))) : "",
    review.some(isMine)
      ? button(t("review.next"), nextMistake, { id: "nextmistake", class: "main", hidden: retry !== null })
      : "",
  );
}

/** Asks for a better move at the first mistake that the board has not reached, or else at the first one. */
function nextMistake() {
  const from = retry ? retry.start.ply + 1 : app.game.cursor.ply;
  const mistakes = review.flatMap((/** @type {any} */ move, /** @type {number} */ i) => (isMine(move) ? [i] : []));
  const at = mistakes.find((/** @type {number} */ i) => i >= from) ?? mistakes[0];
  return begin(review[at], at);
}

/**
 * The position after so many reviewed moves, whatever variation the board shows; undefined while the game on the board
 * is another one, after an undo.
 * @param {number} plies
 * @returns {GameNode | undefined}
 */
function reviewedNode(plies) {
  const { root } = app.game;
  const next = (/** @type {GameNode | undefined} */ node, /** @type {any} */ { uci }) =>
    node?.children.find((child) => child.uci === uci);
  return review.slice(0, plies).reduce(next, root.fen === review[0].before ? root : undefined);
}

/** @param {number} plies */
const goToReviewed = (plies) => go(reviewedNode(plies) ?? app.game.cursor);

export function drawReview() {
  const host = $("#reviewed");
  if (!host) return;
  drawState();
  drawRetry();
  if (!review?.length || !reviewedNode(review.length)) return host.replaceChildren();
  const heads = [t("move"), t("engine.score"), t("review.better"), t("review.lost"), t("source"), ""];
  refill(host, [
    summary(),
    graph(),
    scrolled("reviewhead", table(t("review"), heads, review.map(reviewRow), { id: "reviewtable" })),
  ]);
}

const [W, H] = [600, 120];

/** White's share after every move as an area, with a dot at each marked move. The table below contains the same. */
function graph() {
  const width = W / review.length;
  const points = review.map((/** @type {any} */ move, /** @type {number} */ i) => {
    const share = move.score_after ? whiteShare(move.score_after, move.color[0]) : 0.5;
    return [(i + 0.5) * width, H - share * (H - 8) - 4];
  });
  const path = points.map((/** @type {[number, number]} */ [x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join(" L");
  const dot = (/** @type {any} */ { mark }, /** @type {any} */ [cx, cy]) =>
    s("circle", { class: `mark m${mark === "??" ? 2 : 1}`, cx, cy, r: 5 });
  const dots = review.flatMap((/** @type {any} */ move, /** @type {number} */ i) =>
    move.mark ? [dot(move, points[i])] : [],
  );
  const hit = (/** @type {any} */ move, /** @type {number} */ i) =>
    s(
      "rect",
      {
        class: `hit${i + 1 === app.game.cursor.ply ? " current" : ""}`,
        x: i * width,
        y: 0,
        width,
        height: H,
        onclick: () => goToReviewed(i + 1),
      },
      s("title", {}, labelled(numbered(move, i), scored(move, move.score_after))),
    );
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
    review.map(hit),
  );
}

/** @type {(mistake: any, i: number) => Promise<unknown>} */
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
  refill(host, [
    h("p", { id: "retrytext" }, retry.headline()),
    bar(
      retry.solved ? "" : button(t("retry.show"), () => retry.show(), { id: "retryshow" }),
      retry.solved && review?.some(isMine)
        ? button(t("review.next"), nextMistake, { id: "retrynext", class: "main" })
        : "",
      retry.solved ? button(t("exercise.again"), () => retry.again()) : "",
      button(t("retry.close"), () => retry.close(), { id: "retryclose" }),
    ),
  ]);
}
