// The functions of the GPU, with a device that does nothing, or fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuFunctions } from "../../src/site/gpu.js";

globalThis.GPUBufferUsage = { STORAGE: 1, UNIFORM: 2, INDIRECT: 4, COPY_SRC: 8, COPY_DST: 16, MAP_READ: 32 };
globalThis.GPUMapMode = { READ: 1 };
globalThis.GPUBuffer = class {
  constructor(bytes) {
    this.bytes = new Uint8Array(bytes);
  }
  async mapAsync() {}
  getMappedRange() {
    return this.bytes.buffer;
  }
  destroy() {
    this.bytes = null;
  }
};

/** A device whose queue copies; `errors` are the results of its error scopes. */
function fakeDevice(errors) {
  let lose;
  const lost = new Promise((resolve) => (lose = (message) => resolve({ message })));
  return {
    lose: (message) => lose(message),
    lost,
    pushErrorScope() {},
    popErrorScope: async () => errors.shift() ?? null,
    createBuffer: ({ size }) => new globalThis.GPUBuffer(size),
    createCommandEncoder: () => ({
      copyBufferToBuffer: (from, at, to, toAt, size) => to.bytes.set(from.bytes.subarray(at, at + size), toAt),
      finish() {},
    }),
    queue: {
      submit() {},
      writeBuffer: (buffer, at, bytes) => buffer.bytes.set(bytes, at),
      onSubmittedWorkDone: async () => {},
    },
  };
}

/** The functions, a function that awaits one of them and returns the answer, and the memory of the module. */
function opened(device) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  let resume;
  const gpu = gpuFunctions(
    () => memory,
    () => resume(),
  );
  const limits = { maxStorageBufferBindingSize: 1 << 27, maxBufferSize: 1 << 28 };
  const info = { description: "", device: "", vendor: "some", architecture: "gpu" };
  const adapter = { limits, info, requestDevice: async () => device };
  Object.defineProperty(globalThis, "navigator", {
    value: { gpu: { requestAdapter: async () => device && adapter } },
    configurable: true,
  });
  const ended = async (name, ...values) => {
    const waiting = new Promise((resolve) => (resume = resolve));
    gpu[name](...values);
    await waiting;
    const length = gpu.answer(1024, 4096);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, 1024, length)));
  };
  return { gpu, ended, bytes: new Uint8Array(memory.buffer) };
}

test("buffers are written and read", async () => {
  const { gpu, ended, bytes } = opened(fakeDevice([]));
  const { opened: report } = await ended("open");
  assert.equal(report.name, "some gpu");
  assert.equal(report.max_binding, 1 << 27);
  const buffer = gpu.buffer(16, 0);
  bytes.set([1, 2, 3, 4], 100);
  gpu.write(buffer, 8, 100, 4);
  assert.equal(await ended("read", buffer, 4, 8, 200), "done");
  assert.deepEqual([...bytes.subarray(200, 208)], [0, 0, 0, 0, 1, 2, 3, 4]);
});

test("a browser without GPU says so", async () => {
  const { ended } = opened(null);
  assert.equal(await ended("open"), "none");
});

test("errors are the answer of the next operation", async () => {
  const errors = [];
  const { gpu, ended } = opened(fakeDevice(errors));
  await ended("open");
  errors.push(null, { message: "no memory" });
  gpu.buffer(16, 0);
  assert.deepEqual(await ended("wait"), { out_of_memory: "no memory" });
  assert.equal(await ended("wait"), "done");
  errors.push({ message: "wrong" });
  gpu.buffer(16, 0);
  assert.deepEqual(await ended("wait"), { failed: "wrong" });
  // The answer has a limited length, so a long message is cut.
  errors.push(null, { message: "x".repeat(100_000) });
  gpu.buffer(16, 0);
  assert.match((await ended("wait")).out_of_memory, /^x+$/);
  // Reading an object that does not exist throws.
  assert.match((await ended("read", 99, 0, 4, 200)).failed, /TypeError/);
});

test("a lost device stays lost", async () => {
  const device = fakeDevice([]);
  const { ended } = opened(device);
  await ended("open");
  device.queue.onSubmittedWorkDone = async () => {
    throw new Error("aborted");
  };
  device.lose("unplugged");
  assert.deepEqual(await ended("wait"), { lost: "unplugged" });
  assert.deepEqual(await ended("wait"), { lost: "unplugged" });
});
