// A gateway whose method holds the event loop for 10 ms: a hundred calls a second are all that the process can do. It waits where a
// method would compute, so that this does not depend on what else the machine does.
import { createGateway, defineApp } from '../../server/index.js';

const HELD_MS = 10;
const nobody = new Int32Array(new SharedArrayBuffer(4));

const gateway = createGateway({
  app: defineApp({ run: (turn) => turn.text }),
  methods: {
    work: async () => {
      Atomics.wait(nobody, 0, 0, HELD_MS);
      return 'done';
    },
  },
  port: 0,
  limits: { loopDelayMs: Number(process.env.LOOP_DELAY_MS) },
});
const { url } = await gateway.start();
console.log(`listening at ${url}`);
