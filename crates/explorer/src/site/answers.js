// The answers of the WebAssembly module (crates/web), which are functions on bytes.

import { gpuFunctions } from "./gpu.js";

/** Why a part of a file cannot be read: the numbers of src/tablebase/store/host_file.rs. */
export const MISSING = -1;
const NO_PARTS = -2;
const SILENT = -3;
/** The largest file, in bytes, of which a host may send all instead of a part. */
const SMALL = 1 << 20;

/**
 * A part of a file, as long as the file reaches, and the length of the file; or the number of a reason.
 * @typedef {{ bytes: Uint8Array, length: number } | number} Part
 * @typedef {(path: string, at: number, length: number) => Part} ReadPart
 */

/**
 * Requests a part of a file beside this one from the host and waits for it, which only workers may do.
 * @type {ReadPart}
 */
export function requestPart(path, at, length) {
  const request = new XMLHttpRequest();
  request.open("GET", new URL(path, import.meta.url), false);
  request.responseType = "arraybuffer";
  request.setRequestHeader("Range", `bytes=${at}-${at + length - 1}`);
  try {
    request.send();
  } catch {
    return SILENT;
  }
  const { status, response } = request;
  const bytes = new Uint8Array(response ?? []);
  const whole = Number(request.getResponseHeader("Content-Range")?.split("/")[1] ?? NaN);
  if (status === 206 && whole >= 0) return { bytes: bytes.subarray(0, length), length: whole };
  if (status === 416 && whole >= 0) return { bytes: bytes.subarray(0, 0), length: whole };
  if (status === 200 && bytes.length <= SMALL) return { bytes: bytes.subarray(at, at + length), length: bytes.length };
  if (status === 404) return MISSING;
  return status === 200 || status === 206 ? NO_PARTS : SILENT;
}

/**
 * A file beside this one.
 * @param {string} name
 */
export async function file(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new TypeError(`${name}: ${response.status}`);
  return response;
}

/**
 * Loads the module.
 * @param {BufferSource} code
 * @param {(name: string, data: string) => void} event receives events while the module works
 * @param {() => void} resume goes on after an operation of the GPU
 * @param {ReadPart} [readPart] reads tables
 */
async function load(code, event, resume, readPart = () => MISSING) {
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  let panic = "";
  // Addresses are numbers of 32 bits without a sign, which JavaScript reads with one.
  const read = (/** @type {number} */ at, /** @type {number} */ length) =>
    decoder.decode(new Uint8Array(module.memory.buffer, at >>> 0, length));
  const write = (/** @type {string | Uint8Array} */ given) => {
    const bytes = typeof given === "string" ? encoder.encode(given) : given;
    // The call may move the memory.
    const at = module.input(bytes.length) >>> 0;
    new Uint8Array(module.memory.buffer, at, bytes.length).set(bytes);
  };
  const host = {
    now: () => performance.now(),
    event: (/** @type {number[]} */ ...[name, nameLength, data, dataLength]) =>
      event(read(name, nameLength), read(data, dataLength)),
    read_file: (/** @type {number[]} */ ...[path, pathLength, at, to, length]) => {
      const part = readPart(read(path, pathLength), at, length);
      if (typeof part === "number") return part;
      new Uint8Array(module.memory.buffer, to >>> 0, part.bytes.length).set(part.bytes);
      return part.length;
    },
    panicked: (/** @type {number} */ at, /** @type {number} */ length) => {
      panic = read(at, length);
    },
  };
  const call = (/** @type {() => number} */ run) => {
    try {
      return run();
    } catch (error) {
      throw new Error(panic || error.message, { cause: error });
    }
  };
  const gpu = gpuFunctions(() => module.memory, resume);
  /** @type {any} */
  const module = (await WebAssembly.instantiate(code, { host, gpu })).instance.exports;
  const output = () => read(module.output(), module.output_len());
  return { module, write, call, output };
}

