import { expect } from 'chai';
import { WebSocket } from 'ws';
import { type Client, type ClientOptions, createClient, webSocketTransport } from '../../client/index.js';
import type { gateway } from '../../examples/node-http-host.js';
import { textOf } from '../../shared/messages.js';
import { describeDaily } from '../support/daily.js';
import { runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const TOKEN = 'an-example-token-of-more-than-32-bytes';

function connect(options: ClientOptions): Client<typeof gateway> {
  return closeLater(createClient<typeof gateway>(options), (client) => client.disconnect());
}

/** Talks to a gateway below a mount, and sees its host's own page. */
async function visit(file: string, mounts: readonly string[], socketMount?: string): Promise<void> {
  const program = runProgram(file, { env: { PORT: '0', GATEWAY_TOKEN: TOKEN } });
  const [, url] = await program.prints(/Listening on (\S+)/);
  expect(await (await fetch(url!)).text()).to.contain('own page');
  for (const mount of mounts) {
    expect((await fetch(`${url}${mount}/status`)).status).to.equal(401);
    const client = connect({ baseUrl: url + mount, token: TOKEN });
    const events = client.events('main', { from: 'earliest' });
    const { message } = await client.send('main', 'Hello').result;
    expect(textOf(message)).to.equal('You said: Hello ');
    expect((await events.next()).value.type).to.equal('message_accepted');
    const { pong } = await client.invoke('ping');
    expect(pong).to.equal(true);
    client.disconnect();
  }
  if (socketMount !== undefined) {
    const baseUrl = url + socketMount;
    const transport = webSocketTransport({ baseUrl, token: TOKEN, WebSocket: WebSocket as never });
    const client = connect({ transport });
    expect((await client.send('socket', 'Hello').result).stopReason).to.equal('end');
    client.disconnect();
  }
  expect(await program.kill('SIGTERM')).to.equal(0);
}

describeDaily('examples of hosts', 3, () => {
  it('node-http-host.ts', () => visit('examples/node-http-host.ts', ['/agent'], '/agent'));

  it('fastify-host.ts', () => visit('examples/fastify-host.ts', ['/agent'], '/agent'));

  it('hono-host.ts, both ways', () => visit('examples/hono-host.ts', ['/agent', '/web'], '/agent'));

  it('route-handlers', () => visit('examples/route-handlers/server.ts', ['/api/agent']));

  it('nest-host.ts', async () => {
    const program = runProgram('examples/nest-host.ts', { env: { PORT: '0' } });
    const [, url] = await program.prints(/Listening on (\S+)/);
    expect((await fetch(`${url}/api/_gateway/status`)).status).to.equal(403);
    const headers = { 'x-user': 'ada' };
    const client = connect({ baseUrl: `${url}/api`, headers, extraRoutes: '/_gateway' });
    expect((await client.status()).user).to.deep.equal({ id: 'ada' });
    expect((await client.send('main', 'Hello').result).stopReason).to.equal('end');
    const report = await fetch(`${url}/api/report`, { method: 'POST', headers });
    expect(await report.text()).to.contain('event: message_end');
    const { messages } = await (await fetch(`${url}/api/report`, { headers })).json();
    expect(messages.map(textOf)).to.deep.equal(['Write the report', 'You said: Write the report ']);
    client.disconnect();
    expect(await program.kill('SIGTERM')).to.be.oneOf(['SIGTERM', 0]);
  });
});
