// Exports pictures as files.

import { during } from "./pending.js";
import { download, h, toast } from "./ui.js";

const STROKE = ["width", "opacity", "dasharray", "linecap", "linejoin"].map((name) => `stroke-${name}`);
const FONT = ["family", "size", "weight"].map((name) => `font-${name}`);
const PROPERTIES = ["fill", "fill-opacity", "stroke", ...STROKE, "opacity", ...FONT, "text-anchor"];

/**
 * The text of an SVG file. Classes and variables of the page do not reach it, so computed styles are written in.
 * @param {SVGSVGElement} picture
 * @param {number} width
 * @param {number} height
 */
export function toSvg(picture, width, height) {
  const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
  const originals = /** @type {NodeListOf<SVGElement>} */ (picture.querySelectorAll("*"));
  copy.querySelectorAll("*").forEach((element, i) => inline(element, originals[i]));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  for (const attribute of ["class", "aria-hidden", "focusable"]) copy.removeAttribute(attribute);
  return new XMLSerializer().serializeToString(copy);
}

/** @type {(element: Element, original: SVGElement) => void} */
function inline(element, original) {
  const style = getComputedStyle(original);
  for (const property of PROPERTIES) {
    // A reference to a paint is resolved against the page; in the file it is local again.
    const value = style.getPropertyValue(property).replace(/url\("[^"#]*(#[^"]+)"\)/, "url($1)");
    if (value && (property === "fill" || (value !== "none" && value !== "normal")))
      element.setAttribute(property, value);
  }
  const { transform } = original.style;
  if (transform) element.setAttribute("transform", transform.replaceAll("px", ""));
  element.removeAttribute("style");
  element.removeAttribute("class");
}

/**
 * Saves the text of an SVG file as a PNG file.
 * @param {string} svg
 * @param {string} file
 */
export async function savePng(svg, file) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  try {
    await during("a picture", image.decode());
    const canvas = h("canvas", { width: image.width, height: image.height });
    canvas.getContext("2d")?.drawImage(image, 0, 0);
    canvas.toBlob((blob) => blob && download(blob, file));
  } catch (error) {
    toast(error.message);
  }
}
