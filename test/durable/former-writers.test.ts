import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { get, post, TOKEN } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';

describe('a database whose writers never said what sessions do', () => {
  it('shows a run that waits for a person as that, once it is taken up', async () => {
    const app = defineApp({
      resumable: true,
      async run(turn) {
        return String(await turn.ask({ name: 'when' }));
      },
    });
    const path = newDatabase();
    const first = await startDurable(path, { app });
    const sent = post(`${first.url}/send`, { sessionId: 'main', message: 'x' }, { prefer: 'respond-async' });
    const { runId } = (await sent).body;
    const stream = await openStream(`${first.url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
    await stream.until(({ event }) => event === 'input_required');
    const former = crashed(path);
    const db = (await loadDriver())(former);
    db.exec('UPDATE log SET activity = NULL');
    db.close();

    const { url } = await startDurable(former, { app });
    const { body } = await get(`${url}/status?sessionId=main`);
    expect(body).to.include({ status: 'waiting', runId, queued: 0 });
    const again = await openStream(`${url}/events?sessionId=main&from=run&token=${TOKEN}`);
    await again.until(({ event }) => event === 'input_required');
  });
});
