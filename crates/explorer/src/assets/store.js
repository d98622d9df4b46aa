// Games that are kept in this browser, newest first.

const STORE = "doushouqi.games";
const MOST = 100;

/** Every stored game; none in a browser without storage. */
export function storedGames() {
  try {
    const games = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(games) ? games.filter((game) => typeof game?.id === "string") : [];
  } catch {
    return [];
  }
}

/**
 * @param {Page.StoredGame[]} games
 */
function write(games) {
  try {
    localStorage.setItem(STORE, JSON.stringify(games.slice(0, MOST)));
    return true;
  } catch {
    return false;
  }
}

/**
 * Stores a game, replacing the game with the same `id`; returns whether the browser keeps it.
 * @param {Page.StoredGame} game
 */
export const storeGame = (game) => write([game, ...storedGames().filter(({ id }) => id !== game.id)]);

/**
 * @param {string} id
 */
export const deleteGame = (id) => write(storedGames().filter((game) => game.id !== id));

/** An identifier for a new game. */
export const newId = () => `${Date.now().toString(36)}-${Math.floor(Math.random() * 1e9).toString(36)}`;
