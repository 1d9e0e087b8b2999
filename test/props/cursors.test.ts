import { expect } from 'chai';
import fc from 'fast-check';
import type { Store } from '../../server/index.js';
import { defineApp } from '../../server/index.js';
import { formatCursor, parseCursor } from '../../shared/cursor.js';
import type { GatewayEvent } from '../../shared/events.js';
import { startGateway, type TestGateway, TOKEN } from '../support/gateway.js';
import { fetchUntilServed, postUntilTaken } from '../support/insist.js';
import { foldOf, lastMessages } from '../support/session-view.js';
import { openStream, type RawEvent } from '../support/sse-client.js';
import { casesOn, STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

const app = defineApp({
  async *run(turn) {
    for (let i = 0; i < Number(turn.text); i++) yield `${i} `;
  },
});
const authorization = { authorization: `Bearer ${TOKEN}` };

/** What a session's history looks like: events, gateways that took over, whether old ones were cut, whether it was closed before. */
const histories = fc.record({
  sends: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
  takeovers: fc.nat(2),
  cut: fc.boolean(),
  closedBefore: fc.boolean(),
});

interface Asked {
  readonly kind: 'valid' | 'ahead' | 'foreign' | 'past' | 'garbage' | 'term' | 'zero';
  readonly pick: number;
  readonly text: string;
}
const asked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constantFrom('valid', 'ahead', 'foreign', 'past', 'garbage', 'term', 'zero'),
  pick: fc.nat(1000),
  // What fits a header, and looks like a cursor or not.
  text: fc.oneof(
    fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
    fc.constantFrom(
      '0',
      '-1',
      '..',
      'a.b.c',
      '~',
      '~x',
      'AAAAAAAAAAA.1.-1',
      'AAAAAAAAAAA.1.99999999999999999',
    ),
  ),
});

/** How the places of all stores were answered. */
const seen = new Set<string>();

for (const on of STORES) {
  describe(`a cursor of any kind (${on.name})`, () => {
    let number = 0;

    /** Plays a history with as many gateways as it says, one after another, on one store. */
    async function play(history: {
      sends: number[];
      takeovers: number;
      cut: boolean;
      closedBefore: boolean;
    }) {
      const model = testStore(on);
      const name = `s${++number}`;
      // A cut whose answer was lost may never have been made: then nobody knows what is kept.
      const cut = history.cut && !on.refuses;
      const limits = { sendsPerSecond: Infinity, retention: { events: cut ? 6 : 10_000 } };
      const start = (): Promise<TestGateway> => startGateway({ app, store: model.store as Store, limits });
      let { url } = await start();
      const send = async (): Promise<void> => {
        for (const deltas of history.sends)
          await postUntilTaken(`${url}/send`, { sessionId: name, message: String(deltas) });
      };
      if (history.closedBefore) {
        await send();
        await postUntilTaken(`${url}/close`, { sessionId: name });
      }
      await send();
      for (let i = 0; i < history.takeovers; i++) {
        ({ url } = await start());
        await send();
      }
      for (;;) {
        const response = await fetchUntilServed(`${url}/status?sessionId=${name}`, {
          headers: authorization,
        });
        const status = (await response.json()) as { epoch: string; first: number; head: number };
        // A cut may still be on its way to the store.
        if (model.firstOf(status.epoch) === status.first) return { model, name, url, ...status };
        await new Promise(setImmediate);
      }
    }

    it('is exact, or a gap before anything else with the snapshot it leads to', async () => {
      await fc.assert(
        fc.asyncProperty(
          histories,
          fc.array(asked, { minLength: 4, maxLength: 10 }),
          async (history, requests) => {
            const session = await play(history);
            for (const request of requests) {
              const cursor = cursorOf(request, session);
              // A cut that an earlier request has caused may be on its way: then either is right.
              const before = isExact(cursor, session);
              const where = `${session.url}/events?sessionId=${session.name}`;
              const headers = { ...authorization, 'last-event-id': cursor };
              const stream = await openStream(where, { headers }, fetchUntilServed);
              const connected = await stream.until(({ event }) => event === 'connected');
              const info = connected.data.sessions[session.name];
              expect(info.resume).to.be.oneOf(['exact', 'gap']);
              const exact = info.resume === 'exact';
              expect(exact, `${request.kind} ${cursor}`).to.be.oneOf([before, isExact(cursor, session)]);
              // A sign of life after everything there was to replay.
              await postUntilTaken(`${session.url}/channel`, {
                sessionId: session.name,
                channel: 'mark',
                payload: cursor,
              });
              await stream.until(({ event, data }) => event === 'channel' && data.event.payload === cursor);
              stream.close();
              const events = stream.events.filter(({ event }) => !['connected', 'heartbeat'].includes(event));
              check(events, cursor, session.model, session.name);
              seen.add(exact ? 'exact' : events.find(({ event }) => event === 'gap')?.data.reason);
            }
          },
        ),
        { numRuns: casesOn(on, 25) },
      );
    });
  });
}

