// Duels: up to three animals of each side on their home squares, White to move. The tables know who wins, and the duel
// can be played out.

import { app, fen, mayLeave, sentence, setPosition } from "./app.js";
import { LEVELS } from "./levels.js";
import { toAddress } from "./link.js";
import { begin } from "./panel-play.js";
import { pieceIcon } from "./pieces.js";
import { boardOf, format, isWhite, PIECES, START } from "./position.js";
import { draw as drawSolve } from "./solve.js";
import { $, bar, button, copy, field, h, levelName, pieceName, refill, section, select, side, t } from "./ui.js";

export const key = "duels";

/** The most animals of a side. */
const MOST = 3;
const HOME = boardOf(START).squares;
/** The pieces of the duel that was chosen last, in the order of `PIECES`. */
let chosen = [..."ETle"];
/** The opponent's level: perfect play wherever the tables contain the position. */
let level = LEVELS[LEVELS.length - 1].key;

/** Whether both sides have their one to three animals. @param {(string | null)[]} pieces */
const isDuel = (pieces) =>
  [true, false].every((white) => {
    const { length } = pieces.filter((piece) => piece && isWhite(piece) === white);
    return length > 0 && length <= MOST;
  });

/** The pieces of the duel on the board; null if the board shows anything else. */
function shown() {
  const { squares, turn } = boardOf(fen());
  const isHome = turn === "w" && squares.every((piece, square) => !piece || HOME[square] === piece);
  return isHome && isDuel(squares) ? PIECES.filter((piece) => squares.includes(piece)) : null;
}

/** @param {string[]} pieces */
const fenOf = (pieces) =>
  format({ squares: HOME.map((piece) => (piece && pieces.includes(piece) ? piece : null)), turn: "w" });

/** Puts a duel on the board; a side that would lack animals, or have too many, stays as it is. */
function choose(/** @type {string[]} */ pieces) {
  if (isDuel(pieces)) return setPosition(fenOf((chosen = pieces)), { rules: app.chosen });
}

export const build = () =>
  section(
    "duelhead",
    t("view.duels"),
    h("p", { class: "soft" }, t("duel.help")),
    h("div", { id: "duel" }),
    h("div", { id: "solve" }),
  );

export function update() {
  const now = shown();
  chosen = now ?? chosen;
  // On a phone the verdict above the board is out of sight.
  const verdict = now && app.probe ? h("p", { id: "duelresult" }, h("strong", {}, sentence(app.probe))) : "";
  refill($("#duel"), [team("w"), team("b"), verdict, now ? actions() : bar(toBoard())]);
  drawSolve();
}

const toBoard = () => button(t("duel.show"), () => choose(chosen), { id: "duelshow", class: "main" });

/** The animals of a side, of which the chosen ones are pressed. @param {Api.Turn} turn */
function team(turn) {
  const all = PIECES.filter((piece) => isWhite(piece) === (turn === "w"));
  const toggle = (/** @type {string} */ piece) => {
    const isIn = chosen.includes(piece);
    const next = PIECES.filter((other) => (other === piece ? !isIn : chosen.includes(other)));
    const icon = pieceIcon(piece, app.settings.pieces, app.spelled);
    return button([icon, h("span", { class: "sr" }, pieceName(piece))], () => choose(next), {
      "data-key": piece,
      "aria-pressed": String(isIn),
      disabled: !isDuel(next),
    });
  };
  return h("div", { class: "team", role: "group", "aria-label": side(turn) }, all.map(toggle));
}

/** To play the duel as either side, and to share it. */
function actions() {
  const play = (/** @type {string} */ you) => async () =>
    (await mayLeave()) && begin({ from: "board", you, level, time: "" });
  const levels = LEVELS.map(({ key: name }) => name);
  const opponent = select(levels, level, (name) => (level = name), { id: "duellevel" }, levelName);
  return bar(
    field(t("play.opponent.one"), opponent),
    button(t("duel.play", { side: side("w") }), play("w"), { id: "duelw", class: "main" }),
    button(t("duel.play", { side: side("b") }), play("b"), { id: "duelb" }),
    button(t("share.copy"), () => copy(location.origin + toAddress()), { id: "duelshare" }),
  );
}
