// The types that the page's modules exchange.

type Board = import("../src/assets/board.js").Board;
type Game = import("../src/assets/game.js").Game;
type GameNode = import("../src/assets/game.js").GameNode;
type Owner = import("../src/assets/owner.js").Owner;
type Match = import("../src/assets/match.js").Match;
type Exercise = import("../src/assets/exercise.js").Exercise;

declare namespace Page {
  type Color = string;
  /** Every option of the rules with its value. */
  type Rules = Record<string, string>;
  /** Options of the rules with the values that meet a condition. */
  type Condition = Record<string, string[]>;
  /** How a game ended. */
  type Result = { winner: Color | null; reason: string };
  /** A move with its alternatives, as addresses and files contain them. */
  type TreeMove = { uci: string; nags?: number[]; comment?: string; variations?: TreeMove[][] };

  type Score = { kind: string; value: number };

  /**
   * A game to be shown. The rules default to those of the page, and are then chosen; the no-capture limit to the usual
   * one. `ending` are the tags of a result that the rules do not give.
   */
  type LoadedGame = {
    start: string;
    moves: (string | TreeMove)[];
    rules?: string;
    chosen?: string;
    limit?: number | null;
    tags?: string[][];
    comment?: string;
    ending?: string[][];
  };

  /** The tables' answer for a position of the tree, with the rules that it holds for; no value if the game is over. */
  type Knowledge = { rules: string; value: Value | null; keeps?: number | null; legal?: number };

  /** A value; with the category of the result at the clock if the no-capture limit may come before the end of the line. */
  type Value = Api.Value & { category?: Api.ValueAtClock["category"] };

  /** A legal move that the page has generated, or one of the server. */
  type Move = {
    uci: string;
    san: string;
    from: string;
    to: string;
    captures: string | null;
    den: boolean;
    leap: boolean;
    value: Value | null;
  };

  /** The answer of `probe`, or the part of it that the page computes itself (`local`). */
  type Probe = Pick<
    Api.Probe,
    "fen" | "rules" | "turn" | "pieces" | "material" | "known" | "other_side" | "zugzwang"
  > & {
    value: Value | null;
    moves?: Move[] | null;
    over: Result | null;
    keeps_result?: number | null;
    local?: boolean;
    /** Whether the answer has not come yet. */
    pending?: boolean;
  };

  /** The engine's evaluation of the position on the board. */
  type Evaluation = { state: string; last: Api.Info | null; lines: Api.Info[]; error: { code: string } | null };

  /** A view, which may change with the position. */
  type Panel = { key: string; build: () => Child; update?: () => unknown };

  /** What an element contains: nothing stands for what is left out. */
  type Child = Node | string | number | false | null | undefined | Child[];

  type Control = HTMLInputElement & HTMLSelectElement;

  /** An element of the markup, of whatever tag: with the properties of controls, dialogs and links. */
  type Found = HTMLElement &
    Pick<HTMLInputElement, "checked" | "disabled" | "select" | "value"> &
    Pick<HTMLDialogElement, "close" | "open" | "returnValue" | "showModal"> &
    Pick<HTMLAnchorElement, "href">;

  /** Attributes of an element: text, numbers, flags, and listeners. */
  interface Attributes {
    onclick?: (event: MouseEvent & { currentTarget: HTMLElement }) => unknown;
    onkeydown?: (event: KeyboardEvent & { target: HTMLElement; currentTarget: HTMLElement }) => unknown;
    onchange?: (event: Event & { target: Control }) => unknown;
    oninput?: (event: Event & { target: Control }) => unknown;
    onfocus?: (event: FocusEvent & { target: Control }) => unknown;
    onsubmit?: (event: SubmitEvent) => unknown;
    [name: string]: string | number | boolean | null | undefined | ((event: never) => unknown);
  }

  /** The parameters of a request. */
  type Query = Record<string, string | number | null | undefined>;

  /** An error as the server reports it, or one of the page. */
  type Problem = { code: string; message?: string; reason?: string; params?: Record<string, unknown> };

