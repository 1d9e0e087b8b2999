import { expect } from 'chai';
import { get, post } from '../../support/gateway.js';
import { expectRefused, startTarget as start } from '../../support/refusal.js';

describe('missing fields and wrong types', () => {
  const cases: [path: string, body: unknown][] = [
    ['/send', {}],
    ['/send', { sessionId: 'main' }],
    ['/send', { message: 'hi' }],
    ['/send', { sessionId: 5, message: 'hi' }],
    ['/send', { sessionId: 'main', message: 5 }],
    ['/send', { sessionId: 'main', message: [] }],
    ['/send', { sessionId: 'main', message: [{ type: 'video', url: 'x' }] }],
    ['/send', { sessionId: 'main', message: { role: 'root', content: 'x' } }],
    ['/send', { sessionId: 'main', message: 'a', messages: ['b'] }],
    ['/send', { sessionId: 'main', messages: [] }],
    ['/send', { sessionId: 'main', message: 'hi', onBusy: 'explode' }],
    ['/send', { sessionId: 'main', message: 'hi', metadata: 'x' }],
    ['/send', { sessionId: 'main', message: 'hi', idempotencyKey: '' }],
    ['/send', { sessionId: 'main', message: 'hi', idempotencyKey: 'with space' }],
    ['/send', { sessionId: 'main', message: 'hi', idempotencyKey: 'k'.repeat(257) }],
    ['/send', []],
    ['/send', null],
    ['/send', 'text'],
    ['/invoke', {}],
    ['/invoke', { method: 5 }],
    ['/invoke', { method: '' }],
    ['/invoke', { method: 'echo', sessionId: [] }],
    ['/subscribe', {}],
    ['/subscribe', { connectionId: 'c', add: 'main' }],
    ['/subscribe', { connectionId: 'c', add: [{ cursor: 'x' }] }],
    ['/subscribe', { connectionId: 'c', add: [{ sessionId: 'a', from: 'yesterday' }] }],
    ['/subscribe', { connectionId: 'c', remove: [1] }],
    ['/abort', {}],
    ['/abort', { sessionId: 'main', runId: 5 }],
    ['/close', {}],
    ['/tool-response', { sessionId: 'main' }],
    ['/tool-response', { sessionId: 'main', callId: '' }],
    ['/tool-response', { sessionId: 'main', callId: 'c', approved: 'yes' }],
    ['/channel', { sessionId: 'main', payload: 1 }],
    ['/channel', { sessionId: 'main', channel: 'a\nb', payload: 1 }],
    ['/channel', { sessionId: 'main', channel: 'c', type: 'a\r\nb', payload: 1 }],
  ];
  for (const [path, body] of cases) {
    it(`POST ${path} ${JSON.stringify(body).slice(0, 80)} is INVALID_PARAMS naming the field`, async () => {
      const gateway = await start();
      const answer = await post(`${gateway.url}${path}`, body);
      await expectRefused(gateway, answer, 400, 'INVALID_PARAMS');
      expect(answer.body.error.details).to.be.an('array').with.property('length').above(0);
      expect((await get(`${gateway.url}/sessions`)).body.sessions).to.deep.equal([]);
    });
  }

  it('GET /events with a bad from, GET /history without sessionId', async () => {
    const gateway = await start();
    await expectRefused(
      gateway,
      await get(`${gateway.url}/events?sessionId=main&from=yesterday`),
      400,
      'INVALID_PARAMS',
    );
    await expectRefused(gateway, await get(`${gateway.url}/history`), 400, 'INVALID_PARAMS');
  });

  it('a bad request without authentication is 401, not 400: nobody learns what the gateway takes', async () => {
    const gateway = await start();
    const noToken = { authorization: '' };
    await expectRefused(
      gateway,
      await get(`${gateway.url}/events?from=yesterday`, noToken),
      401,
      'UNAUTHENTICATED',
    );
    await expectRefused(gateway, await post(`${gateway.url}/send`, {}, noToken), 401, 'UNAUTHENTICATED');
  });
});

describe('session keys that are none', () => {
  for (const sessionId of [
    '../x',
    'a/b',
    'k'.repeat(129),
    '',
    ':',
    'default:',
    ':x',
    'a b',
    'ü',
    'a\nb',
    'x,y',
    '~~a',
  ]) {
    it(`${JSON.stringify(sessionId).slice(0, 30)} is INVALID_REQUEST, in the body and in the query`, async () => {
      const gateway = await start();
      const { url } = gateway;
      const query = encodeURIComponent(sessionId);
      await expectRefused(
        gateway,
        await post(`${url}/send`, { sessionId, message: 'hi' }),
        400,
        'INVALID_REQUEST',
      );
      await expectRefused(gateway, await get(`${url}/history?sessionId=${query}`), 400, 'INVALID_REQUEST');
      await expectRefused(gateway, await get(`${url}/events?sessionId=${query}`), 400, 'INVALID_REQUEST');
      await expectRefused(
        gateway,
        await post(`${url}/invoke`, { method: 'echo', sessionId }),
        400,
        'INVALID_REQUEST',
      );
    });
  }

  it('%00 in the query; 128 characters are taken', async () => {
    const gateway = await start();
    await expectRefused(gateway, await get(`${gateway.url}/status?sessionId=%00`), 400, 'INVALID_REQUEST');
    await expectRefused(gateway, await get(`${gateway.url}/status?sessionId=%ff%fe`), 400, 'INVALID_REQUEST');
    expect(
      (await post(`${gateway.url}/send`, { sessionId: 'k'.repeat(128), message: 'hi' })).status,
    ).to.equal(200);
  });
});

describe('methods that do not exist', () => {
  const names = [
    'nope',
    'constructor:constructor',
    '__proto__:toString',
    'tasks:list:constructor',
    'tasks',
    'hasOwnProperty',
    'toString',
    'tasks:',
    ':tasks',
    'echo ',
    'send',
  ];
  for (const method of names) {
    it(`${JSON.stringify(method)} is METHOD_NOT_FOUND`, async () => {
      const gateway = await start();
      await expectRefused(gateway, await post(`${gateway.url}/invoke`, { method }), 404, 'METHOD_NOT_FOUND');
    });
  }

  it('a name with control characters is shown escaped', async () => {
    const gateway = await start();
    const answer = await post(`${gateway.url}/invoke`, { method: 'a\r\n\u001b[31mred' });
    await expectRefused(gateway, answer, 404, 'METHOD_NOT_FOUND');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(answer.body.error.message).not.to.match(/[\u0000-\u001f]/);
  });
});
