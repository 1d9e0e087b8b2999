import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { startEveryDoor } from '../security/every-door.js';
import { post } from '../support/gateway.js';

/** A value of so many levels. */
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const app = defineApp({
  async *run() {
    yield 'ok';
  },
});

describe('a whole conversation that is imported', () => {
  const messages = (value: unknown) => [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: [{ type: 'data', id: 'd', name: 'n', value }] },
  ];

  it('may be as deep as what apps have said, at every door, and no deeper', async () => {
    const { url, opens } = await startEveryDoor({ app, clientMessages: { import: true } });
    const http = await post(`${url}/import`, { sessionId: 'http', messages: messages(nested(200)) });
    expect(http.status, JSON.stringify(http.body)).to.equal(200);
    const deeper = await post(`${url}/import`, { sessionId: 'no', messages: messages(nested(1000)) });
    expect(deeper.body.error).to.include({ code: 'INVALID_REQUEST' });
    let n = 0;
    for (const open of opens) {
      const socket = await open();
      await socket.connect();
      const params = { sessionId: `s${n++}`, messages: messages(nested(200)) };
      socket.send(JSON.stringify({ type: 'req', id: '1', method: 'import', params }));
      expect(await socket.until(({ id }) => id === '1')).to.include({ ok: true });
      socket.destroy();
    }
  });
});
