// Icons as strokes on 24 x 24.

import { s } from "./ui.js";

const ICONS = {
  first: "M6 5 V19 M19 5 L9 12 L19 19 Z", back: "M16 5 L6 12 L16 19 Z", play: "M7 4 L19 12 L7 20 Z", pause: "M8 5 V19 M16 5 V19",
  forward: "M8 5 L18 12 L8 19 Z", last: "M18 5 V19 M5 5 L15 12 L5 19 Z",
  undo: "M9 5 L4 10 L9 15 M4 10 H14 C19 10 20 14 20 19", redo: "M15 5 L20 10 L15 15 M20 10 H10 C5 10 4 14 4 19",
  flip: "M7 4 V20 M3 8 L7 4 L11 8 M17 20 V4 M13 16 L17 20 L21 16", edit: "M4 20 L5 15 L16 4 L20 8 L9 19 Z M14 6 L18 10",
  eye: "M2 12 C6 5 18 5 22 12 C18 19 6 19 2 12 Z M12 9 A3 3 0 1 0 12.010 9 Z", erase: "M8 20 H20 M4 14 L13 5 L19 11 L10 20 H8 Z",
};

export const icon = (name) =>
  s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" }, s("path", { d: ICONS[name] }));
