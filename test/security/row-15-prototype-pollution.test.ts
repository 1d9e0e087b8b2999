import { expect } from 'chai';
import { jsonHeaders } from '../support/gateway.js';
import { startEveryDoor } from './every-door.js';

const SPELLINGS = [
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"a":[{"__proto__":{"admin":true}}]}',
  String.raw`{"__pro\u0074o__":{"admin":true}}`,
  String.raw`{"\u005f_proto__":{"admin":true}}`,
  '{"prototype":{"admin":true}}',
];

describe('threat row 15: prototype pollution', () => {
  it('is refused in params, metadata and connect, however it is spelt', async () => {
    const { url, opens } = await startEveryDoor({ methods: { echo: (params: never) => params } });
    const raw = async (path: string, body: string): Promise<number> => {
      const answer = await fetch(url + path, { method: 'POST', headers: jsonHeaders(), body });
      await answer.text();
      return answer.status;
    };
    for (const text of SPELLINGS) {
      expect(await raw('/invoke', `{"method":"echo","params":${text}}`), text).to.equal(400);
      expect(await raw('/send', `{"sessionId":"main","message":"x","metadata":${text}}`), text).to.equal(400);
      expect(await raw('/channel', `{"sessionId":"main","channel":"c","payload":${text}}`), text).to.equal(
        400,
      );
      expect(await raw('/invoke', text.replace('{', '{"method":"echo",')), text).to.equal(400);
      for (const open of opens) {
        const socket = await open();
        await socket.connect();
        socket.send(`{"type":"req","id":"1","method":"echo","params":${text}}`);
        expect((await socket.until(({ type }) => type === 'error')).code).to.equal('INVALID_REQUEST');
        socket.destroy();
        const stranger = await open();
        stranger.send(`{"type":"connect","protocol":{"min":1,"max":1},"metadata":${text}}`);
        expect((await stranger.until(({ type }) => type === 'error')).code).to.equal('INVALID_REQUEST');
        stranger.destroy();
      }
    }
    expect(({} as { admin?: unknown }).admin).to.equal(undefined);
  });
});
