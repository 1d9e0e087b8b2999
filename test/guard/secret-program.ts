import { setTimeout as delay } from 'node:timers/promises';
import { recordInto, recording } from '../../server/features/recording/index.js';
import { createGateway, defineApp, tool } from '../../server/index.js';
import { agUiPlugin } from '../../server/plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { langGraphPlugin } from '../../server/plugins/langgraph/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../server/plugins/ui-message-stream/index.js';
import { TOKEN } from '../support/gateway.js';
import { storeAt } from '../support/store-at.js';
import '../support/shipped-limits.js';
import { REDACTED, SECRET, WHOLE } from './secret.js';

// secret-program <store> <folder of recordings>: a gateway whose app says a secret in all its ways, cut anywhere, behind a guard.
const [, , place, recordings] = process.argv;

function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const length = 1 + Math.floor(Math.random() * 9);
    yield text.slice(at, at + length);
    at += length;
  }
}

const app = defineApp({
  resumable: true,
  guard: {
    check: async (text) => {
      await delay(Math.random() * 8);
      return text.includes(SECRET) ? { replace: text.replaceAll(SECRET, REDACTED) } : 'pass';
    },
    window: { chars: 20, overlap: SECRET.length },
    parts: ['text', 'reasoning', 'tool-input', 'tool-output', 'data', 'step', 'message'],
  },
  tools: { look: tool({ handler: () => ({ found: SECRET }) }) },
  async *run(turn) {
    await turn.step('think', () => `the key is ${SECRET}`);
    yield { type: 'reasoning_delta', delta: `use ${SECRET}` } as const;
    await turn.callTool('look', { with: SECRET });
    turn.data('card', { text: SECRET }, { id: 'card' });
    turn.title(`About ${SECRET}`);
    for (const piece of cut(WHOLE)) {
      yield piece;
      await delay(Math.random() * 3);
    }
  },
});

const gateway = createGateway({
  app: recording(app, { to: recordInto(recordings!) }),
  port: 0,
  auth: { type: 'token', token: TOKEN },
  store: storeAt(place!, 500),
  limits: { sendsPerSecond: Number.POSITIVE_INFINITY, queueLength: 1000 },
});
for (const plugin of [
  agUiPlugin(),
  chatCompletionsPlugin(),
  langGraphPlugin(),
  responsesPlugin(),
  uiMessageStreamPlugin(),
])
  gateway.use(plugin);
console.log('listening', (await gateway.start()).url);
