// The tabs: the entries of the page and, below them, the views of the entry that is shown.

import { app } from "./app.js";
import { $, h, t } from "./ui.js";
import { ENTRIES, entryOf, viewOf } from "./views.js";

/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * A list of tabs. Arrow keys open the next tab and give it the focus.
 * @param {string} prefix of the identifiers
 * @param {string[]} keys
 * @param {string | undefined} chosen
 * @param {(key: string) => unknown} open
 */
function tabsOf(prefix, keys, chosen, open) {
  const focusable = chosen ?? keys[0];
  const tab = (/** @type {string} */ key) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `${prefix}-${key}`,
        "aria-controls": "panel",
        "aria-selected": String(key === chosen),
        tabindex: key === focusable ? 0 : -1,
        onclick: () => open(key),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          const step = STEPS[event.key];
          if (!step) return;
          event.preventDefault();
          const to = keys[(keys.indexOf(key) + step + keys.length) % keys.length];
          open(to);
          $(`#${prefix}-${to}`).focus();
        },
      },
      t(`${prefix}.${key}`),
    );
  return keys.map(tab);
}

/** Shows the entries, and marks that of the view that is shown. @param {(view: string) => unknown} open opens a view */
export function drawEntries(open) {
  $("#tabs").replaceChildren(
    ...tabsOf("tab", Object.keys(ENTRIES), entryOf(app.tab), (/** @type {string} */ entry) => open(viewOf(entry))),
  );
}

/**
 * The views of the entry that is shown; nothing if it has only one.
 * @param {(view: string) => unknown} open opens a view
 */
export function viewTabs(open) {
  const entry = entryOf(app.tab);
  if (!entry || ENTRIES[entry].length < 2) return [];
  const label = t(`tab.${entry}`);
  return [
    h(
      "div",
      { role: "tablist", id: "views", class: "views", "aria-label": label },
      tabsOf("view", ENTRIES[entry], app.tab, open),
    ),
  ];
}

/** The names of the panel of the view that is shown. */
export const labelOfPanel = () => {
  const entry = entryOf(app.tab);
  if (!entry) return { "aria-label": t("home.head") };
  return { "aria-labelledby": ENTRIES[entry].length > 1 ? `view-${app.tab}` : `tab-${entry}` };
};
