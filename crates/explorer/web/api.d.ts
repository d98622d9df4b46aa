// The API's types for the page's modules. `npm run api` derives openapi.d.ts from the description, crates/answers/src/openapi.json.

import type { components } from "./openapi";

declare global {
  namespace Api {
    type Schemas = components["schemas"];
    type Value = Schemas["Value"];
    type Move = Schemas["Move"];
    type ValueAtClock = Schemas["ValueAtClock"];
    type Dtz = Schemas["Dtz"];
    type Over = Schemas["Over"];
    type Probe = Schemas["Probe"];
    type MainLine = Schemas["MainLine"];
    type WhatIf = Schemas["WhatIf"];
    type Race = Schemas["Race"];
    type Rulesets = Schemas["Presets"];
    type Fortress = Schemas["Fortress"];
    type Stats = Schemas["MaterialStats"];
    type Matrix = Schemas["Matrix"];
    type Rules = Schemas["RulesAnswer"];
    type Status = Schemas["Status"];
    type Score = Schemas["Score"];
    type Info = Schemas["Info"];
    type BestMove = Schemas["BestMove"];
    type Review = Schemas["Review"];
    type GameText = Schemas["GameText"];
    type AnnotatedMove = Schemas["AnnotatedMove"];
    type Clause = Schemas["Clause"];
    type Tree = Schemas["Tree"];
    type CountNeed = Schemas["CountNeed"];
    type CountProgress = Schemas["CountProgress"];
    type ErrorBody = Schemas["ErrorBody"];
    type LineEntry = Schemas["LineEntry"];
    type ReviewedMove = Schemas["ReviewedMove"];
    type TreeNode = Schemas["TreeNode"];

    /** The answers to GET, by the path of the request. */
    interface Answers {
      bestmove: BestMove;
      dtz: Dtz;
      fortress: Fortress;
      longest: Schemas["Longest"];
      mainline: MainLine;
      matrix: Matrix;
      need: CountNeed;
      probe: Page.Probe;
      puzzles: Schemas["PuzzlesAnswer"];
      race: Race;
      random: Schemas["RandomPosition"];
      rulesets: Rulesets;
      state: Schemas["GameState"];
      status: Status;
      tree: Tree;
      whatif: WhatIf;
    }
    type Answer<P extends string> = P extends keyof Answers ? Answers[P] : P extends `stats/${string}` ? Stats : never;
    /** The answers to POST. */
    type Posted = { game: GameText; review: Review };

    type Turn = string;
    /** A board: a letter or null for each square from a1 to g9, and the side to move. */
    type Position = { squares: (string | null)[]; turn: Turn };
  }
}

export {};
