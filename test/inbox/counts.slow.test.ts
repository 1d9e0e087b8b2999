import { expect } from 'chai';
import fc from 'fast-check';
import { clientInbox } from '../../client/inbox/index.js';
import { storeAt } from '../../server/runtime/store-at.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { testGateway } from '../../testing/index.js';
import { connectClient } from '../support/client.js';
import { newDatabase } from '../support/durable.js';
import { cases } from '../support/fuzz.js';
import { closeLater } from '../support/resources.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { ENGINES } from '../support/stores.js';
import { answering, following } from './begin.js';
import { live, lives, longLives } from './life.js';

for (const [name, engine] of Object.entries(ENGINES))
  it(`an inbox counts what its person would, in longer lives (${name})`, () =>
    fc.assert(
      fc.asyncProperty(longLives, (deeds) => live(deeds, [engine()])),
      { numRuns: cases(name === 'SQLite' ? 4 : 8) },
    ));

for (const { name, describe: describeShared, start } of SHARED_STORES)
  describeShared(`an inbox on ${name}`, () => {
    it('counts what its person would, at two gateways', async () => {
      const place = await start();
      let life = 0;
      await fc.assert(
        fc.asyncProperty(lives, async (deeds) => {
          const scope = `life-${++life}`;
          await live(deeds, [await storeAt(place), await storeAt(place)], scope);
        }),
        { numRuns: cases(3) },
      );
    });
  });

/** Draws numbers below a bound, the same each time. */
function drawing(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
}

describe('an inbox of 1,000 sessions', () => {
  it('shows in the end what lists say, whose stream is cut and whose gateway is killed meanwhile', async () => {
    const path = newDatabase();
    const kit = closeLater(
      await testGateway({
        app: answering,
        store: sqliteStore({ path }),
        limits: { sendsPerSecond: 1e6, readsPerSecond: 1e6 },
      }),
      (it) => it.close(),
    );
    const client = connectClient(kit.url, { token: 'ann' });
    const inbox = clientInbox(client);
    const draw = drawing(7);
    const ids = Array.from({ length: 1000 }, (_, i) => `s${i}`);
    for (let i = 0; i < ids.length; i += 20)
      await Promise.all(ids.slice(i, i + 20).map((id) => client.send(id, 'hi').result));
    let shown = following(inbox);
    const { place } = await inbox.list();
    await shown.stop();
    shown = following(inbox, place);
    for (const row of (await inbox.list({ limit: 1000 })).sessions) shown.rows.set(row.sessionId, row);
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 20; i++) {
        const id = ids[draw(ids.length)]!;
        const what = draw(4);
        if (what === 0) await inbox.read(id).catch(() => {});
        else if (what === 1)
          await client
            .session(id)
            .update({ title: `T${round}.${i}` })
            .catch(() => {});
        else await client.send(id, 'more').result;
      }
      if (round % 3 === 1) await kit.kill();
      if (round % 3 !== 2) continue;
      await shown.stop();
      const { rows, place: last } = shown;
      shown = following(inbox, last);
      for (const [id, row] of rows) if (!shown.rows.has(id)) shown.rows.set(id, row);
    }
    const wanted = await inbox.list({ limit: 1000 });
    expect(wanted.sessions).to.have.length(1000);
    await shown.until(
      ({ rows, totals }) =>
        totals.unread === wanted.unread &&
        wanted.sessions.every((row) => JSON.stringify(rows.get(row.sessionId)) === JSON.stringify(row)),
    );
    await shown.stop();
  });
});
