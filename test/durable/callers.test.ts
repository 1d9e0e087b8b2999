import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { initialize, LIST, messagesOf, postMcp } from '../plugins/mcp/mcp-clients.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { post } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const app = defineApp({ run: () => 'done', tools: { quick: tool({ handler: () => 'quick' }) } });

describe('what clients hold of a gateway that was killed', () => {
  const start = (path: string) => startDurable(path, { app, auth: byName });

  it('is a ticket that resumes its stream, and opens no other one', async () => {
    const path = newDatabase();
    const first = await start(path);
    await post(`${first.url}/send`, { sessionId: 'main', message: 'hello' }, as('alice'));
    const tickets: string[] = [];
    for (let i = 0; i < 2; i++)
      tickets.push((await post(`${first.url}/ticket`, {}, as('alice'))).body.ticket);
    const [used, unused] = tickets as [string, string];
    const open = ({ url }: { readonly url: string }, ticket: string, more: Record<string, string> = {}) =>
      openStream(`${url}/events?${new URLSearchParams({ token: ticket, sessionId: 'main', ...more })}`);
    const stream = await open(first, used);
    const { id } = await stream.until(({ event, id }) => event === 'heartbeat' && id !== undefined);
    const second = await start(crashed(path));
    const answers = [
      await open(second, used),
      await open(second, used, { lastEventId: id!, sessionId: 'other' }),
      await open(second, used, { lastEventId: id! }),
      await open(second, unused),
      await open(second, unused),
    ];
    expect(answers.map(({ response }) => response.status)).to.deep.equal([401, 401, 200, 200, 401]);
  });

  it('is a session of an MCP client', async () => {
    const path = newDatabase();
    const mcp = async (from: string) => {
      const { gateway, url } = await start(from);
      gateway.use(mcpServerPlugin({ sessionId: 'main' }));
      return `${url}/mcp`;
    };
    const id = await initialize(await mcp(path));
    const answer = await postMcp(await mcp(crashed(path)), LIST, { 'mcp-session-id': id });
    expect(answer.status).to.equal(200);
    expect(JSON.stringify(await messagesOf(answer))).to.include('"quick"');
  });
});
