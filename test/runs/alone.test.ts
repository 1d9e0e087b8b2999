import { expect } from 'chai';
import { GOES_ON } from '../../server/apps/goes-on.js';
import { defineApp, type EventOf, type GatewayConfig, type GatewayEvent, tool } from '../../server/index.js';
import type { PluginContext, PluginSession } from '../../server/plugins/plugin.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { codeOf } from '../support/refused.js';
import { byName, personOf } from '../support/users.js';

/** A gateway on a database, and alice's session as plugins have it. */
async function sessionOn(path: string, config: GatewayConfig<any, any, any>) {
  let context!: PluginContext;
  const { gateway } = await startDurable(path, { auth: byName, ...config });
  gateway.use({
    name: 'caller',
    setup: (given) => {
      context = given;
    },
  });
  return { gateway, session: context.session('main', personOf('alice')) };
}

/** An app whose run must not be called, with one tool, and the calls of that. */
function paying(more: object = {}) {
  const calls: unknown[] = [];
  const began = gate();
  const held = gate();
  const app = defineApp({
    run: () => {
      throw new Error('not asked');
    },
    tools: {
      pay: tool({
        handler: (input: unknown, { callId }) => {
          calls.push([input, callId]);
          return 'paid';
        },
      }),
      fail: tool({
        handler: () => {
          throw new Error('secret');
        },
      }),
      wait: tool({
        handler: async (_: unknown, { callId }) => {
          calls.push(callId);
          began.open();
          await held.passed;
          return 'waited';
        },
      }),
      ask: tool({ confirm: true, handler: () => calls.push('asked') }),
    },
    ...more,
  });
  return { app, calls, began, held };
}

/** The events of a run up to the first of a type, or all. */
async function eventsOf(session: PluginSession, runId: string, last = 'message_end') {
  const events: GatewayEvent[] = [];
  for await (const event of session.run(runId).events()) {
    events.push(event);
    if (event.type === last) break;
  }
  return events;
}

describe('a tool call that is a run of its own', () => {
  it('is a run beside the conversation whose answer is the call and its result', async () => {
    const { app, calls } = paying();
    const { session } = await sessionOn(newDatabase(), { app });
    const { runId } = await session.beginCall('pay', { sum: 5 }, { metadata: { of: 'test' } });
    const { message, stopReason } = await session.run(runId).result;
    expect(stopReason).to.equal('end');
    expect(message.content.map(({ type }) => type)).to.deep.equal(['tool_use', 'tool_result']);
    expect(message.content[1]).to.deep.include({ output: 'paid', isError: false });
    expect(calls).to.have.length(1);
    expect((await session.history()).messages).to.deep.equal([]);
    const [spawned] = await eventsOf(session, runId);
    expect(spawned).to.deep.include({ type: 'run_spawned', keep: false, metadata: { of: 'test' } });
    expect(spawned).not.to.have.any.keys('calls', 'depth');
  });

  it('ends with the failure of its tool as its result', async () => {
    const { app } = paying();
    const { session } = await sessionOn(newDatabase(), { app });
    const { runId } = await session.beginCall('fail', {});
    const { message, stopReason } = await session.run(runId).result;
    expect(stopReason).to.equal('end');
    expect(message.content[1]).to.deep.include({ output: 'The tool failed', isError: true });
  });

  it('is one under a key, and another call under that key is refused', async () => {
    const { app, calls } = paying();
    const { session } = await sessionOn(newDatabase(), { app });
    const key = 'k1';
    const sent = await Promise.all([1, 2, 3].map(() => session.beginCall('pay', { sum: 1 }, { key })));
    expect(new Set(sent.map(({ runId }) => runId)).size).to.equal(1);
    await session.run(sent[0]!.runId).result;
    expect(await session.beginCall('pay', { sum: 1 }, { key })).to.deep.include({
      runId: sent[0]!.runId,
      repeated: true,
    });
    expect(calls).to.have.length(1);
    expect(await codeOf(() => session.beginCall('pay', { sum: 2 }, { key }))).to.equal(
      'IDEMPOTENCY_CONFLICT',
    );
    expect(await codeOf(() => session.beginCall('ask', { sum: 1 }, { key }))).to.equal(
      'IDEMPOTENCY_CONFLICT',
    );
  });

  for (const [what, more] of [
    ['an app', {}],
    ['an app that goes on from a place of its own', { [GOES_ON]: true }],
  ] as const) {
    it(`goes on in another process, as the same call, with ${what}`, async () => {
      const path = newDatabase();
      const first = paying({ resumable: true, ...more });
      const { session } = await sessionOn(path, { app: first.app });
      const { runId } = await session.beginCall('wait', {});
      await Promise.all([first.began.passed, eventsOf(session, runId, 'tool_use')]);
      const second = paying({ resumable: true, ...more });
      const again = await sessionOn(crashed(path), { app: second.app });
      second.held.open();
      const { message, stopReason } = await again.session.run(runId).result;
      expect([stopReason, message.content.at(-1)]).to.deep.include('end');
      expect(message.content.at(-1)).to.deep.include({ output: 'waited' });
      expect(second.calls).to.deep.equal(first.calls);
      first.held.open();
    });

    it(`is not asked about again in another process, with ${what}`, async () => {
      const path = newDatabase();
      const approving = (held = gate()) => ({
        held,
        app: defineApp({
          run: () => 'not asked',
          resumable: true,
          tools: { pay: tool({ confirm: true, handler: () => held.passed.then(() => 'paid') }) },
          ...more,
        }),
      });
      const first = approving();
      const { session } = await sessionOn(path, { app: first.app });
      const { runId } = await session.beginCall('pay', {});
      const asked = (await eventsOf(session, runId, 'tool_confirmation_required')).at(-1);
      await session.respond((asked as EventOf<'tool_confirmation_required'>).callId, { approved: true });
      const second = approving();
      const again = await sessionOn(crashed(path), { app: second.app });
      second.held.open();
      expect((await again.session.run(runId).result).message.content.at(-1)).to.deep.include({
        output: 'paid',
      });
      const events = await eventsOf(again.session, runId);
      expect(events.filter(({ type }) => type === 'tool_confirmation_required')).to.have.length(1);
      first.held.open();
    });
  }

  it('is lost with its gateway, where the app is not resumable', async () => {
    const path = newDatabase();
    const first = paying();
    const { session } = await sessionOn(path, { app: first.app });
    const { runId } = await session.beginCall('wait', {});
    await first.began.passed;
    const second = paying();
    const again = await sessionOn(crashed(path), { app: second.app });
    expect((await again.session.run(runId).result).stopReason).to.equal('lost');
    expect(second.calls).to.deep.equal([]);
    first.held.open();
  });
});
