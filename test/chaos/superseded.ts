import { defineApp, type SessionHandle } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import type { LogRef, SessionRef } from '../../server/stores/stored.js';
import type { GatewayEvent } from '../../shared/events.js';
import { embedGateway } from '../support/embedded.js';
import { overriding } from '../support/overriding.js';
import { randomOf } from '../support/random.js';
import { StreamedAnswers, untrueEnds } from '../support/streamed.js';

const SESSIONS = 3;
const STEPS = 40;

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
};

/** What a seed came to. */
export interface Superseded {
  /** What is wrong with it. */
  readonly violations: readonly string[];
  /** How many runs ended, by their reason. */
  readonly ends: ReadonlyMap<string, number>;
}

/**
 * Has people interrupt, steer, abort, close, move and answer again while answers are written that end by themselves at any moment,
 * then reads every log: each run that began has one end, whose text is that of its deltas, for those who read along too.
 */
export async function superseded(inner: Store, seed: number): Promise<Superseded> {
  const random = randomOf(seed);
  const upTo = (count: number): number => Math.floor(random() * count);
  const refs = new Map<string, SessionRef>();
  const store = overriding(inner, {
    acquire(ref, options) {
      refs.set(ref.name, ref);
      return inner.acquire(ref, options);
    },
  });
  const app = defineApp({
    async *run(turn) {
      for (let i = upTo(5); i >= 0; i--) {
        yield `${turn.text} ${i}. `;
        await turns(upTo(3));
      }
    },
  });
  const gateway = embedGateway({ app, store });
  const violations: string[] = [];
  const watched: Promise<unknown>[] = [];
  const follow = async (session: SessionHandle, stop: AbortSignal): Promise<void> => {
    const answers = new StreamedAnswers();
    for await (const event of session.events({ from: 'earliest', signal: stop })) {
      if (event.type === 'gap') return;
      const wrong = answers.take(event);
      if (wrong !== null) violations.push(`somebody who read along: ${wrong}`);
    }
  };
  const stop = new AbortController();
  const drive = async (name: string): Promise<void> => {
    const session = gateway.session(name);
    await session.send('first').accepted;
    watched.push(follow(session, stop.signal).catch(() => {}));
    const results: Promise<unknown>[] = [];
    const asked: Promise<unknown>[] = [];
    const send = (onBusy: 'queue' | 'interrupt' | 'steer', n: number): void => {
      const run = session.send(`${name} ${n}`, { onBusy });
      results.push(run.accepted.then(() => run.result).catch(() => {}));
    };
    for (let n = 0; n < STEPS; n++) {
      const chance = upTo(20);
      if (chance < 7) send('interrupt', n);
      else if (chance < 11) send('queue', n);
      else if (chance < 14) send('steer', n);
      else if (chance < 16) asked.push(session.abort());
      else if (chance < 17) asked.push(session.close());
      else if (chance < 18) asked.push(session.move(null));
      else {
        const again = session.regenerate();
        results.push(again.accepted.then(() => again.result).catch(() => {}));
      }
      asked.at(-1)?.catch(() => {});
      await turns(upTo(6));
    }
    await Promise.allSettled([...asked, ...results]);
  };
  const names = Array.from({ length: SESSIONS }, (_, i) => `s${i}`);
  await Promise.all(names.map(drive));
  const ends = new Map<string, number>();
  for (const name of names) {
    const ref = refs.get(name)!;
    for (const epoch of await store.conversations(ref)) {
      const events = await eventsOf(store, { ...ref, epoch });
      violations.push(...untrueEnds(events));
      const begun = new Set(events.flatMap((event) => (event.type === 'message_start' ? [event.runId] : [])));
      for (const event of events) {
        if (event.type !== 'message_end') continue;
        ends.set(event.stopReason, (ends.get(event.stopReason) ?? 0) + 1);
        begun.delete(event.runId);
      }
      for (const runId of begun) violations.push(`${runId} of ${name} has no end`);
    }
  }
  stop.abort();
  await Promise.all(watched);
  await gateway.close();
  return { violations, ends };
}

async function eventsOf(store: Store, log: LogRef): Promise<GatewayEvent[]> {
  const events: GatewayEvent[] = [];
  for (;;) {
    const page = await store.read(log, events.length, 1000, 1 << 20);
    if (page.length === 0) return events;
    for (const { type, body, runId } of page)
      events.push({ type, ...(runId !== undefined && { runId }), ...JSON.parse(body) });
  }
}
