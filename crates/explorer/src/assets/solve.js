// Endgames that the server counts on demand. If no table contains the position, a button starts a count, which ends
// when it is cancelled or the page is left.

import { address, forget, get } from "./api.js";
import { app, fen, isExact, on, params, pieces, refresh } from "./app.js";
import { hasServer, openCount } from "./transport.js";
import { $, announce, button, bytes, duration, errorText, h, inTurn, isTemporary, labelled, percent, t } from "./ui.js";

/**
 * The count that the page waits for, with the server's last report.
 * @type {{ stream: EventSource, report: Api.CountProgress | null } | null}
 */
let count = null;
/**
 * @typedef {{ position: string, need?: Api.CountNeed, error?: Page.Problem }} Asked
 * @type {Asked | null} The resources that counting the position on the board needs, or the error.
 */
let asked = null;

/** Why the CPU has solved the class of a position, and not the GPU. */
let fallback = { position: "", reason: "" };

export function startSolve() {
  on(["probe", "status"], ask);
  on("position", draw);
}

/** The position on the board with its rules. */
const place = () => `${fen()} ${app.rules}`;

/** Whether to ask the server about a count. For one piece too many its error explains what is missing. */
const isInReach = () => app.countable > 0 && pieces() <= app.countable + 1;

const isOpen = () => app.probe && !isExact() && !app.probe.over && !app.probe.local && !app.controller && isInReach();

/** Milliseconds after which the state of a count is asked for again, of which other visitors may change it. */
const AGAIN = 3000;
/** @type {number | undefined} */
let timer;

async function ask() {
  draw();
  clearTimeout(timer);
  if (!isOpen() || count) return;
  if (asked?.position === place()) return repeat();
  asked = { position: place() };
  await renew(asked);
}

/**
 * Asks for the state of the position on the board, which stays on the page until the answer arrives.
 * @param {Asked} mine
 */
async function renew(mine) {
  const answer = await get("need", params(), { keep: false }).then(
    (need) => ({ need, error: undefined }),
    (error) => ({ need: undefined, error }),
  );
  if (asked !== mine || count) return;
  Object.assign(mine, answer);
  if (answer.need?.state !== "known") return repeat();
  // Another visitor's count, or one of another page, has ended.
  forget();
  if (isOpen()) refresh({ quiet: true });
}

/** Draws the state, and asks for it again later. */
function repeat() {
  draw();
  clearTimeout(timer);
  // A page without a server has no other visitors.
  const mayChange = asked?.need ? asked.need.state !== "known" : asked?.error && isTemporary(asked.error);
  if (!hasServer || !mayChange) return;
  timer = setTimeout(() => {
    if (asked?.position !== place() || !isOpen() || document.hidden) return repeat();
    return renew(asked);
  }, AGAIN);
}

function askAgain() {
  asked = null;
  return ask();
}

function start() {
  const [stream, position] = [openCount(address("count", params()), app.game.limit), place()];
  count = { stream, report: null };
  const acts = {
    progress(/** @type {Api.CountProgress} */ report) {
      count = { stream, report };
      draw();
    },
    fallback(/** @type {string} */ reason) {
      fallback = { position, reason };
      announce(fallbackText());
      draw();
    },
    done() {
      end(t("solve.done"));
      forget();
      if (!app.controller && !isExact()) refresh({ quiet: true });
    },
    failed(/** @type {{ error: Page.Problem }} */ { error }) {
      end(errorText(error));
      asked = { position: place(), error };
      repeat();
    },
    // An event source does not report why it failed; the next answer does.
    error() {
      end("");
      askAgain();
    },
  };
  for (const [event, act] of Object.entries(acts))
    stream.addEventListener(event, (/** @type {MessageEvent} */ { data }) => {
      if (count?.stream === stream) act(data && JSON.parse(data));
    });
  announce(t("solve.started"));
  draw();
}

/** Leaves the count. @param {string} message */
function end(message) {
  count?.stream.close();
  count = null;
  asked = null;
  if (message) announce(message);
}

function cancel() {
  end(t("solve.cancelled"));
  askAgain();
}

/** The reason in a sentence, at the position whose class was to be solved. */
const fallbackText = () => (fallback.position === place() ? t("solve.fallback", { reason: fallback.reason }) : "");

/**
 * What the panel shows: a text, a button, and the progress of a count; nothing if there is nothing to solve.
 * @typedef {{ text?: string, label?: string, act?: () => unknown, id?: string }} State
 * @returns {State & { report?: Api.CountProgress | null } | null}
 */
function state() {
  const note = fallbackText();
  if (count) {
    const { report } = count;
    return { text: inTurn([note, progressText(report)]), label: t("cancel"), act: cancel, id: "solvecancel", report };
  }
  if (!isOpen() || asked?.position !== place()) return note ? { text: note } : null;
  const { need, error } = asked;
  // The server counts under its own rules only: the user need not read an error.
  if (error?.reason === "counting_other_rules") return null;
  const again = { label: t("solve.again"), act: askAgain, id: "solveagain" };
  if (error) return { text: errorText(error), ...(isTemporary(error) ? again : {}) };
  if (!need || need.state === "known") return null;
  if (need.state === "busy") return { text: t("solve.busy"), ...again };
  const begin = { act: start, id: "solvestart" };
  if (need.state === "counting") return { label: t("solve.join"), ...begin };
  if (need.state === "stopping") return { text: t("solve.stopping"), label: t("solve.next"), ...begin };
  const takes = { time: duration(need.seconds ?? 0), memory: bytes(need.memory_bytes ?? 0) };
  return { label: t("solve.start", takes), ...begin };
}

/** Shows the state, if the panel has a place for it. The elements stay, so that the button keeps the focus. */
export function draw() {
  const host = $("#solve");
  if (!host) return;
  const now = state();
  if (!now) {
    host.tabIndex = -1;
    if (host.contains(document.activeElement)) host.focus();
    return host.replaceChildren();
  }
  if (!host.children.length)
    host.replaceChildren(
      h("p", { class: "soft" }),
      h(
        "div",
        { class: "bar" },
        h("progress", { max: 1 }),
        button("", () => state()?.act?.()),
      ),
    );
  const [progress, act, text] = ["progress", "button", "p"].map((name) => $(name, host));
  const { report } = now;
  progress.hidden = report === undefined;
  progress.id = report === undefined ? "" : "solveprogress";
  progress.setAttribute("aria-label", t("solve.started"));
  // Without a share of the work that is done the bar is indeterminate.
  if (report?.fraction) progress.setAttribute("value", String(report.fraction));
  else progress.removeAttribute("value");
  act.hidden = !now.label;
  act.id = now.id ?? "";
  act.textContent = now.label ?? "";
  act.classList.toggle("main", now.id === "solvestart");
  text.hidden = !now.text;
  text.id = "solvestate";
  text.textContent = now.text ?? "";
}

/** @param {Api.CountProgress | null} report */
function progressText(report) {
  if (!report) return t("solve.started");
  const phase = t(`solve.${report.phase}`);
  if (!report.fraction) return phase;
  const done = percent(Math.floor(1000 * report.fraction) / 1000);
  return `${labelled(phase, done)} · ${t("solve.left", { time: duration(report.seconds_left) })}`;
}
