import { expect } from 'chai';
import fc from 'fast-check';
import type { Client } from '../../client/index.js';
import { defineApp } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { behindProxy, isEnd } from '../support/behind-proxy.js';
import { collect, connectClient, takeUntil } from '../support/client.js';
import { type FaultProxy, foreignAnswer } from '../support/fault-proxy.js';
import { cases } from '../support/fuzz.js';
import { foldOf } from '../support/session-view.js';
import { uncaught } from '../support/uncaught.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const FAULTS = {
  silence: (proxy) => proxy.hush(),
  deafness: (proxy) => proxy.hush('up'),
  muteness: (proxy) => proxy.hush('down'),
  cut: (proxy) => proxy.cut(),
  delay: (proxy) => {
    proxy.delayMs = 30;
  },
  foreign: (proxy) => {
    proxy.answer = () => foreignAnswer('404 Not Found', 'no such page');
    proxy.cut();
  },
  swallowed: (proxy) => {
    proxy.answer = () => null;
  },
} satisfies Record<string, (proxy: FaultProxy) => void>;

/** Words, a few milliseconds apart. */
const words = defineApp({
  async *run(turn) {
    for (const word of turn.text.split(' ')) {
      yield `${word} `;
      await pause(3);
    }
  },
});

describe('a client whose network fails in every way, with a page that throws and a clock that is wrong', () => {
  for (const transport of ['sse', 'websocket'] as const) {
    it(`gets every event once, runs each message once and shows the truth in the end (${transport})`, async () => {
      uncaught();
      const { url, proxy, connect } = await behindProxy(transport, { app: words }, { timeoutMs: 400 });
      const direct = connectClient(url);
      let number = 0;
      const step = fc.record({
        fault: fc.constantFrom(...(Object.keys(FAULTS) as (keyof typeof FAULTS)[])),
        forMs: fc.integer({ min: 0, max: 60 }),
        text: fc.array(fc.constantFrom('one', 'two', 'three'), { minLength: 1, maxLength: 8 }),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 4 }),
          fc.integer({ min: -3_600_000, max: 3_600_000 }),
          async (steps, skew) => {
            const name = `s${++number}`;
            proxy.rewrite = (text) =>
              text.replace(/"(ts|endedAt)":(\d{13})/g, (_, name, time) => `"${name}":${Number(time) + skew}`);
            const client: Client = connect();
            const watch = client.session(name).watch();
            watch.subscribe(() => {
              throw new Error('a bug in the page');
            });
            const events = client.events(name, { from: 'earliest' });
            const runs = [];
            for (const { fault, forMs, text } of steps) {
              runs.push({ run: client.send(name, text.join(' ')), text });
              await pause(forMs / 2);
              FAULTS[fault](proxy);
              await pause(forMs);
              proxy.answer = undefined;
              proxy.delayMs = 0;
            }
            for (const { run, text } of runs) {
              expect((await run.result).stopReason).to.equal('end');
              expect((await collect(run.text)).join('')).to.equal(`${text.join(' ')} `);
            }
            const seen = [];
            for (let ends = 0; ends < runs.length; ends++) seen.push(...(await takeUntil(events, isEnd)));
            const seqs = seen.map(({ cursor }) => Number(cursor!.split('.')[2]));
            expect(seqs).to.deep.equal(seqs.map((_, at) => at + 1));
            const { messages } = await direct.session(name).history();
            // Calls may overtake each other on such a line: the order of the messages is the gateway's.
            expect(messages.filter(({ role }) => role === 'user').map(({ id }) => id)).to.have.members(
              runs.map(({ run }) => run.idempotencyKey),
            );
            while (watch.getSnapshot().cursor !== seen.at(-1)!.cursor) await pause(5);
            const { sending, status, ...state } = watch.getSnapshot();
            expect(sending).to.deep.equal([]);
            expect(status).to.equal('ready');
            expect(state.messages.map(textOf)).to.deep.equal(messages.map(textOf));
            expect(state).to.deep.equal(foldOf(seen));
            client.disconnect();
          },
        ),
        { numRuns: cases(8) },
      );
    });
  }
});
