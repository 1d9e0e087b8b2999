import { expect } from 'chai';
import { describeDaily } from '../../support/daily.js';
import { SEED } from '../../support/fuzz.js';
import { FAST } from '../../support/gateway.js';
import { randomOf } from '../../support/random.js';
import { actor, STORES } from '../actor.js';
import { ByteProxy } from '../byte-proxy.js';
import { isIdle, listed, says, startSessions } from './fixtures.js';

const SCRIPT = `think hello look data ${'word '.repeat(60)}bye`;
const CUTS = 30;

/** What does not differ from session to session. */
const plain = ({ id: _, processed_at: __, tool_use_id: ___, ...event }: any) => event;

describeDaily('a reader of a session whose line breaks in mid-answer', 2, () => {
  for (const [store, make] of STORES)
    for (const resume of [false, true])
      it(`has each event once, ${resume ? 'by Last-Event-ID' : 'by the list, as the vendor says'}: ${store}`, async () => {
        const { app, effects } = actor();
        const gateway = await startSessions({ app, store: make(), limits: FAST });
        const proxy = await ByteProxy.start(gateway.url);
        const direct = gateway.client();
        const client = gateway.client('alice', proxy.url);
        let runs = 0;
        gateway.gateway.on('run:started', () => {
          runs += 1;
        });
        const follow = async (id: string, sending: () => Promise<unknown>): Promise<any[]> => {
          const known = new Map<string, any>();
          const pieces = new Map<string, string>();
          let sent: Promise<unknown> | undefined;
          let last: string | undefined;
          const take = (event: any): void => {
            if (event.type === 'event_start') pieces.set(event.event.id, '');
            if (event.type === 'event_delta')
              pieces.set(event.event_id, pieces.get(event.event_id) + event.delta.content.text);
            if (!event.id) return;
            if (event.type === 'agent.message' && pieces.has(event.id))
              expect(pieces.get(event.id)).to.equal(event.content[0].text);
            if (resume) expect(known.has(event.id), 'told twice').to.equal(false);
            known.set(event.id, event);
            last = event.id;
          };
          while (![...known.values()].some(isIdle)) {
            pieces.clear();
            try {
              const headers = resume && last !== undefined ? { 'last-event-id': last } : {};
              const query = { event_deltas: ['agent.message' as const] };
              const stream = await client.beta.sessions.events.stream(id, query, { headers });
              sent ??= sending();
              // The list may be ahead of the stream.
              if (!resume) for (const event of await listed(direct, id)) known.set(event.id, event);
              if ([...known.values()].some(isIdle)) stream.controller.abort();
              else
                for await (const event of stream) {
                  take(event);
                  if (isIdle(event)) stream.controller.abort();
                }
            } catch (error) {
              if ((error as Error).name === 'AssertionError') throw error;
            }
            // A stream that broke before its first event has no place to go on from.
            if (resume && last === undefined) for (const event of await listed(direct, id)) take(event);
          }
          await sent;
          return [...known.values()];
        };
        const run = async (): Promise<any[]> => {
          const { id } = await direct.beta.sessions.create({ agent: 'default', environment_id: 'e' });
          const events = await follow(id, () =>
            direct.beta.sessions.events.send(id, { events: [says(SCRIPT)] }),
          );
          const order = await listed(direct, id);
          expect(events.map(({ id: eventId }) => eventId)).to.have.members(
            order.map(({ id: eventId }) => eventId),
          );
          return order.map(plain);
        };
        const expected = await run();
        const random = randomOf(SEED);
        for (let round = 0; round < CUTS; round++) {
          proxy.cutAfter = 1 + Math.floor(random() * 8000);
          expect(await run(), `cut after ${proxy.cutAfter}`).to.deep.equal(expected);
        }
        expect(proxy.cuts).to.be.greaterThan(CUTS / 2);
        expect(runs).to.equal(CUTS + 1);
        expect(effects).to.deep.equal(Array.from({ length: CUTS + 1 }, () => 'look'));
      });
});
