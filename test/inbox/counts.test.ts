import { expect } from 'chai';
import fc from 'fast-check';
import { clientInbox } from '../../client/inbox/index.js';
import { memoryStore } from '../../server/index.js';
import { connectClient } from '../support/client.js';
import { cases } from '../support/fuzz.js';
import { gate } from '../support/gate.js';
import { overriding } from '../support/overriding.js';
import { ENGINES } from '../support/stores.js';
import { begin, PEOPLE } from './begin.js';
import { live, lives } from './life.js';

for (const [name, engine] of Object.entries(ENGINES))
  it(`an inbox counts what its person would (${name})`, () =>
    fc.assert(
      fc.asyncProperty(lives, (deeds) => live(deeds, [engine()])),
      { numRuns: cases(name === 'SQLite' ? 1 : 2) },
    ));

it('an inbox has a session that is used while the others are read', async () => {
  const inner = memoryStore();
  let between: (() => Promise<unknown>) | null = null;
  const list: typeof inner.list = async (scope, page, filter) => {
    const use = page.before && between;
    if (use) between = null;
    if (use) await use();
    return inner.list(scope, page, filter);
  };
  const { client, inbox } = await begin({
    store: overriding(inner, { list }),
    limits: { sendsPerSecond: 1e6 },
  });
  for (let i = 0; i < 101; i++) await client.send(`s${i}`, 'hi').result;
  between = () => client.send('s0', 'again').result;
  expect((await inbox.list()).unread).to.equal(101);
});

it('an inbox forgets what it has counted while the answer of the store was on its way', async () => {
  const [stored, answered] = [gate(), gate()];
  const inner = memoryStore();
  let isHeld = false;
  const append: typeof inner.append = async (log, events, options) => {
    const result = await inner.append(log, events, options);
    if (isHeld && events.some(({ type }) => type === 'message_end')) {
      stored.open();
      await answered.passed;
    }
    return result;
  };
  const { url } = await begin({
    ...{ store: overriding(inner, { append }), auth: PEOPLE, sessionScope: () => 'global' },
  });
  const ann = connectClient(url, { token: 'ann' }).session('main');
  const ben = clientInbox(connectClient(url, { token: 'ben' }));
  await ann.send('one').result;
  // After that ben's are counted event by event.
  await ann.regenerate().result;
  isHeld = true;
  const last = ann.send('two').result;
  await stored.passed;
  const shown = async () => (await ben.list()).sessions[0]?.unread;
  expect(await shown()).to.equal(3);
  answered.open();
  await last;
  expect(await shown()).to.equal(4);
});
