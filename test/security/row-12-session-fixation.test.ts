import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { get, jsonHeaders, post, startGateway } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

describe('threat row 12: session fixation', () => {
  it('two users with the same id have two sessions', async () => {
    const { url } = await startGateway({ app: echo, auth: byName });
    await post(`${url}/send`, { sessionId: 'shared', message: 'mine' }, as('alice'));
    expect((await get(`${url}/history?sessionId=shared`, as('bob'))).status).to.equal(404);
    await post(`${url}/send`, { sessionId: 'shared', message: 'yours' }, as('bob'));
    for (const [user, text] of [
      ['alice', 'mine'],
      ['bob', 'yours'],
    ] as const) {
      const { body } = await get(`${url}/history?sessionId=shared`, as(user));
      expect(body.messages[0].content[0].text).to.equal(text);
    }
  });

  it('ids outside the character set are refused on every door', async () => {
    const { url } = await startGateway({ app: echo, auth: byName });
    const socket = await openWebSocket(url);
    await socket.connect();
    for (const id of ['../x', 'a%00', 'a\u0000', 'x'.repeat(129), 'a b', 'ä', '', 'a/b', '~', '~~a', 'a~']) {
      const { status, body } = await post(`${url}/send`, { sessionId: id, message: 'x' });
      expect([status, typeof body.error.code], id).to.deep.equal([400, 'string']);
      expect((await get(`${url}/history?sessionId=${encodeURIComponent(id)}`)).status, id).to.equal(400);
      expect((await socket.ask(`1${id}`, 'send', { sessionId: id, message: 'x' })).error.status).to.equal(
        400,
      );
    }
  });

  it('ids that the gateway makes cannot be guessed', async () => {
    const { url } = await startGateway({ app: echo, auth: byName });
    const ids = new Set<string>();
    for (let i = 0; i < 20; i++) {
      const stream = await openStream(`${url}/events`, { headers: jsonHeaders() });
      ids.add((await stream.until(({ event }) => event === 'connected')).data.connectionId);
      stream.close();
    }
    expect(ids.size).to.equal(20);
    // 128 bits are 22 characters of base64url.
    for (const id of ids) expect(id.replace(/^[a-z]+_/, '').length, id).to.be.at.least(22);
  });
});
