// Endgames that the server counts on demand. If no table contains the position, a button starts a count, which ends
// when it is cancelled or the page is left.

import { address, forget, get } from "./api.js";
import { app, fen, isExact, on, params, pieces, refresh } from "./app.js";
import { openStream } from "./transport.js";
import { $, announce, button, bytes, duration, errorText, h, labelled, percent, t } from "./ui.js";

/**
 * The count that the page waits for, with the server's last report.
 * @type {{ stream: EventSource, report: Api.CountProgress | null } | null}
 */
let count = null;
/**
 * The resources that counting the position on the board needs, or the error.
 * @type {{ position: string, need?: Api.CountNeed, error?: any } | null}
 */
let asked = null;

export function startSolve() {
  for (const event of ["probe", "status"]) on(event, ask);
  on("position", draw);
}

/** The position on the board with its rules. */
const place = () => `${fen()} ${app.rules}`;

/** Whether to ask the server about a count. For one piece too many its error explains what is missing. */
const isInReach = () => app.countable > 0 && pieces() <= app.countable + 1;

const isOpen = () => app.probe && !isExact() && !app.probe.over && !app.probe.local && !app.controller && isInReach();

async function ask() {
  draw();
  if (!isOpen() || count || asked?.position === place()) return;
  const mine = (asked = { position: place() });
  const answer = await get("need", params(), { keep: false }).then(
    (need) => ({ need }),
    (error) => ({ error }),
  );
  Object.assign(mine, answer);
  if (asked === mine) draw();
}

function askAgain() {
  asked = null;
  return ask();
}

function start() {
  const stream = openStream(address("count", params()));
  count = { stream, report: null };
  const own = (/** @type {(data: any) => unknown} */ act) => (/** @type {MessageEvent} */ event) => {
    if (count?.stream === stream) act(event.data && JSON.parse(event.data));
  };
  stream.addEventListener(
    "progress",
    own((report) => {
      count = { stream, report };
      draw();
    }),
  );
  stream.addEventListener(
    "done",
    own(() => {
      end(t("solve.done"));
      forget();
      if (!app.controller && !isExact()) refresh({ quiet: true });
    }),
  );
  stream.addEventListener(
    "failed",
    own(({ error }) => {
      end(errorText(error));
      asked = { position: place(), error };
      draw();
    }),
  );
  // An event source does not report why it failed; the next answer does.
  stream.addEventListener(
    "error",
    own(() => {
      end("");
      askAgain();
    }),
  );
  announce(t("solve.started"));
  draw();
}

/**
 * Leaves the count.
 * @param {string} message
 */
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

/** Shows the button, the progress, or the reason for neither, if the panel has a place for it. */
export function draw() {
  const host = $("#solve");
  if (!host) return;
  if (count) return drawProgress(host, count.report);
  host.replaceChildren(...(isOpen() && asked?.position === place() ? offer(asked) : []));
}

/**
 * @param {NonNullable<typeof asked>} asked
 */
function offer({ need, error }) {
  // The server counts under its own rules only: the user need not read an error.
  if (error?.reason === "counting_other_rules") return [];
  if (error) return [h("p", { class: "soft" }, errorText(error))];
  if (!need || need.state === "known") return [];
  if (need.state === "busy")
    return [h("p", { class: "soft" }, t("solve.busy")), button(t("solve.again"), askAgain, { id: "solveagain" })];
  const takes = { time: duration(need.seconds ?? 0), memory: bytes(need.memory_bytes ?? 0) };
  const text = need.state === "counting" ? t("solve.join") : t("solve.start", takes);
  return [button(text, start, { id: "solvestart", class: "main" })];
}

/**
 * @param {Api.CountProgress | null} report
 */
function progressText(report) {
  if (!report) return t("solve.started");
  const phase = t(`solve.${report.phase}`);
  if (report.phase === "waiting") return phase;
  const done = percent(Math.floor(1000 * report.fraction) / 1000);
  return `${labelled(phase, done)} · ${t("solve.left", { time: duration(report.seconds_left) })}`;
}

/**
 * @param {HTMLElement} host
 * @param {Api.CountProgress | null} report
 */
function drawProgress(host, report) {
  if (!$("#solvestate", host))
    host.replaceChildren(
      h("div", { class: "bar" }, [
        h("progress", { id: "solveprogress", max: 1, value: 0, "aria-label": t("solve.started") }),
        button(t("solve.cancel"), cancel, { id: "solvecancel" }),
      ]),
      h("p", { class: "soft", id: "solvestate" }),
    );
  $("#solveprogress", host).value = report?.fraction ?? 0;
  $("#solvestate", host).textContent = progressText(report);
}
