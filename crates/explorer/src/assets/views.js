// The entries of the page, and the views of each.

/** @type {Record<string, string[]>} */
export const ENTRIES = {
  play: ["play"],
  learn: ["learn"],
  analyse: ["position", "explore", "engine", "game"],
  endgames: ["endgames", "duels", "material"],
};

const VIEWS = Object.values(ENTRIES).flat();

/** The view that each entry has shown last. */
const last = Object.fromEntries(Object.entries(ENTRIES).map(([entry, [view]]) => [entry, view]));

/** Whether there is a view with this name. @param {string} view */
export const isView = (view) => VIEWS.includes(view);

/** The entry of a view; undefined for the first view of a visitor, which belongs to none. @param {string} view */
export const entryOf = (view) => Object.keys(ENTRIES).find((entry) => ENTRIES[entry].includes(view));

/** The view to show for an entry, which is the one that it has shown last. @param {string} entry */
export const viewOf = (entry) => last[entry];

/** Notes that a view is shown. @param {string} view */
export function noteView(view) {
  const entry = entryOf(view);
  if (entry) last[entry] = view;
}
