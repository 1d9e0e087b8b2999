import { expect } from 'chai';
import { tool } from '../../../server/index.js';
import { as } from '../../support/users.js';
import { call, INITIALIZE, LIST, messagesOf, postMcp, startMcp } from './mcp-clients.js';
import { heldTool } from './offered-tools.js';

const tools = () => heldTool({ quick: tool({ handler: () => 'quick' }) });

const cancel = (requestId: string | number) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

/** The headers of a session of a revision. */
async function begin(url: string, protocolVersion: string): Promise<Record<string, string>> {
  const params = { ...INITIALIZE.params, protocolVersion };
  const answer = await postMcp(url, { ...INITIALIZE, params });
  await answer.text();
  return {
    'mcp-session-id': answer.headers.get('mcp-session-id')!,
    'mcp-protocol-version': protocolVersion,
  };
}

describe('a cancelled call of an MCP client with a session', () => {
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
    it(`has no answer, and its stream ends: ${version}`, async () => {
      const { app, began, aborted } = tools();
      const { url } = await startMcp({ app });
      const session = await begin(url, version);
      const pending = await postMcp(url, call('held'), session);
      await began.passed;
      expect((await postMcp(url, cancel(3), session)).status).to.equal(202);
      await aborted.passed;
      const text = await pending.text();
      expect(text).not.to.include('"id":3');
      // Its id is free again, and its stream is not one to come back to.
      const [next] = await messagesOf(await postMcp(url, call('quick', 3), session));
      expect(next.result.content[0].text).to.equal('quick');
      const lastId = /^id: (.+)$/m.exec(text)?.[1];
      expect(lastId !== undefined).to.equal(version === '2025-11-25');
      if (lastId === undefined) return;
      const headers = { ...as('alice'), ...session, accept: 'text/event-stream', 'last-event-id': lastId };
      expect((await fetch(url, { headers })).status).to.equal(400);
    });

  it('ends the stream of its batch, where it was alone', async () => {
    const { url } = await startMcp({ app: tools().app });
    const session = await begin(url, '2025-03-26');
    const ping = { jsonrpc: '2.0', id: 'p', method: 'ping' };
    const batches = [
      [call('held'), cancel(3)],
      [ping, cancel('p')],
      [call('held', 4), ping, cancel('p'), cancel(4)],
    ];
    for (const batch of batches)
      expect(await messagesOf(await postMcp(url, batch, session))).to.deep.equal([]);
  });

  it('leaves the stream of its batch to the others, and ends it behind their answers', async () => {
    const { app, began, held } = tools();
    const { url } = await startMcp({ app });
    const session = await begin(url, '2025-03-26');
    const batch = [call('held', 'a'), call('held', 'b'), cancel('a'), { ...LIST, id: 'c' }];
    const pending = await postMcp(url, batch, session);
    await began.passed;
    held.open('done');
    const answered = (await messagesOf(pending)).map(({ id }) => id);
    expect(answered.sort()).to.deep.equal(['b', 'c']);
  });

  it('ends a stream that was resumed', async () => {
    const { app, began } = tools();
    const { url } = await startMcp({ app });
    const session = await begin(url, '2025-11-25');
    const cut = await postMcp(url, call('held'), session);
    const reader = cut.body!.getReader();
    const lastId = /^id: (.+)$/m.exec(new TextDecoder().decode((await reader.read()).value))![1]!;
    await began.passed;
    await reader.cancel();
    const headers = { ...as('alice'), ...session, accept: 'text/event-stream', 'last-event-id': lastId };
    let resumed = await fetch(url, { headers });
    // The server may not have noticed the cut yet.
    while (resumed.status === 409) resumed = await fetch(url, { headers });
    await (await postMcp(url, cancel(3), session)).text();
    expect(await messagesOf(resumed)).to.deep.equal([]);
  });

  it('is cancelled too by what comes before it in its batch, and by nothing with another id', async () => {
    const { url } = await startMcp({ app: tools().app });
    const session = await begin(url, '2025-03-26');
    expect(await messagesOf(await postMcp(url, [cancel(3), call('quick')], session))).to.deep.equal([]);
    const others = [call('quick'), cancel('3'), cancel('unknown'), cancel(3.5)];
    const [message] = await messagesOf(await postMcp(url, others, session));
    expect(message.result.content[0].text).to.equal('quick');
  });
});
