// The engine's analysis of the position on the board, as a stream. If no table contains the position, the analysis
// starts by itself, follows the board, and pauses while the page is hidden.

import { address, get } from "./api.js";
import { app, emit, gameParams, isExact, isFinished, on, setOffline } from "./app.js";
import { begin, cancel, later } from "./pending.js";
import { openStream } from "./transport.js";
import { entryOf } from "./views.js";

/** Milliseconds of an analysis that starts by itself, and before it starts. */
const AUTOMATIC = 5000;
const DELAY = 250;
/** Milliseconds before a request to a busy server is repeated. */
const RETRY = 4000;

/** @type {EventSource | null} */
let stream = null;
/** @type {number | undefined} */
let timer;
/** @type {Page.Query | null} The options of an analysis that the user has switched on. */
let chosen = null;
const done = new Map();

/** @type {(state: string) => Page.Evaluation} */
const fresh = (state) => ({ state, last: null, lines: [], error: null });

export const isOn = () => chosen !== null;
export const options = () => chosen;

export function startAnalysis() {
  on(["position", "controller"], () => reset());
  on("probe", schedule);
  on("tab", () => (isShown() ? schedule() : stream && close("idle")));
  document.addEventListener("visibilitychange", () => (document.hidden ? close("idle") : schedule()));
}

/** Switches an analysis on, with options of the API, or with null off. @param {Page.Query | null} options */
export function choose(options) {
  chosen = options;
  reset(options ? "idle" : "stopped");
  schedule();
  emit("analysis");
}

function reset(state = "idle") {
  close(state);
  app.evaluation = fresh(state);
  emit("evaluation");
}

/** @param {string} state */
function close(state) {
  cancel(timer);
  timer = undefined;
  stream?.close();
  stream = null;
  app.evaluation.state = state;
}

/** Whether the view is one for analysis. */
const isShown = () => ["analyse", "endgames"].includes(entryOf(app.tab) ?? "");

/** Whether the analysis runs by itself: no table contains the position with its distance. */
const isWanted = () => app.probe && !isExact() && !app.probe.over && !isFinished() && !app.editing;

function schedule() {
  if (stream || document.hidden || app.controller || app.broken || app.problem || app.probe?.local) return;
  if (app.evaluation.state === "stopped" || app.evaluation.state === "done") return;
  if (!isShown() || (!chosen && !isWanted())) return;
  const kept = chosen ? null : done.get(query());
  if (kept) {
    app.evaluation = kept;
    return emit("evaluation");
  }
  cancel(timer);
  timer = later(start, chosen ? 0 : DELAY);
}

/** The address of the analysis of the game up to the position on the board. */
const query = () => address("analyze", { ...gameParams(), ...(chosen ?? { movetime: AUTOMATIC }) });

function start() {
  const asked = query();
  const { cursor } = app.game;
  const mine = openStream(asked);
  stream = mine;
  app.evaluation = fresh("running");
  emit("evaluation");
  mine.addEventListener("info", (event) => {
    if (mine !== stream || cursor !== app.game.cursor) return;
    const info = JSON.parse(event.data);
    const line = (info.multipv ?? 1) - 1;
    app.evaluation.lines[line] = info;
    if (line === 0) app.evaluation.last = info;
    draw();
  });
  mine.addEventListener("done", () => {
    if (mine !== stream) return;
    close("done");
    if (!chosen) keep(asked);
    emit("evaluation");
    emit("evaluated");
  });
  mine.addEventListener("error", () => failed(mine));
}

/** @param {string} asked */
function keep(asked) {
  if (done.size > 200) done.clear();
  done.set(asked, app.evaluation);
}

/**
 * An event source does not report why it failed: if the server answers at all, it is busy.
 * @param {EventSource} mine
 */
async function failed(mine) {
  if (mine !== stream) return;
  close("idle");
  const code = await get("status", {}, { keep: false }).then(
    () => "busy",
    (error) => error.code,
  );
  if (stream || timer) return;
  app.evaluation.error = { code };
  emit("evaluation");
  if (code === "offline") return setOffline(true);
  timer = setTimeout(() => {
    timer = undefined;
    schedule();
  }, RETRY);
}

let scheduled = false;
function draw() {
  if (scheduled) return;
  scheduled = true;
  const end = begin("a frame");
  requestAnimationFrame(() => {
    scheduled = false;
    end();
    emit("evaluation");
  });
}