describe('the places of these tests', () => {
  it('have been answered in every way there is', () => {
    expect([...seen].sort()).to.deep.equal(['ahead', 'epoch', 'evicted', 'exact', 'malformed', 'truncated']);
  });
});

type Played = {
  model: ReturnType<typeof testStore>;
  name: string;
  epoch: string;
  first: number;
  head: number;
};

function cursorOf({ kind, pick, text }: Asked, { model, name, epoch, head }: Played): string {
  const log = model.eventsOf(name);
  const at = log[pick % log.length]!.cursor!;
  const place = parseCursor(at)!;
  switch (kind) {
    case 'valid':
      return at;
    case 'ahead':
      return formatCursor(epoch, parseCursor(log.at(-1)!.cursor!)!.term, head + 1 + pick);
    case 'foreign':
      return formatCursor('AAAAAAAAAAA', place.term, place.seq);
    case 'past': {
      const old = model.logs.get(model.epochsOf(name)[0]!)!;
      return old[pick % old.length]!.cursor!;
    }
    case 'term':
      // A term too old for its place: what it saw was written by somebody who lost it.
      return formatCursor(epoch, Math.max(0, place.term - 1), place.seq);
    case 'zero':
      return formatCursor(epoch, place.term, 0);
    default:
      return text;
  }
}

function isExact(text: string, { model, name }: Played): boolean {
  const cursor = parseCursor(text);
  const log = cursor && model.logs.get(cursor.epoch);
  if (!log || !model.epochsOf(name).includes(cursor.epoch)) return false;
  const first = model.firstOf(cursor.epoch);
  if (cursor.seq < first - 1 || cursor.seq > log.length) return false;
  return cursor.seq === 0 || log[cursor.seq - 1]!.cursor === text;
}

/** From the cursor, or from the gap's snapshot, every event of the log follows; the new log after the old one, announced. */
function check(
  events: readonly RawEvent[],
  cursor: string,
  model: ReturnType<typeof testStore>,
  name: string,
): void {
  let place = parseCursor(cursor);
  for (const [i, { event, id, data }] of events.entries()) {
    if (event === 'gap') {
      expect(events[i + 1]?.event).to.equal('snapshot');
      expect(id, 'nobody may resume behind a gap before its snapshot').to.equal(undefined);
      continue;
    }
    const at = parseCursor(data.cursor)!;
    if (event === 'snapshot') {
      expect(events[i - 1]?.event).to.equal('gap');
      const folded = foldOf(model.logs.get(at.epoch)!.slice(0, at.seq) as GatewayEvent[]);
      expect(lastMessages(data.state)).to.deep.equal(lastMessages({ ...folded, cursor: data.cursor }));
    } else {
      expect(at.epoch).to.equal(place?.epoch);
      expect(at.seq).to.equal(place!.seq + 1);
      expect(id).to.equal(model.logs.get(at.epoch)![at.seq - 1]!.cursor);
    }
    place = at;
  }
  expect(place?.epoch).to.equal(model.epochsOf(name).at(-1));
}
