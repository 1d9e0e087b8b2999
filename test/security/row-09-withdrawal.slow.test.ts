import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type AuthConfig, defineApp, method, tool } from '../../server/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { holdWallClock } from '../support/wall-clock.js';
import { forEver } from './endless-stream.js';

const SECRET = 's'.repeat(40);

const held = gate();
const app = defineApp({
  tools: { hold: tool({ handler: () => held.passed.then(() => 'done') }) },
  run: (turn) => turn.text,
});

describe('row 9: what a caller has open ends with what let it in', () => {
  it('streams of methods and of MCP end when a JWT expires', async () => {
    const letPass = holdWallClock();
    const auth: AuthConfig = { type: 'jwt', secret: SECRET, clockToleranceSeconds: 0 };
    const { url, gateway } = await startGateway({
      app,
      auth,
      methods: { watch: method({ handler: forEver }) },
    });
    gateway.use(mcpServerPlugin({ sessionId: 'main' }));
    const token = jwt.sign({ sub: 'alice', exp: Math.floor(Date.now() / 1000) + 60 }, SECRET);
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const stream = await openStream(`${url}/invoke`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ method: 'watch' }),
    });
    await stream.until(({ event }) => event === 'chunk');
    const rpc = (id: number, method: string, params: object, more = {}) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      });
    const opened = await rpc(1, 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    const session = {
      'mcp-session-id': opened.headers.get('mcp-session-id')!,
      'mcp-protocol-version': '2025-11-25',
    };
    await opened.text();
    const call = await rpc(2, 'tools/call', { name: 'hold', arguments: {} }, session);
    const listening = await fetch(`${url}/mcp`, {
      headers: { ...headers, ...session, accept: 'text/event-stream' },
    });
    expect([call.status, listening.status]).to.deep.equal([200, 200]);
    letPass(60_000);
    const ended = (answer: Response) => answer.text().catch(() => 'cut');
    await Promise.all([ended(call), ended(listening), stream.ended]);
    expect(stream.events.at(-1)!.data.code).to.equal('UNAUTHENTICATED');
  });
});
