import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { post, startGateway } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

describe('threat row 13: forged cursors', () => {
  it('of another session, another user or nobody are a gap or a refusal, and bring none of their data', async () => {
    const { url } = await startGateway({ app: echo, auth: byName });
    const secret = await post(`${url}/send`, { sessionId: 'main', message: 'SECRET' }, as('bob'));
    const other = await post(`${url}/send`, { sessionId: 'other', message: 'OTHER' }, as('alice'));
    const own = await post(`${url}/send`, { sessionId: 'main', message: 'mine' }, as('alice'));
    const [epoch, term, seq] = own.body.cursor.split('.');
    const forged = [
      secret.body.cursor,
      other.body.cursor,
      `${epoch}.${term}.${Number(seq) + 100}`,
      `${epoch}.${Number(term) + 1}.1`,
      `${epoch}.${term}.-1`,
      `${epoch}.${term}.1e3`,
      `${epoch}.${term}.9007199254740993`,
      'AAAAAAAAAAA.1.1',
      '..',
      '0',
      'x'.repeat(5000),
      "' OR 1=1 --",
      '../../etc/passwd',
      `~main=${secret.body.cursor}`,
    ];
    for (const cursor of forged) {
      const query = `sessionId=main&lastEventId=${encodeURIComponent(cursor)}`;
      const stream = await openStream(`${url}/events?${query}`, { headers: as('alice') });
      if (stream.response.status !== 200) {
        expect(stream.response.status, cursor).to.be.within(400, 431);
        continue;
      }
      const { data } = await stream.until(({ event }) => event === 'connected');
      expect(data.sessions.main.resume, cursor.slice(0, 80)).to.equal('gap');
      await stream.until(({ event }) => event === 'gap');
      // In the snapshot, or in the events behind it.
      await stream.until((event) => JSON.stringify(event).includes('mine'));
      expect(JSON.stringify(stream.events)).to.not.include('SECRET').and.not.include('OTHER');
      stream.close();
    }
  });
});
