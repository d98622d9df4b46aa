// The worker that measures the device: perft and endgames, with the module on the CPU and on the GPU of the browser.

import { file, startMeasuring } from "./answers.js";

addEventListener("message", async ({ data: pieces }) => {
  try {
    const code = await (await file("answers.wasm")).arrayBuffer();
    const measuring = await startMeasuring(code, (_, data) => postMessage({ progress: JSON.parse(data) }));
    const report = JSON.parse(await measuring.measure(pieces));
    postMessage(report.error ? report : { report: { ...report, memory: measuring.memory() } });
  } catch (error) {
    postMessage({ error: error.message });
  }
});
