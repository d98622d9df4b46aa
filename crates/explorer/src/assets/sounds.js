// The sounds of moves: synthesised, and on until the user switches them off.

import { app, emit, on } from "./app.js";
import { index, parse } from "./position.js";
import { $ } from "./ui.js";

/** @type {AudioContext | null} */
let context = null;

/** @typedef {"move" | "capture" | "leap" | "end"} Sound */

/**
 * The sound of a move in a position.
 * @param {string} fen
 * @param {string} uci
 * @returns {Sound}
 */
export function soundOf(fen, uci) {
  const [from, to] = [index(uci.slice(0, 2)), index(uci.slice(2, 4))];
  if (parse(fen)?.squares[to]) return "capture";
  return [1, 7].includes(Math.abs(to - from)) ? "move" : "leap";
}

/**
 * A tone that glides and fades.
 * @param {AudioContext} audio
 * @param {{ from: number, to: number, start?: number, length: number, volume: number, type?: OscillatorType }} tone
 */
function tone(audio, { from, to, start = 0, length, volume, type = "sine" }) {
  const begin = audio.currentTime + start;
  const oscillator = new OscillatorNode(audio, { type, frequency: from });
  oscillator.frequency.exponentialRampToValueAtTime(to, begin + length);
  const gain = new GainNode(audio, { gain: 0 });
  gain.gain.setValueAtTime(volume, begin);
  gain.gain.exponentialRampToValueAtTime(0.001, begin + length);
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start(begin);
  oscillator.stop(begin + length);
}

/** A wooden knock: a low tone that falls fast, and a short bright one on top. */
const knock = (/** @type {AudioContext} */ audio, /** @type {number} */ pitch, /** @type {number} */ start) => {
  tone(audio, { from: pitch, to: pitch / 2, start, length: 0.09, volume: 0.5 });
  tone(audio, { from: pitch * 5, to: pitch * 3, start, length: 0.03, volume: 0.12, type: "triangle" });
};

/** @type {Record<Sound, (audio: AudioContext) => void>} */
const SOUNDS = {
  move: (audio) => knock(audio, 220, 0),
  capture: (audio) => [0, 0.07].forEach((start, i) => knock(audio, 260 - 90 * i, start)),
  leap: (audio) => {
    tone(audio, { from: 240, to: 700, length: 0.24, volume: 0.14 });
    knock(audio, 190, 0.4);
  },
  end: (audio) =>
    [392, 494, 587, 784].forEach((pitch, i) =>
      tone(audio, { from: pitch, to: pitch, start: i * 0.13, length: 0.5, volume: 0.16, type: "triangle" }),
    ),
};

/**
 * Plays a sound, once the user has done something on the page: before that, browsers forbid it.
 * @param {Sound} sound
 */
export function playSound(sound) {
  if (navigator.userActivation?.hasBeenActive === false) return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  SOUNDS[sound](context);
}

/** Plays the sound of every move that is made or stepped to, and of a game's end. */
export function startSounds() {
  const box = $("#sounds");
  box.checked = app.settings.sounds;
  box.addEventListener("change", () => {
    app.settings.sounds = box.checked;
    emit("settings");
    if (box.checked) playSound("move");
  });
  let before = app.game.cursor;
  on("position", () => {
    const { cursor } = app.game;
    const { parent, uci } = cursor;
    const moved = parent !== null && parent === before;
    before = cursor;
    if (moved && uci && app.settings.sounds) playSound(soundOf(parent.fen, uci));
  });
  /** @type {unknown} */
  let ended = null;
  on("probe", () => {
    const over = app.probe?.over && app.game.cursor.parent ? app.game.cursor : null;
    if (over && over !== ended && app.settings.sounds) playSound("end");
    ended = over;
  });
}
