import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { WebSocket } from '../support/behind-proxy.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { expiringTokens } from './expiring-tokens.js';

describe('tokens of a WebSocket', () => {
  it('are renewed before they run out, on the same connection', async () => {
    const { auth, token, issued } = expiringTokens(3000);
    const { gateway, url } = await startGateway({ app: echo, auth, limits: { heartbeatMs: 100 } });
    const disconnected = new Hearing(gateway, 'client:disconnected');
    const client = connectClient(url, { token, transport: 'websocket', WebSocket });
    const events = client.events('main', { from: 'earliest' });
    await client.send('main', 'one').result;
    // Past the end of the first token and of its successor.
    while (issued.length < 4) await new Promise((resolve) => setTimeout(resolve, 50));
    await client.send('main', 'two').result;
    expect(disconnected.heard).to.deep.equal([]);
    expect((await events.next()).value.type).to.equal('message_accepted');
  });
});
