import { expect } from 'chai';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { OPERATIONS } from '../../shared/operations.js';
import { echo } from '../support/apps.js';
import { get, startGateway } from '../support/gateway.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { socketPath } from './doors.js';

describe('row 5: every door has the same lock', () => {
  for (const [name, headers] of [
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer wrong-token-of-more-than-32-bytes!' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
  ] as [string, Record<string, string>][]) {
    it(`${name}: 401 and one code on every route and plugin`, async () => {
      // Each try from an address of its own, so that the limit on failed attempts stays out of it.
      const { gateway, url } = await startGateway({ app: echo, trustProxy: true });
      let tries = 0;
      const from = () => ({ 'x-forwarded-for': `198.51.100.${++tries}` });
      gateway.use(mcpServerPlugin({ sessionId: 'main' }));
      gateway.use(chatCompletionsPlugin());
      const routes: [string, string][] = [
        ['GET', '/events'],
        ...Object.values(OPERATIONS).map(({ http, path }): [string, string] => [http, path]),
        ['POST', '/mcp'],
      ];
      for (const [method, path] of routes) {
        const answer = await fetch(url + path, {
          method,
          headers: { 'content-type': 'application/json', ...headers, ...from() },
          ...(method === 'POST' && { body: '{}' }),
        });
        const { error } = (await answer.json()) as { error: { code: string } };
        expect([answer.status, error.code], `${method} ${path}`).to.deep.equal([401, 'UNAUTHENTICATED']);
      }
      expect((await fetch(`${url}/v1/models`, { headers: { ...headers, ...from() } })).status).to.equal(401);
    });
  }

  it('a socket without a good token is closed with 4401', async () => {
    const path = socketPath();
    const { url } = await startGateway({ app: echo, socketPath: path });
    for (const open of [() => openWebSocket(url), () => openUnixSocket(path)]) {
      for (const token of [undefined, 'wrong']) {
        const socket = await open();
        socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, ...(token && { token }) });
        const error = await socket.until(({ type }) => type === 'error');
        expect(error.code).to.equal('UNAUTHENTICATED');
        expect(await socket.closed).to.be.oneOf([4401, 0]);
      }
    }
  });

  it('a token in the query opens /events alone', async () => {
    const { url } = await startGateway({ app: echo });
    const token = encodeURIComponent('a-test-token-of-more-than-32-bytes');
    for (const path of ['/status', '/sessions', '/apps', '/history?sessionId=main'])
      expect(
        (await get(`${url}${path}${path.includes('?') ? '&' : '?'}token=${token}`, { authorization: '' }))
          .status,
      ).to.equal(401);
  });
});
