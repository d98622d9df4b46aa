// The answers of the WebAssembly module (crates/web), which are functions on bytes.

/**
 * Starts the module.
 * @param {BufferSource} code
 * @param {string} puzzles one a line
 * @param {(name: string, data: string) => void} event receives the events of an analysis, while it runs
 */
export async function startAnswers(code, puzzles, event) {
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  let panic = "";
  // Addresses are numbers of 32 bits without a sign, which JavaScript reads with one.
  const read = (/** @type {number} */ at, /** @type {number} */ length) =>
    decoder.decode(new Uint8Array(module.memory.buffer, at >>> 0, length));
  const write = (/** @type {string} */ text) => {
    const bytes = encoder.encode(text);
    // The call may move the memory.
    const at = module.input(bytes.length) >>> 0;
    new Uint8Array(module.memory.buffer, at, bytes.length).set(bytes);
  };
  const host = {
    now: () => performance.now(),
    event: (/** @type {number[]} */ ...[name, nameLength, data, dataLength]) =>
      event(read(name, nameLength), read(data, dataLength)),
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
  /** @type {any} */
  const module = (await WebAssembly.instantiate(code, { host })).instance.exports;
  write(puzzles);
  if (call(() => module.start()) !== 0) throw new Error("the module cannot start");
  return {
    /**
     * The answer to a request of the HTTP API, with its status.
     * @param {string} method
     * @param {string} address
     */
    answer(method, address, body = "") {
      const [path, query] = address.split(/(?=\?)/, 2);
      write(`${method} ${decodeURIComponent(path)}${query ?? ""}\n${body}`);
      const status = call(() => module.answer(Math.random()));
      return { status, body: read(module.output(), module.output_len()) };
    },
  };
}
