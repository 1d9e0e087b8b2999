import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { textOf } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { Fleet, HoppingReader } from '../support/fleet.js';
import { cases } from '../support/fuzz.js';
import { fatesByChance, type Rates } from '../support/hostile-store.js';
import { MemoryHub } from '../support/memory-hub.js';
import { randomOf } from '../support/random.js';
import { closeLater } from '../support/resources.js';
import { foldOf, lastMessages } from '../support/session-view.js';

const WORDS = 6;
const wordOf = (text: string, i: number): string => `${text}:${i} `;
const answerTo = (text: string): string => Array.from({ length: WORDS }, (_, i) => wordOf(text, i)).join('');

/** Says its words one by one, and goes on where it stood. @param calls For each message how often it was called for it */
function talker(resumable: boolean, calls: Map<string, number>) {
  return defineApp({
    resumable,
    async *run(turn) {
      const { text } = turn;
      calls.set(text, (calls.get(text) ?? 0) + 1);
      const said = turn.resumed ? textOf(turn.resumed).split(' ').length - 1 : 0;
      for (let i = said; i < WORDS; i++) {
        yield wordOf(text, i);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  });
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      onBusy: fc.constantFrom('queue' as const, 'queue' as const, 'interrupt' as const),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('abort', 'move', 'kill', 'freeze', 'cut', 'relieve', 'hop', 'breathe' as const),
    }),
  },
);
type Step = Partial<{ onBusy: 'queue' | 'interrupt' }> & { readonly do: string };

const forgetting = fc.record({ do: fc.constant('forget' as const) });
const stepsOf = (more: readonly fc.Arbitrary<Step>[]): fc.Arbitrary<Step[]> =>
  fc.array(fc.oneof({ weight: 6, arbitrary: step as fc.Arbitrary<Step> }, ...more), {
    minLength: 4,
    maxLength: 16,
  });

const RATES: Rates = { late: 20 };
const LOSSY: Rates = { late: 20, lose: 3, drop: 3 };

interface Outcome {
  readonly log: readonly GatewayEvent[];
  readonly told: Map<string, RunResult>;
  readonly calls: Map<string, number>;
  readonly readers: readonly HoppingReader[];
  readonly fleet: Fleet;
  readonly forgotten: number;
}

/** Has a fleet go through steps, and all of it come to rest. */
async function sail(list: readonly Step[], seed: number, resumable: boolean): Promise<Outcome> {
  const random = randomOf(seed);
  const hub = new MemoryHub({ leaseMs: 60 });
  hub.mail = () => (random() < 0.1 ? 'lose' : 'come');
  hub.wakeTurns = () => Math.floor(random() * 4);
  const [often, lossy] = [fatesByChance(seed, RATES), fatesByChance(seed + 1, LOSSY)];
  let isHostile = true;
  const calls = new Map<string, number>();
  const fleet = new Fleet(hub, { app: talker(resumable, calls) }, random, (method) => {
    if (!isHostile) return 'do';
    return method === 'append' ? lossy(method) : often(method);
  });
  for (let i = 0; i < 3; i++) await fleet.add();
  const told = new Map<string, RunResult>();
  const send = (text: string, onBusy: 'queue' | 'interrupt' = 'queue'): Promise<void> =>
    fleet.insist(async ({ session }) => {
      const run = session.send(text, { onBusy, idempotencyKey: text });
      run.accepted.catch(() => {});
      told.set(text, await run.result);
    });
  await send('first');
  const readers = Array.from({ length: 2 }, () => closeLater(new HoppingReader(fleet), (it) => it.close()));
  const sent: Promise<void>[] = [];
  let forgotten = 0;
  for (const [i, { do: what, onBusy }] of list.entries()) {
    if (what === 'send') sent.push(send(`m${i}`, onBusy));
    else if (what === 'abort') sent.push(fleet.insist(async ({ session }) => void (await session.abort())));
    else if (what === 'forget') forgotten += hub.forget('main', 1 + Math.floor(random() * 3));
    else if (what === 'hop') for (const reader of readers) reader.hop();
    else if (what === 'breathe') await new Promise((resolve) => setTimeout(resolve, random() * 90));
    else await fleet[what as 'kill']();
    await new Promise(setImmediate);
  }
  isHostile = false;
  hub.mail = () => 'come';
  fleet.relieve();
  await Promise.all(sent);
  await send('over');
  const log = hub.eventsOf('main');
  const { cursor } = log.at(-1)!;
  for (const reader of readers) {
    await reader.reads(cursor!);
    reader.close();
  }
  return { log, told, calls, readers, fleet, forgotten };
}

