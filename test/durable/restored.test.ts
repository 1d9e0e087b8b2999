import { copyFileSync } from 'node:fs';
import { expect } from 'chai';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { echo } from '../support/apps.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { post, TOKEN } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';

const send = (url: string, message: string) => post(`${url}/send`, { sessionId: 'main', message });

describe('a database that was put back from a backup', () => {
  it('gives no id of the lost history again: a cursor into it is a gap, also where as much was written since', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: echo });
    await send(first.url, 'kept');
    await first.gateway.close();
    const backup = newDatabase();
    copyFileSync(path, backup);

    const second = await startDurable(path, { app: echo });
    const { body } = await send(second.url, 'lost');
    const reader = await openStream(`${second.url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
    await reader.until(({ id }) => id === body.cursor);
    const ids = new Map(reader.logged.map(({ id, data }) => [id, JSON.stringify(data)]));
    await second.gateway.close();

    copyFileSync(backup, path);
    const third = await startDurable(path, { app: echo });
    await send(third.url, 'another');
    const resumed = await openStream(
      `${third.url}/events?sessionId=main&lastEventId=${encodeURIComponent(body.cursor)}&token=${TOKEN}`,
    );
    const gap = await resumed.until(({ event }) => event === 'gap');
    expect(gap.data).to.include({ reason: 'truncated', requested: body.cursor });
    const whole = await openStream(`${third.url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
    await whole.until(({ data }) => data?.message?.content?.[0]?.text?.includes('another'));
    for (const { id, data } of whole.logged) {
      if (ids.has(id)) expect(JSON.stringify(data), id!).to.equal(ids.get(id));
    }
  });

  it('opens with a term that no other opening has given', async () => {
    const path = newDatabase();
    const seen = new Set<number>();
    for (let i = 0; i < 20; i++) {
      const store = sqliteStore({ path });
      await store.open();
      const acquired = await store.acquire(
        { scope: 's', app: 'a', name: `n${i}` },
        { holder: 'g', create: { epoch: `AAAAAAAAA${String(i).padStart(2, '0')}` } },
      );
      if (acquired.kind !== 'acquired') throw new Error(acquired.kind);
      seen.add(acquired.head.term);
      await store.close();
    }
    expect(seen.size).to.equal(20);
    expect([...seen].every((term, i, all) => i === 0 || term > all[i - 1]!)).to.equal(true);
  });
});
