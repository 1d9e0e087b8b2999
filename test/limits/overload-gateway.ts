// A gateway whose answers take CPU: some 25 of them at a time are all that the process can do.
import { createGateway, defineApp } from '../../server/index.js';
import { PIECE_MS, PIECES } from './overload.js';

const SPIN_MS = 0.8;

const app = defineApp({
  async *run() {
    const began = Date.now();
    for (let piece = 0; piece < PIECES; piece++) {
      const due = began + piece * PIECE_MS;
      const wait = due - Date.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const end = performance.now() + SPIN_MS;
      while (performance.now() < end);
      yield `${due} `;
    }
  },
});

const loopDelayMs = Number(process.env.LOOP_DELAY_MS ?? 250);
const gateway = createGateway({ app, port: 0, limits: { loopDelayMs, runMs: 600_000 } });
const { url } = await gateway.start();
console.log(`listening at ${url}`);
