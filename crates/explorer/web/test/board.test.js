// The board's pure parts: labels, sounds, leaps, and drawings on a document of a few lines.

import assert from "node:assert/strict";
import { before, test } from "node:test";

/** Elements that record their tag, attributes and children. */
class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, children: [] });
  }
  setAttribute(key, value) {
    this.attributes[key] = String(value);
  }
  append(...children) {
    this.children.push(...children);
  }
  all() {
    return [this, ...this.children.flatMap((child) => (child instanceof Element ? child.all() : []))];
  }
  text() {
    return this.children.map((child) => (child instanceof Element ? child.text() : child)).join("");
  }
}

/** The numbers in a path's data. */
const numbers = (d) => d.match(/-?\d*\.?\d+/g).map(Number);

let pieces, scenery, position, sounds, motion;
before(async () => {
  globalThis.document = { createElementNS: (_, tag) => new Element(tag), createElement: (tag) => new Element(tag) };
  const load = (file) => import(`../../src/assets/${file}.js`);
  [pieces, scenery, position, sounds, motion] = await Promise.all(
    ["pieces", "scenery", "position", "sounds", "motion"].map(load),
  );
});

test("every piece has a disc with its rank inside", () => {
  for (const piece of position.PIECES) {
    for (const style of ["animals", "letters", "characters"]) {
      const art = pieces.pieceArt(piece, style, "dog-over-wolf=yes").all();
      const one = (name) => art.find((element) => element.attributes.class === name);
      assert.equal(one("rank").text(), String(position.strength(piece, "dog-over-wolf=yes")));
      const [disc, badge] = [one("disc").attributes, one("badge").attributes];
      const away = Math.hypot(badge.cx - disc.cx, badge.cy - disc.cy);
      assert.ok(away + Number(badge.r) <= Number(disc.r), `${piece}: the rank reaches ${away + Number(badge.r)}`);
    }
  }
});

test("traps and dens are drawn in their owner's colour, and nothing else is built", () => {
  for (let square = 0; square < 63; square++) {
    const { kind, owner } = position.ground(square);
    const art = scenery.building(square);
    if (owner) assert.equal(art.attributes.class, `${kind} of-${owner}`);
    else assert.equal(art, null);
  }
});

test("every square of water has its middle in a lake, and no square of land has", () => {
  const shores = scenery
    .landscape()
    .filter((group) => group.children.some((child) => child.attributes?.class === "lake"));
  assert.equal(shores.length, 2);
  const lakes = shores.map((group) => {
    const outline = group.all().find((element) => element.attributes.class === "shore").attributes.d;
    return { at: placed(group.attributes.transform), corners: polygon(outline) };
  });
  for (let square = 0; square < 63; square++) {
    const middle = [(square % 7) * 100 + 50, (8 - Math.floor(square / 7)) * 100 + 50];
    const wet = lakes.some(({ at, corners }) => inside(corners, at(middle)));
    assert.equal(wet, position.ground(square).kind === "water", position.name(square));
  }
});

/** The function that applies a lake's transform to a point. */
function placed(transform) {
  const [a, b, c, d, x, y] = transform.startsWith("matrix") ? numbers(transform) : [1, 0, 0, 1, ...numbers(transform)];
  assert.deepEqual([b, c], [0, 0]);
  return ([px, py]) => [(px - x) / a, (py - y) / d];
}

/** A path of one move and cubic curves as a polygon of the curves' end points. */
function polygon(d) {
  const flat = numbers(d);
  const ends = [[flat[0], flat[1]]];
  for (let i = 2; i < flat.length; i += 6) ends.push([flat[i + 4], flat[i + 5]]);
  return ends;
}

function inside(corners, [x, y]) {
  return corners.reduce((wet, [x1, y1], i) => {
    const [x2, y2] = corners[(i + 1) % corners.length];
    const crosses = y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1;
    return crosses ? !wet : wet;
  }, false);
}

test("a move sounds like what it does", () => {
  const fen = "7/3r3/7/6L/7/7/7/3E3/7 w";
  assert.equal(sounds.soundOf(fen, "g6g7"), "move");
  assert.equal(sounds.soundOf(fen, "d2c2"), "move");
  assert.equal(sounds.soundOf(fen, "g6d6"), "leap");
  assert.equal(sounds.soundOf("7/7/7/3r3/3E3/7/7/7/7 w", "d5d6"), "capture");
});

test("one step is no leap", () => {
  assert.equal(motion.isLeap([3, 3], [3, 4]), false);
  assert.equal(motion.isLeap([3, 3], [3, 3]), false);
  assert.equal(motion.isLeap([6, 3], [3, 3]), true);
  assert.equal(motion.isLeap([1, 2], [1, 6]), true);
});
