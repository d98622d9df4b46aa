// The worker for tasks of the whole device, with the module on its CPU and on the GPU of the browser: measurements, and
// endgames that a visitor asks to solve.

import { file, startTasks } from "./answers.js";

/**
 * @typedef {{ measure: number }} Measure the most pieces of the endgames
 * @typedef {{ count: string, device?: keyof typeof import("./answers.js").DEVICES }} Count a query of the HTTP API
 */

addEventListener("message", async ({ data }) => {
  try {
    const code = await (await file("answers.wasm")).arrayBuffer();
    const tasks = await startTasks(code, (event, data) => postMessage({ event, data }));
    if (data.count === undefined) {
      const report = JSON.parse(await tasks.measure(data.measure));
      return postMessage(report.error ? report : { report: { ...report, memory: tasks.memory() } });
    }
    const counted = await tasks.count(data.count, data.device ?? "auto");
    if (counted) postMessage({ counted }, { transfer: counted.values.map(({ buffer }) => buffer) });
  } catch (error) {
    postMessage({ error: error.message });
  }
});
