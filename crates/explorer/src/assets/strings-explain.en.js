// English, for explanations. The same rules as in strings.en.js.
export default {
  "tree.result.draw": "The position is a draw",
  "tree.wrong": "The rule of thumb fails here. The tables say: {result}. The tree says: {said}.",
  "tree.mark": "Show on the board: {test}",
  "tree.marks": "Point at a question: the board shows what it asks about. The eye keeps that on the board.",
  "fortress.stuck": "{side} has no legal move.",
  "fortress.needs": "{side} needs only {squares} to hold the draw against every move of {other}.",
  "fortress.many": "{side} holds the draw on {n} squares against every move of {other}.",
  "fortress.unlisted": "Neither side can force a win. The defence needs too many positions to list.",

  "because.none": "{result}, as in every position of this material.",
  "because.tree": "{result}, by the decision tree of this material.",
  because: "{result}, because {reasons}.",
  although: "{result}, although {reasons}.",
  "because.and": ", and ",
};
