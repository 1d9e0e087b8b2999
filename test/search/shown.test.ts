import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type SessionHandle, type Store } from '../../server/index.js';
import { MESSAGES_IN_MEMORY } from '../../server/log/log-view.js';
import { SNAPSHOT_MESSAGES } from '../../server/log/snapshot.js';
import type { Message } from '../../shared/messages.js';
import { embedGateway } from '../support/embedded.js';
import { ENGINES } from '../support/stores.js';

const app = defineApp({ run: ({ text }) => `answer to ${text}` });

/** Ids of all shown messages, and of all that are found. */
async function compared(session: SessionHandle): Promise<readonly [string[], string[]]> {
  const [shown, found]: [string[], string[]] = [[], []];
  for await (const { id } of session.export('messages') as AsyncIterable<Message>) shown.push(id);
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await session.search('word', { limit: 100, ...(cursor && { cursor }) });
    found.push(...page.hits.map(({ messageId }) => messageId));
    ({ cursor } = page);
  }
  return [shown.sort(), found.sort()];
}

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ does: fc.constant('send' as const), at: fc.constant(0) }) },
    fc.record({
      does: fc.constantFrom('edit' as const, 'regenerate' as const, 'rewind' as const, 'version' as const),
      at: fc.nat(30),
    }),
  ),
  { minLength: 1, maxLength: 14 },
);

/** Everything that was ever said, so that versions off the path can be taken again. */
async function take(
  session: SessionHandle,
  said: Set<string>,
  step: { does: string; at: number },
  n: number,
): Promise<void> {
  const { messages } = await session.history({ limit: 100 });
  for (const { id } of messages) said.add(id);
  const own = messages.filter(({ role }) => role === 'user');
  const message = own[step.at % own.length];
  if (step.does === 'send' || !message) await session.send(`word ${n}`).result;
  else if (step.does === 'edit') await session.send(`word ${n}`, { replaces: message.id }).result;
  else if (step.does === 'regenerate') await session.regenerate({ messageId: message.id }).result;
  else if (step.does === 'rewind') await session.move(message.id);
  else await session.move({ version: [...said][step.at % said.size]! });
}

for (const [name, makeStore] of Object.entries(ENGINES))
  describe(`what is found in ${name}`, () => {
    const begin = (store: Store, retention: object): SessionHandle => {
      const gateway = embedGateway({
        app,
        store,
        limits: { sendsPerSecond: 1e4, readsPerSecond: 1e6, retention } as object,
      });
      return gateway.session('main', { user: { id: 'ann' } });
    };

    it('is what is shown, whatever is edited, answered again, taken back and cut', () =>
      fc.assert(
        fc.asyncProperty(steps, fc.integer({ min: 1, max: 60 }), async (all, events) => {
          const session = begin(makeStore(), { events });
          const said = new Set<string>();
          let n = 0;
          for (const step of all) await take(session, said, step, ++n);
          const [shown, found] = await compared(session);
          expect(found).to.deep.equal(shown);
        }),
        { numRuns: 8 },
      )).timeout(60_000);

    it('is what is shown of a long import, and of a move beyond what memory keeps', async () => {
      const session = begin(makeStore(), { events: 100 });
      const messages = Array.from({ length: MESSAGES_IN_MEMORY + 200 }, (_, i) => ({
        ...{ id: `m${i}`, createdAt: i },
        role: i % 2 ? ('assistant' as const) : ('user' as const),
        content: `word ${i}`,
      }));
      await session.import(messages);
      let [shown, found] = await compared(session);
      expect(found).to.deep.equal(shown);
      await session.move('m20');
      [shown, found] = await compared(session);
      expect(found).to.deep.equal(shown);
      await session.send('word again').result;
      await session.move({ version: 'm21' });
      [shown, found] = await compared(session);
      expect(shown).to.have.length(messages.length);
      // Of so far a way back, the end is found.
      expect(shown).to.include.members(found);
      expect(found).to.have.length(SNAPSHOT_MESSAGES);
    }).timeout(60_000);
  });
