import { expect } from 'chai';
import { jsonHeaders, post } from '../support/gateway.js';
import { startEveryDoor } from './every-door.js';

const SPELLINGS = [
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"a":[{"__proto__":{"admin":true}}]}',
  String.raw`{"__pro\u0074o__":{"admin":true}}`,
  String.raw`{"\u005f_proto__":{"admin":true}}`,
  String.raw`{"a":{"constructo\u0072":{"p\u0072ototype":1}}}`,
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

  it('is named by its path where it is refused', async () => {
    const { url } = await startEveryDoor({ methods: { echo: (params: never) => params } });
    const body = '{"method":"echo","params":{"a":[{"constructor":{"prototype":{}}}]}}';
    const answer = await fetch(`${url}/invoke`, { method: 'POST', headers: jsonHeaders(), body });
    const { error } = (await answer.json()) as { error: { details: readonly { path: string }[] } };
    expect(error.details.map(({ path }) => path)).to.deep.equal(['params.a.0.constructor']);
  });

  it('is no reason to refuse data whose keys have such names', async () => {
    const { url, opens } = await startEveryDoor({ methods: { echo: (params: never) => params } });
    const data = { prototype: 'int f(int)', constructor: 'Ferrari', a: [{ constructor: { name: 'x' } }] };
    const said = await post(`${url}/invoke`, { method: 'echo', params: data });
    expect(said.body).to.deep.equal(data);
    const sent = await post(`${url}/send`, { sessionId: 'main', message: 'x', metadata: data });
    expect(sent.status).to.equal(200);
    for (const open of opens) {
      const socket = await open();
      await socket.connect();
      socket.send(JSON.stringify({ type: 'req', id: '1', method: 'echo', params: data }));
      expect(await socket.until(({ id }) => id === '1')).to.deep.include({ ok: true, payload: data });
      socket.destroy();
    }
  });
});
