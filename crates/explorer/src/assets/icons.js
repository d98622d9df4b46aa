// Icons as strokes on 24 x 24.

import { button, s } from "./ui.js";

/** @type {Record<string, string>} */
const ICONS = {
  first: "M6 5 V19 M19 5 L9 12 L19 19 Z",
  back: "M15 5 L8 12 L15 19",
  play: "M7 4 L19 12 L7 20 Z",
  pause: "M8 5 V19 M16 5 V19",
  forward: "M9 5 L16 12 L9 19",
  last: "M18 5 V19 M5 5 L15 12 L5 19 Z",
  undo: "M9 5 L4 10 L9 15 M4 10 H14 C19 10 20 14 20 19",
  redo: "M15 5 L20 10 L15 15 M20 10 H10 C5 10 4 14 4 19",
  flip: "M7 4 V20 M3 8 L7 4 L11 8 M17 20 V4 M13 16 L17 20 L21 16",
  edit: "M4 20 L5 15 L16 4 L20 8 L9 19 Z M14 6 L18 10",
  gear:
    "M9.9 5.3 L10.2 2.6 L13.8 2.6 L14.1 5.3 L15.3 5.8 L17.4 4.1 L19.9 6.6 L18.2 8.7 L18.7 9.9 " +
    "L21.4 10.2 L21.4 13.8 L18.7 14.1 L18.2 15.3 L19.9 17.4 L17.4 19.9 L15.3 18.2 L14.1 18.7 " +
    "L13.8 21.4 L10.2 21.4 L9.9 18.7 L8.7 18.2 L6.6 19.9 L4.1 17.4 L5.8 15.3 L5.3 14.1 L2.6 13.8 " +
    "L2.6 10.2 L5.3 9.9 L5.8 8.7 L4.1 6.6 L6.6 4.1 L8.7 5.8 Z M12 8.8 A3.2 3.2 0 1 0 12.010 8.8 Z",
  eye: "M2 12 C6 5 18 5 22 12 C18 19 6 19 2 12 Z M12 9 A3 3 0 1 0 12.010 9 Z",
  erase: "M8 20 H20 M4 14 L13 5 L19 11 L10 20 H8 Z",
};

/** @param {string} name */
export const icon = (name) =>
  s(
    "svg",
    {
      viewBox: "0 0 24 24",
      "aria-hidden": "true",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 2,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    },
    s("path", { d: ICONS[name] }),
  );

/**
 * A button with a picture instead of a text.
 * @param {string} name of the icon
 * @param {string} label
 * @param {Page.Attributes["onclick"]} onclick
 * @param {Page.Attributes} [attributes]
 */
export const iconButton = (name, label, onclick, attributes = {}) =>
  button(icon(name), onclick, { "aria-label": label, title: label, ...attributes });