/**
 * Starts the module for requests.
 * @param {BufferSource} code
 * @param {Uint8Array} puzzles one a line
 * @param {(name: string, data: string) => void} event receives the events of an analysis, while it runs; at the start
 * and later `fault`, with the reason, if the tables cannot be used
 * @param {(preset: string) => Promise<Uint8Array>} network reads the network of the engine for a preset of the rules
 * @param {ReadPart} [readPart] reads the tables, if there are any
 */
export async function startAnswers(code, puzzles, event, network, readPart) {
  const { module, write, call, output } = await load(code, event, () => {}, readPart);
  write(puzzles);
  if (call(() => module.start()) !== 0) throw new Error("the module cannot start");
  const answer = (/** @type {string} */ request) => {
    write(request);
    const status = call(() => module.answer(Math.random()));
    return { status, body: output() };
  };
  return {
    /**
     * The answer to a request of the HTTP API, with its status. The first search under some rules loads their network.
     * @param {string} method
     * @param {string} address
     */
    async answer(method, address, body = "") {
      const [path, query] = address.split(/(?=\?)/, 2);
      const request = `${method} ${decodeURIComponent(path)}${query ?? ""}\n${body}`;
      const found = answer(request);
      const missing = found.status === 503 && JSON.parse(found.body).error.params?.network;
      if (!missing) return found;
      write(await network(missing));
      if (call(() => module.network()) !== 0) throw new Error("the network is damaged");
      return answer(request);
    },
    /**
     * Keeps the values of a class that another module has solved. Returns whether there is enough memory.
     * @param {Counted} counted
     */
    keep({ head, values }) {
      write(head);
      if (call(() => module.receive()) !== 0) return false;
      values.forEach((bytes, turn) => {
        // The call may move the memory.
        const at = module.values(turn) >>> 0;
        new Uint8Array(module.memory.buffer, at, bytes.length).set(bytes);
      });
      module.keep();
      return true;
    },
  };
}

/**
 * A class of endgames that a module has solved: what another module needs to keep it, and the values of its positions
 * with White and with Black to move.
 * @typedef {{ head: string, values: Uint8Array<ArrayBuffer>[] }} Counted
 */

/** What counts: the numbers of `count` of crates/web. */
export const DEVICES = { auto: 0, cpu: 1, gpu: 2 };

/**
 * Starts the module for tasks of the whole device.
 * @param {BufferSource} code
 * @param {(name: string, data: string) => void} event receives the progress, and why a count has failed
 */
export async function startTasks(code, event) {
  let resume = () => {};
  const { module, write, call, output } = await load(code, event, () => resume());
  /** @type {(run: () => number) => Promise<string>} The output of a task. */
  const task = (run) =>
    new Promise((resolve, reject) => {
      const step = (/** @type {() => number} */ run) => {
        try {
          if (call(run) === 1) resolve(output());
        } catch (error) {
          reject(error);
        }
      };
      resume = () => step(() => module.resume());
      step(run);
    });
  const values = (/** @type {number} */ turn) => {
    const at = module.values(turn) >>> 0;
    return new Uint8Array(module.memory.buffer.slice(at, at + (module.values_len(turn) >>> 0)));
  };
  return {
    /** Bytes of the module's memory, which never shrinks. */
    memory: () => module.memory.buffer.byteLength,
    /**
     * The report, as JSON.
     * @param {number} pieces all endgames of up to this many pieces are solved
     */
    measure: (pieces) => task(() => module.measure(pieces)),
    /**
     * The class of the position in a query of the HTTP API; null if that has failed.
     * @param {string} query
     * @param {keyof typeof DEVICES} device
     * @returns {Promise<Counted | null>}
     */
    async count(query, device) {
      write(query);
      const head = await task(() => module.count(DEVICES[device]));
      return head ? { head, values: [0, 1].map(values) } : null;
    },
  };
}
