import { expect } from 'chai';
import { get, jsonHeaders } from '../support/gateway.js';
import { startEveryDoor } from './every-door.js';

describe('threat row 16: deep JSON', () => {
  it('is refused beyond 64 levels before anybody walks it, on every door', async () => {
    const { url, opens } = await startEveryDoor({ methods: { echo: (params: never) => params } });
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    // The params are in the body's object.
    for (const [depth, status] of [
      [63, 200],
      [64, 400],
      [65, 400],
      [200_000, 400],
    ] as const) {
      const answer = await fetch(`${url}/invoke`, {
        method: 'POST',
        headers: jsonHeaders(),
        body: `{"method":"echo","params":${nested(depth)}}`,
      });
      expect(answer.status, String(depth)).to.equal(status);
      await answer.text();
    }
    for (const open of opens) {
      const socket = await open();
      await socket.connect();
      for (const depth of [65, 200_000]) {
        socket.frames.length = 0;
        socket.send(`{"type":"req","id":"1","method":"echo","params":${nested(depth)}}`);
        expect((await socket.until(({ type }) => type === 'error')).code).to.equal('INVALID_REQUEST');
      }
      expect((await socket.ask('2', 'status')).ok).to.equal(true);
    }
    expect((await get(`${url}/status`)).status).to.equal(200);
  });
});
