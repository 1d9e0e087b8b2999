import { z } from 'zod';
import { createGateway, defineApp, tool } from '../../server/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { stopOnSignals } from '../../server/runtime/stop-on-signals.js';
import { storeAt } from '../../server/runtime/store-at.js';
import { textOf } from '../../shared/messages.js';
import { TOKEN } from '../support/gateway.js';

// A gateway on a store that others share. Its arguments: the port, and where sessions are kept.

const [port = '', place = ''] = process.argv.slice(2);
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Answers word by word, and is done long before a gateway that drains runs out of patience. */
const short = defineApp({
  async *run(turn) {
    for (const word of `You said: ${turn.text}`.split(' ')) {
      yield `${word} `;
      await pause(20);
    }
  },
});

/** Counts until somebody says something more, in whichever process it runs. */
const long = defineApp({
  resumable: true,
  async *run(turn) {
    const said = turn.resumed ? textOf(turn.resumed) : '';
    for (let n = said.split(' ').length; turn.steered().length === 0; n++) {
      yield `${n} `;
      await pause(50);
    }
  },
});

/** Waits for a person. */
const asking = defineApp({
  resumable: true,
  async *run(turn) {
    if (!turn.resumed) yield 'May I? ';
    yield String(await turn.ask({ name: 'may' }));
  },
});

const tools = defineApp({
  tools: {
    double: tool({
      description: 'Twice a number',
      schema: z.object({ n: z.number() }),
      handler: async ({ n }) => {
        await pause(20);
        return { twice: 2 * n };
      },
    }),
  },
  run: () => 'Call my tools.',
});

const gateway = createGateway({
  apps: { short, long, asking, tools },
  defaultApp: 'short',
  port: Number(port),
  auth: { type: 'token', token: TOKEN },
  trustProxy: 1,
  store: await storeAt(place),
  // Some hundred times what an answer of `short` takes. And the machine has others to serve than what is tested.
  limits: { drainMs: 8000, loopDelayMs: Number.POSITIVE_INFINITY },
});
gateway.use(chatCompletionsPlugin()).use(mcpServerPlugin({ sessionId: 'tools:main' }));
stopOnSignals(
  () => gateway.close(),
  (error) => console.error(error),
);
await gateway.start();
console.log('started');