  /** What the page announces to its parts, with the detail of each event. */
  interface Events {
    address: void;
    analysis: void;
    connection: void;
    controller: void;
    evaluated: void;
    evaluation: void;
    flip: void;
    gameover: Match;
    jump: void;
    language: void;
    lesson: Exercise | null;
    match: Match | null;
    opentab: string;
    overlay: void;
    pieces: void;
    position: void;
    probe: void;
    review: void;
    rules: void;
    settings: void;
    status: void;
    tab: void;
    tick: void;
    train: import("../src/assets/trainer.js").Endgame | null;
    tree: void;
    trimmed: void;
    unpoint: void;
  }

  /** A match, a lesson or a puzzle, which decides about moves instead of the line. */
  interface Controller extends Owner {
    identity(): object;
    moves(): Move[];
    play(uci: string, message?: string): unknown;
    undo(): unknown;
    close?(): unknown;
    refuse(uci: string): unknown;
    headline(): string;
    leave(): void;
    /** Of a match: whether leaving would interrupt it, what it is, and how it is kept. */
    isRunning?(): boolean;
    setup?: import("../src/assets/match.js").Setup;
    store?(): void;
    /** The line that an exercise has taken the board from. */
    before?: Snapshot | null;
  }

  /** What a reload needs to begin again what owned the board, as the history of the browser keeps it. */
  type Kept = Partial<{
    id: string;
    date: string;
    setup: import("../src/assets/match.js").Setup;
    endgame: import("../src/assets/trainer.js").Endgame;
    before: Snapshot | null;
    lesson: string;
    puzzle: Puzzle;
    day: string;
    mistake: Reviewed;
    ply: number;
  }>;

  /** A move of a review, with the position before it. */
  type Reviewed = Api.ReviewedMove & { before: string };

  type Settings = {
    [key: string]: string | boolean;
    pieces: string;
    theme: string;
    language: string;
    unit: string;
    flipped: boolean;
    values: boolean;
    keys: boolean;
    sounds: boolean;
  };

  /** A position of the user's puzzle file. */
  type Puzzle = {
    id: string;
    fen: string;
    rules?: string;
    material: string;
    solution: string[];
    difficulty: number;
    themes: string[];
    goal?: string;
  };

  /** A task of a class, and what became of it: the moves, hints and takebacks of the try that solved it, or of the last. */
  type Task = { fen: string; title: string };
  type TaskResult = { won: boolean; tries: number; n: number; hints: number; takebacks: number };

  /** A game as the browser keeps it. */
  type StoredGame = {
    id: string;
    date: string;
    setup: import("../src/assets/match.js").Setup;
    rules: string;
    limit?: number | null;
    start: string;
    line: string;
    plies: number;
    result: Result | null;
    left: Record<Api.Turn, number> | null;
    /** The tab that has opened the game last. */
    owner?: string;
  };

  /** The state of a game, and the tree of its moves as plain data. */
  type PackedNode = Pick<GameNode, "uci" | "chosen" | "nags" | "comment" | "reviewed" | "ending"> & {
    children: PackedNode[];
  };
  type Snapshot = Pick<Game, "rules" | "chosen" | "limit" | "tags"> & { fen: string; tree: PackedNode; path: number[] };

  interface App {
    game: Game;
    /** Made when the page starts. */
    board: Board;
    /** The rules of the game as the address spells them: a preset, or options. */
    readonly rules: string;
    /** The rules with every option, as the server spells them. */
    readonly spelled: string;
    /** The rules that the user, a link or a file has chosen; a puzzle and a famous endgame have their own. */
    readonly chosen: string;
    /** The error in the address, and its FEN; null once a position is shown. */
    broken: (Problem & { fen: string }) | null;
    tab: string;
    /** What owns the board; null if the line does. */
    controller: Controller | null;
    /** The last match if its end is on the board. */
    finished: Match | null;
    evaluation: Evaluation;
    /** Whether the server did not respond to the last request. */
    offline: boolean;
    overlay: { name: string; letter?: string } | null;
    /** The answer for the position on the board; null while it is awaited. */
    probe: Probe | null;
    problem: Problem | null;
    editing: boolean;
    /** The tasks of a class that the address names. */
    tasks: Task[];
    /** Pieces of the largest tables. */
    largest: number;
    /** The most pieces of an endgame that the server counts on demand; 0 if it does not. */
    countable: number;
    settings: Settings;
    /** What the address requests besides the position. */
    wanted?: { overlay: string | null };
    /** A message above the board. */
    notice?: string;
  }
}
