import { expect } from 'chai';
import { agUiPlugin } from '../../../server/plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../../../server/plugins/chat-completions/index.js';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { uiMessageStreamPlugin } from '../../../server/plugins/ui-message-stream/index.js';
import { startGateway } from '../../support/gateway.js';
import { as, byName } from '../../support/users.js';
import { actor } from '../actor.js';

const POLICY = { roles: ['finance'], approvals: 2, expiresInMs: 3_600_000, onExpiry: 'deny' } as const;

/** A gateway whose tool `pay` asks by the policy, with all doors. */
async function start() {
  const { app, effects } = actor([], POLICY);
  const started = await startGateway({ app, auth: byName });
  for (const plugin of [agUiPlugin(), langGraphPlugin(), uiMessageStreamPlugin(), chatCompletionsPlugin()])
    started.gateway.use(plugin);
  const send = async (path: string, body?: object): Promise<Response> =>
    fetch(`${started.url}${path}`, {
      headers: { ...as('alice'), 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  const user = { id: 'alice', roles: ['finance'] };
  return { ...started, effects, send, session: started.gateway.session('main', { user }) };
}

const eventsIn = (text: string): any[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!));

describe('a policy of a confirmation', () => {
  it('is told by AG-UI with the interrupt', async () => {
    const { send } = await start();
    const messages = [{ id: 'm1', role: 'user', content: 'pay' }];
    const input = { threadId: 'main', runId: 'r1', messages, tools: [], context: [], state: {} };
    const events = eventsIn(
      await (await send('/ag-ui/agent/default', { ...input, forwardedProps: {} })).text(),
    );
    const [interrupt] = events.find(({ type }) => type === 'RUN_FINISHED').outcome.interrupts;
    expect(interrupt.metadata.policy).to.deep.include({ roles: ['finance'], approvals: 2, onExpiry: 'deny' });
    expect(Date.parse(interrupt.expiresAt)).to.equal(interrupt.metadata.policy.expiresAt);
  });

  it('is told to a page of useChat as a data part', async () => {
    const { send } = await start();
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'pay' }] }];
    const chunks = eventsIn(await (await send('/api/chat', { id: 'main', messages })).text());
    const told = chunks.find(({ type }) => type === 'data-approval-policy');
    const { approvalId } = chunks.find(({ type }) => type === 'tool-approval-request');
    expect(told).to.deep.include({ id: approvalId });
    expect(told.data).to.deep.include({ callId: approvalId, roles: ['finance'], approvals: 2 });
  });

  it('is in the value of an interrupt of LangGraph, with the votes so far', async () => {
    const { send, session } = await start();
    const run = session.send('pay');
    for await (const event of run)
      if (event.type === 'tool_confirmation_required') {
        await session.respond(event.callId, { approved: true });
        break;
      }
    const { tasks } = (await (await send('/langgraph/threads/main/state')).json()) as any;
    const { value } = tasks[0].interrupts[0];
    expect(value.policy).to.deep.include({ approvals: 2 });
    expect(value.votes).to.deep.equal([{ by: 'alice', approved: true }]);
    // Everybody approves the same.
    expect(value.review_configs[0].allowed_decisions).to.deep.equal(['approve', 'reject']);
  });

  it('has chat completions without a session refused, whose caller has no right to deny either', async () => {
    const { send, effects } = await start();
    const messages = [{ role: 'user', content: 'pay' }];
    const response = await send('/v1/chat/completions', { model: 'default', messages });
    expect(response.status).to.equal(403);
    expect(((await response.json()) as any).error).to.include({ code: 'guard_denied' });
    expect(effects).to.deep.equal([]);
  });
});
