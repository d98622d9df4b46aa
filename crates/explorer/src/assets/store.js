// Games that are kept in this browser, newest first.

import { keep, recall } from "./storage.js";

const STORE = "doushouqi.games";
const MOST = 100;

/** An identifier for a new game. */
export const newId = () => `${Date.now().toString(36)}-${Math.floor(Math.random() * 1e9).toString(36)}`;

/** This tab. A game belongs to the tab that has opened it last; no other tab writes it. */
const TAB = newId();

/** @type {(game: Partial<Page.StoredGame>) => game is Page.StoredGame} */
const isGame = (game) =>
  [game?.id, game?.date, game?.rules, game?.start, game?.line, game?.setup?.you].every(
    (text) => typeof text === "string",
  );

/** Every stored game; none in a browser without storage. */
export function storedGames() {
  const games = recall(STORE, /** @type {Page.StoredGame[]} */ ([]));
  return Array.isArray(games) ? games.filter(isGame) : [];
}

/** @param {Page.StoredGame[]} games */
const write = (games) => keep(STORE, games.slice(0, MOST));

/** Whether another tab has opened a game after this one. @param {string} id */
export const isElsewhere = (id) => storedGames().some((game) => game.id === id && game.owner && game.owner !== TAB);

/**
 * Stores a game of this tab, replacing the game with the same `id`; returns whether the browser has kept it, in this
 * tab or another one.
 * @param {Page.StoredGame} game
 */
export const storeGame = (game) =>
  isElsewhere(game.id) || write([{ ...game, owner: TAB }, ...storedGames().filter(({ id }) => id !== game.id)]);

/** Makes a stored game the game of this tab. @param {string} id */
export const takeGame = (id) => write(storedGames().map((game) => (game.id === id ? { ...game, owner: TAB } : game)));

/** @param {string} id */
export const deleteGame = (id) => write(storedGames().filter((game) => game.id !== id));

/** Calls a listener when another tab changes the stored games. @param {() => void} listener */
export const onStoredElsewhere = (listener) =>
  window.addEventListener("storage", ({ key }) => {
    if (key === null || key === STORE) listener();
  });
