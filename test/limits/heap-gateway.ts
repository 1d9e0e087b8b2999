// A gateway whose methods fill and free its heap, which NODE_OPTIONS bounds.
import { createGateway, defineApp } from '../../server/index.js';

const held: unknown[] = [];
const gateway = createGateway({
  app: defineApp({ run: (turn) => turn.text }),
  methods: {
    // Small objects, because large ones have a heap of their own.
    fill: async () => {
      for (let each = 0; each < 500; each += 1) held.push(Array.from({ length: 20 }, (_, at) => [at]));
      return held.length;
    },
  },
  port: 0,
  limits: { loopDelayMs: Number.POSITIVE_INFINITY },
});
process.on('SIGUSR2', () => void held.splice(0));
const { url } = await gateway.start();
console.log(`listening at ${url}`);
