import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../client/index.js';
import { createGateway, defineApp, type Guard, memoryStore } from '../server/index.js';

// npx tsx bench/guard.ts [seconds]: how late a piece of text is that a guard holds, beside one that nobody holds; and how late others are while 100
// streams wait for checks of 50 ms.

const SECONDS = Number(process.argv[2] ?? 5);
/** Milliseconds between pieces. */
const EVERY = 20;
const GUARDED = 100;
const OTHERS = 10;

/** Says the time, again and again. */
const clock = (guard?: Guard) =>
  defineApp({
    ...(guard && { guard }),
    async *run() {
      for (const end = performance.now() + SECONDS * 1000; performance.now() < end; await delay(EVERY))
        yield `${performance.now()} `;
    },
  });

const window = { chars: 16_384, ms: 100, overlap: 0 };
const gateway = createGateway({
  apps: {
    free: clock(),
    window: clock({ window, check: () => undefined }),
    slow: clock({ window: { ...window, chars: 1 }, check: () => delay(50).then(() => undefined) }),
  },
  ...{ defaultApp: 'free', store: memoryStore(), auth: { type: 'none' } as const, port: 0 },
  limits: { sendsPerSecond: 1e6, loopDelayMs: 1e9 },
});
const { url } = await gateway.start();
const client = createClient({ baseUrl: url! });

/** How late each piece of some sessions is, in milliseconds. */
async function late(app: string, sessions: number, prefix: string): Promise<number[]> {
  const all = await Promise.all(
    Array.from({ length: sessions }, async (_, n) => {
      const lates: number[] = [];
      for await (const event of client.send(`${app}:${prefix}${n}`, 'go'))
        if (event.type === 'content_delta')
          for (const said of event.delta.trim().split(' ')) lates.push(performance.now() - Number(said));
      return lates;
    }),
  );
  return all.flat().sort((a, b) => a - b);
}

const row = (name: string, lates: readonly number[]): void => {
  const at = (share: number): string => lates[Math.floor((lates.length - 1) * share)]!.toFixed(1);
  console.log(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, of ${lates.length} pieces`);
};

await late('free', 1, 'warm');
row('nobody holds it', await late('free', 1, 'a'));
row('held for at most 100 ms', await late('window', 1, 'b'));
const others = async (app: string): Promise<readonly number[]> => {
  const [lates] = await Promise.all([late('free', OTHERS, `c-${app}`), late(app, GUARDED, `d-${app}`)]);
  return lates;
};
row(`${OTHERS} beside ${GUARDED} without a check`, await others('free'));
row(`${OTHERS} beside ${GUARDED} with checks of 50 ms`, await others('slow'));
client.disconnect();
await gateway.close();
