import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway, defineApp, GatewayError, tracked } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';

/** A gateway for the tests of the Python client: node gateway.ts <port> <token> [database] */
const [port = '0', token = '', database] = process.argv.slice(2);
const calls = new Map<string, number>();
const pieces = Array.from({ length: 40 }, (_, i) => `${i} é\u2028→ `);
const echo = defineApp({
  async *run(turn) {
    for (const word of turn.text.split(' ')) yield `${word} `;
  },
});
const slow = defineApp({
  resumable: true,
  async *run(turn) {
    for (const piece of pieces) {
      yield piece;
      await sleep(10, undefined, { signal: turn.signal });
    }
  },
});
const asks = defineApp({
  async *run(turn) {
    yield `Hello ${await turn.ask({ name: 'name', payload: 'Your name?' })}`;
  },
});
const fails = defineApp({
  // biome-ignore lint/correctness/useYield: It ends before it says anything.
  async *run() {
    throw new GatewayError({ code: 'UPSTREAM_FAILED', message: 'The model is away' });
  },
});
const gateway = createGateway({
  port: Number(port),
  auth: { type: 'token', token },
  apps: { echo, slow, asks, fails },
  defaultApp: 'echo',
  ...(database && { store: sqliteStore({ path: database }) }),
  methods: {
    add: async ({ a, b }: { readonly a: number; readonly b: number }) => a + b,
    count: async ({ key }: { readonly key: string }) => {
      calls.set(key, (calls.get(key) ?? 0) + 1);
      return 'counted';
    },
    async *letters({ key }: { readonly key: string }) {
      calls.set(key, (calls.get(key) ?? 0) + 1);
      yield* 'abcdefgh';
    },
    counted: async ({ key }: { readonly key: string }) => calls.get(key) ?? 0,
    nothing: async () => undefined,
    async *numbers({ to }: { readonly to: number }, { lastEventId }: { readonly lastEventId?: string }) {
      for (let i = Number(lastEventId ?? 0) + 1; i <= to; i++) yield tracked(`${i}`, i);
    },
  },
  limits: { heartbeatMs: 400, retention: { events: 100 } },
});
console.log(`listening ${(await gateway.start()).port}`);
process.once('SIGTERM', () => void gateway.close().then(() => process.exit(0)));
