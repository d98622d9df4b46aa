// The messages above the board: the server is gone, or an address could not be read in full.

import { forget } from "./api.js";
import { app, on, refresh, setOffline } from "./app.js";
import { onFault, reachable } from "./transport.js";
import { $, announce, errorText, t } from "./ui.js";

/** Milliseconds between two attempts to reach the server again. */
const INTERVAL = 2000;

/** @type {number | null} */
let timer = null;

/** Why the tables of the page cannot be used, and why one cannot that this position needs. */
let fault = "";
let faultHere = "";

export function startConnection() {
  onFault((reason, all) => {
    if (all) fault = reason;
    else faultHere = reason;
    draw();
  });
  on("position", () => {
    faultHere = "";
    draw();
  });
  on("connection", changed);
  on(["probe", "language"], draw);
}

function changed() {
  draw();
  if (!app.offline || timer) return;
  announce(t("notice.offline"));
  timer = setTimeout(attempt, INTERVAL);
}

async function attempt() {
  timer = null;
  const reached = !document.hidden && (await reachable());
  if (!app.offline) return;
  if (!reached) {
    timer = setTimeout(attempt, INTERVAL);
    return;
  }
  forget();
  setOffline(false);
  announce(t("notice.back"));
  if (!app.controller) refresh({ quiet: true });
}

function text() {
  if (app.broken) return t("notice.link", { detail: errorText(app.broken) });
  if (app.offline) return t("notice.offline");
  if (app.notice) return app.notice;
  if (fault) return t("notice.tables", { reason: fault });
  return faultHere && t("notice.table", { reason: faultHere });
}

function draw() {
  const box = $("#notice");
  const now = text();
  if (box.textContent !== now) box.textContent = now;
  box.hidden = !now;
}