/** What holds whatever happens. */
async function checkLog({ log, readers, fleet }: Outcome): Promise<void> {
  const places = log.map(({ cursor }) => cursor!.split('.').slice(1).map(Number));
  expect(places.map(([, seq]) => seq)).to.deep.equal(log.map((_, i) => i + 1));
  const terms = places.map(([term]) => term!);
  expect(terms).to.deep.equal([...terms].sort((a, b) => a - b));

  const ofType = (type: string): string[] =>
    log.flatMap((event) => (event.type === type && 'runId' in event ? [event.runId!] : []));
  const accepted = ofType('message_accepted');
  expect(new Set(accepted).size, 'each run is accepted once').to.equal(accepted.length);
  expect(ofType('message_end').sort(), 'each run ends once').to.deep.equal([...accepted].sort());
  const started = ofType('message_start');
  expect(new Set(started).size, 'each run starts once at most').to.equal(started.length);
  let active: string | undefined;
  const over = new Set<string | undefined>();
  for (const { type, runId = '' } of log as readonly { type: string; runId?: string }[]) {
    expect(over.has(runId), 'nothing of a run comes behind its end').to.equal(false);
    if (type === 'message_end') over.add(runId);
    if (type === 'message_start') {
      expect(active, 'one run at a time').to.equal(undefined);
      active = runId;
    } else if (over.has(active)) active = undefined;
  }
  const texts = log.flatMap((event) => (event.type === 'message_accepted' ? [textOf(event.message)] : []));
  expect(new Set(texts).size, 'each key starts one run').to.equal(texts.length);

  const state = lastMessages(foldOf(log));
  for (const { view } of readers)
    expect(lastMessages({ ...view.state, cursor: state.cursor! })).to.deep.equal(state);
  for (const ship of fleet.ships) {
    const { messages } = await fleet.insist(({ session }) => session.history({ limit: 50 }), ship);
    expect(messages.map(({ id }) => id)).to.deep.equal(state.messages.map(({ id }) => id));
  }
}

describe('gateways that share a store, whatever befalls them', () => {
  for (const resumable of [false, true]) {
    it(`lose and double nothing, and tell of no gap (${resumable ? 'resumable' : 'not resumable'} runs)`, async () => {
      await fc.assert(
        fc.asyncProperty(stepsOf([]), fc.nat(), async (list, seed) => {
          const outcome = await sail(list, seed, resumable);
          await checkLog(outcome);
          const { log, told, calls, readers } = outcome;
          for (const { view } of readers) {
            expect(view.gaps).to.deep.equal([]);
            expect(view.cursors).to.deep.equal(log.map(({ cursor }) => cursor));
          }
          const ends = new Map(
            log.flatMap((event) => (event.type === 'message_end' ? [[event.runId, event]] : [])),
          );
          for (const [text, { runId, stopReason, message }] of told) {
            const end = ends.get(runId);
            expect(end?.stopReason, `what the sender of ${text} was told`).to.equal(stopReason);
            expect(textOf(end!.message)).to.equal(textOf(message));
            if (stopReason === 'end') expect(textOf(message)).to.equal(answerTo(text));
            if (resumable) expect(stopReason).to.not.equal('lost');
          }
          if (!resumable) for (const [text, count] of calls) expect(count, `calls for ${text}`).to.equal(1);
        }),
        { numRuns: cases(15) },
      );
    });
  }

  it('show everybody the same in the end also where the store forgets what it had', async () => {
    let gaps = 0;
    await fc.assert(
      fc.asyncProperty(
        stepsOf([{ weight: 1, arbitrary: forgetting } as never]),
        fc.nat(),
        async (list, seed) => {
          const outcome = await sail(list, seed, false);
          await checkLog(outcome);
          const told = outcome.readers.flatMap(({ view }) => view.gaps);
          if (outcome.forgotten === 0) expect(told).to.deep.equal([]);
          gaps += told.length;
        },
      ),
      { numRuns: cases(15) },
    );
    expect(gaps, 'gaps that were told').to.be.greaterThan(0);
  });
});
