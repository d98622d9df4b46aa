// The GPU of the browser (WebGPU) for the WebAssembly module: the functions that src/gpu/web.rs imports.

/** @typedef {{ groups: GPUBindGroupLayout, pipelines: GPUPipelineLayout, bindings: number[] }} Layout */

/** The bytes of a set of parameters. */
const PARAMS = 256;
/** The letters of an error that the module receives: an answer has at most 4096 bytes. */
const LETTERS = 1000;

/** @param {GPUAdapter} adapter */
function description({ info, limits }) {
  const names = [info.description, info.device, `${info.vendor} ${info.architecture}`.trim()];
  return {
    name: names.find((name) => name) ?? "GPU",
    software: info.isFallbackAdapter || info.architecture === "swiftshader",
    max_binding: limits.maxStorageBufferBindingSize,
    max_buffer: limits.maxBufferSize,
    storage_buffers: 8,
    workgroup_memory: limits.maxComputeWorkgroupStorageSize,
    workgroup_invocations: limits.maxComputeInvocationsPerWorkgroup,
  };
}

/**
 * @param {() => WebAssembly.Memory} memory of the module
 * @param {() => void} resume goes on with the task of the module
 */
export function gpuFunctions(memory, resume) {
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  /** @type {Map<number, any>} */
  const objects = new Map();
  let last = 0;
  /** @type {GPUDevice} */
  let device;
  /** The first error since the last answer, and the loss of the device. @type {object | undefined} */
  let error;
  /** @type {object | undefined} */
  let lost;
  /** Error scopes that are not read yet. @type {Promise<unknown>[]} */
  let scopes = [];
  let answer = new Uint8Array();

  // Addresses are numbers of 32 bits without a sign, which JavaScript reads with one.
  const bytes = (/** @type {number} */ at, /** @type {number} */ length) =>
    new Uint8Array(memory().buffer, at >>> 0, length);
  const numbers = (/** @type {number} */ at, /** @type {number} */ length) =>
    new Uint32Array(memory().buffer, at >>> 0, length);
  const add = (/** @type {unknown} */ object) => {
    last += 1;
    objects.set(last, object);
    return last;
  };
  const failed = (/** @type {string} */ message, kind = "failed") => {
    error ??= { [kind]: message.slice(0, LETTERS) };
  };
  /**
   * Calls `run`, and notes its errors.
   * @template T
   * @param {() => T} run
   */
  function checked(run) {
    device.pushErrorScope("out-of-memory");
    device.pushErrorScope("validation");
    try {
      return run();
    } catch (thrown) {
      failed(String(thrown));
    } finally {
      for (const kind of ["failed", "out_of_memory"])
        scopes.push(device.popErrorScope().then((found) => found && failed(found.message, kind)));
    }
    return undefined;
  }
  /**
   * Begins an operation that the module awaits.
   * @param {() => Promise<unknown>} run
   */
  async function begin(run) {
    /** @type {unknown} */
    let result;
    try {
      result = await run();
    } catch (thrown) {
      failed(thrown instanceof Error ? thrown.message : String(thrown));
    }
    await Promise.allSettled(scopes);
    scopes = [];
    answer = encoder.encode(JSON.stringify(lost ?? error ?? result ?? "done"));
    error = undefined;
    resume();
  }

  async function open() {
    const adapter = await globalThis.navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) return "none";
    const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
    device = await adapter.requestDevice({ requiredLimits: { maxStorageBufferBindingSize, maxBufferSize } });
    device.lost.then(({ message }) => {
      lost = { lost: message.slice(0, LETTERS) || "the browser gives no reason" };
    });
    return { opened: description(adapter) };
  }

  /**
   * @param {number} buffer
   * @param {number} at
   * @param {number} length
   * @param {number} to
   */
  async function read(buffer, at, length, to) {
    const staging = checked(() => {
      const staging = device.createBuffer({ size: length, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(objects.get(buffer), at, staging, 0, length);
      device.queue.submit([encoder.finish()]);
      return staging;
    });
    if (!staging) return;
    await staging.mapAsync(GPUMapMode.READ);
    bytes(to, length).set(new Uint8Array(staging.getMappedRange()));
    staging.destroy();
  }

  /**
   * @param {number} layout
   * @param {string} code
   * @param {number} number
   */
  async function compile(layout, code, number) {
    const module = device.createShaderModule({ code });
    const compute = { module, entryPoint: "main" };
    const pipeline = await device.createComputePipelineAsync({ layout: objects.get(layout).pipelines, compute });
    objects.set(number, pipeline);
  }

  return {
    open: () => void begin(open),
    buffer: (/** @type {number} */ size, /** @type {number} */ isParams) => {
      const { STORAGE, UNIFORM, INDIRECT, COPY_SRC, COPY_DST } = GPUBufferUsage;
      const usage = isParams ? UNIFORM | COPY_DST : STORAGE | INDIRECT | COPY_SRC | COPY_DST;
      return add(checked(() => device.createBuffer({ size, usage })));
    },
    write: (/** @type {number[]} */ ...[buffer, at, from, length]) => {
      checked(() => device.queue.writeBuffer(objects.get(buffer), at, bytes(from, length)));
    },
    clear: (/** @type {number} */ buffer, /** @type {number} */ length) => {
      checked(() => {
        const encoder = device.createCommandEncoder();
        encoder.clearBuffer(objects.get(buffer), 0, length);
        device.queue.submit([encoder.finish()]);
      });
    },
    read: (/** @type {number[]} */ ...[buffer, at, length, to]) => void begin(() => read(buffer, at, length, to)),
    layout: (/** @type {number} */ storage, /** @type {number} */ count) => {
      const visibility = GPUShaderStage.COMPUTE;
      /** @type {GPUBindGroupLayoutEntry[]} */
      const entries = [{ binding: 0, visibility, buffer: { type: "uniform", hasDynamicOffset: true } }];
      const pairs = numbers(storage, 2 * count);
      for (let i = 0; i < count; i++) {
        const type = pairs[2 * i + 1] ? "read-only-storage" : "storage";
        entries.push({ binding: pairs[2 * i], visibility, buffer: { type } });
      }
      const layout = checked(() => {
        const groups = device.createBindGroupLayout({ entries });
        const pipelines = device.createPipelineLayout({ bindGroupLayouts: [groups] });
        return { groups, pipelines, bindings: entries.slice(1).map(({ binding }) => binding) };
      });
      return add(layout);
    },
    kernel: (/** @type {number[]} */ ...[layout, text, length]) => {
      // The text, before the module uses its memory again.
      const code = decoder.decode(bytes(text, length));
      const number = add(undefined);
      void begin(() => compile(layout, code, number));
      return number;
    },
    bind: (/** @type {number[]} */ ...[layout, params, storage, count]) => {
      /** @type {Layout} */
      const { groups, bindings } = objects.get(layout);
      /** @type {GPUBindGroupEntry[]} */
      const entries = [{ binding: 0, resource: { buffer: objects.get(params), size: PARAMS } }];
      const buffers = [...numbers(storage, count)].map((number) => ({ buffer: objects.get(number) }));
      buffers.forEach((resource, i) => entries.push({ binding: bindings[i], resource }));
      return add(checked(() => device.createBindGroup({ layout: groups, entries })));
    },
    submit: (/** @type {number} */ steps, /** @type {number} */ count) => {
      const all = numbers(steps, 6 * count);
      checked(() => {
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        for (let i = 0; i < count; i++) {
          const [kernel, bound, params, groups, buffer, at] = all.subarray(6 * i, 6 * i + 6);
          pass.setPipeline(objects.get(kernel));
          pass.setBindGroup(0, objects.get(bound), [params]);
          if (buffer) pass.dispatchWorkgroupsIndirect(objects.get(buffer), at);
          else pass.dispatchWorkgroups(groups);
        }
        pass.end();
        device.queue.submit([encoder.finish()]);
      });
    },
    wait: () => void begin(() => device.queue.onSubmittedWorkDone()),
    release: (/** @type {number} */ number) => {
      const object = objects.get(number);
      objects.delete(number);
      if (object instanceof GPUBuffer) object.destroy();
    },
    answer: (/** @type {number} */ to, /** @type {number} */ capacity) => {
      const part = answer.subarray(0, capacity);
      bytes(to, part.length).set(part);
      return part.length;
    },
  };
}
