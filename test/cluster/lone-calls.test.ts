import { expect } from 'chai';
import { userScope } from '../../server/auth/scope.js';
import { defineApp, tool } from '../../server/index.js';
import type { PluginContext, PluginSession } from '../../server/plugins/plugin.js';
import { textOf } from '../../shared/messages.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNodes } from '../support/nodes.js';
import { until } from '../support/until.js';
import { byName, personOf } from '../support/users.js';

const app = defineApp({
  async *run() {
    yield 'done';
  },
  tools: {
    sure: tool({ confirm: true, handler: () => 'did it' }),
    both: tool({
      confirm: { roles: ['finance'], approvals: 2, notBy: 'sender' },
      handler: () => 'both agreed',
    }),
    late: tool({ confirm: { expiresInMs: 40, onExpiry: 'approve' }, handler: () => 'nobody said no' }),
    never: tool({ confirm: { expiresInMs: 40 }, handler: () => 'did it' }),
  },
});

interface Side extends Node {
  /** The session `main` of alice, as a plugin has it. */
  main(): PluginSession;
}

/** Gateways of which the first holds the session `main`. */
async function startSides(
  hub: MemoryHub,
): Promise<{ readonly holder: Side; readonly other: Side; readonly third: Side }> {
  const nodes = await startNodes(hub, { app, auth: byName, sessionScope: () => userScope({ id: 'alice' }) });
  const alice = personOf('alice');
  const sides = nodes.map((node) => {
    let context!: PluginContext;
    node.gateway.use({
      name: 'calls',
      setup: (given) => {
        context = given;
      },
    });
    return { ...node, main: () => context.session('main', alice) };
  });
  const first = sides[0]!.clientOf('alice');
  await first.send('main', 'hello').result;
  first.disconnect();
  await until(() => sides[0]!.gateway.stats().connections.subscriptions === 0);
  const [holder, other, third] = sides as [Side, Side, Side];
  return { holder, other, third };
}

/** The question that a call asks, seen at a gateway, and what came of it. */
async function questionAt({ client }: Side) {
  const events = client.events('main', { from: 'earliest' });
  for await (const event of events) if (event.type === 'tool_confirmation_required') return event.callId;
  throw new Error('nobody asked');
}

async function resultsAt({ client }: Side): Promise<unknown[]> {
  const results: unknown[] = [];
  await client.send('main', 'last').result;
  let ends = 0;
  for await (const event of client.events('main', { from: 'earliest' })) {
    if (event.type === 'tool_confirmation_result') results.push([event.approved, event.by]);
    if (event.type === 'message_end' && ++ends === 2) break;
  }
  return results;
}

/** Calls a tool while somebody follows the session at a gateway, and waits until it asks. */
async function calling(at: 'holder' | 'third', tool: string, options?: { readonly signal: AbortSignal }) {
  const sides = await startSides(new MemoryHub());
  const question = questionAt(sides[at]);
  await followed(sides[at]);
  const output = sides.other.main().callTool(tool, {}, options);
  return { ...sides, output, callId: await question };
}

describe('a tool call outside of runs that must ask a person', () => {
  it('asks in the session that another gateway holds, and is answered at any', async () => {
    for (const at of ['holder', 'other', 'third'] as const) {
      const sides = await startSides(new MemoryHub());
      const question = questionAt(sides[at]);
      // Whoever follows is there before the call.
      const open = question.then((callId) =>
        sides.third.client.session('main').respond(callId, { approved: true }),
      );
      await followed(sides[at]);
      const output = await sides.other.main().callTool('sure', {});
      expect(textOf(output), at).to.equal('did it');
      await open;
      expect(await resultsAt(sides.holder)).to.deep.equal([[true, 'alice']]);
    }
  });

  it('is denied, and answered once', async () => {
    const { output, callId, ...sides } = await calling('holder', 'sure');
    const answers = await Promise.allSettled(
      [sides.holder, sides.third, sides.other].map(({ client }) =>
        client.session('main').respond(callId, { approved: false }),
      ),
    );
    const codes = answers.map((answer) => (answer.status === 'fulfilled' ? 'ok' : answer.reason.code));
    expect(codes.sort()).to.deep.equal(['ALREADY_ANSWERED', 'ALREADY_ANSWERED', 'ok']);
    expect(await output).to.deep.include({ isError: true });
    expect(await resultsAt(sides.third)).to.deep.equal([[false, 'alice']]);
  });

  it('has the policy of its tool, wherever people vote', async () => {
    const { output, callId, ...sides } = await calling('third', 'both');
    const vote = (at: Side, id: string, ...roles: string[]): Promise<unknown> =>
      at.gateway
        .session('main', { user: { id, roles } })
        .respond(callId, { approved: true })
        .then(
          () => 'ok',
          ({ code }) => code,
        );
    expect(await vote(sides.third, 'alice', 'finance')).to.equal('GUARD_DENIED');
    expect(await vote(sides.other, 'eve', 'sales')).to.equal('GUARD_DENIED');
    expect(await vote(sides.holder, 'ann', 'finance')).to.equal('ok');
    expect(await vote(sides.other, 'ann', 'finance')).to.equal('ok');
    const { pending } = await sides.third.client.session('main').state();
    expect(pending[0]!.votes).to.deep.equal([{ by: 'ann', approved: true }]);
    expect(await vote(sides.other, 'bob', 'finance')).to.equal('ok');
    expect(textOf(await output)).to.equal('both agreed');
    expect(await vote(sides.third, 'cleo', 'finance')).to.equal('ALREADY_ANSWERED');
    expect(await resultsAt(sides.holder)).to.deep.equal([[true, 'bob']]);
  });

  for (const [name, says, result] of [
    ['late', 'nobody said no', true],
    ['never', 'Denied: expired', false],
  ] as const)
    it(`is decided by whoever holds the session when its time is over: ${says}`, async () => {
      for (const at of ['holder', 'other'] as const) {
        const sides = await startSides(new MemoryHub());
        const question = questionAt(sides.third);
        await followed(sides.third);
        const output = await sides[at].main().callTool(name, {});
        await question;
        expect(textOf(output), at).to.equal(says);
        expect(await resultsAt(sides.third)).to.deep.equal([[result, 'gateway']]);
      }
    });

  it('fails at once where nobody follows the session at any of them', async () => {
    const sides = await startSides(new MemoryHub());
    const output = await sides.other.main().callTool('sure', {});
    expect(textOf(output)).to.include('nobody follows the session');
    expect(await resultsAt(sides.holder)).to.deep.equal([]);
  });

  it('asks in a session that nobody holds, which is begun for it, for who follows elsewhere', async () => {
    const hub = new MemoryHub();
    const sides = await startSides(hub);
    await sides.holder.client.session('main').close();
    const question = questionAt(sides.third);
    void question.then((callId) => sides.holder.client.session('main').respond(callId, { approved: true }));
    await untilFollowed(hub, 1);
    expect(textOf(await sides.other.main().callTool('sure', {}))).to.equal('did it');
  });

  it('is taken back when it is cancelled', async () => {
    const cancelled = new AbortController();
    const { output, ...sides } = await calling('third', 'sure', { signal: cancelled.signal });
    cancelled.abort();
    expect(textOf(await output)).to.equal('Cancelled');
    await pendingNone(sides.holder);
    expect(await resultsAt(sides.holder)).to.deep.equal([[false, 'alice']]);
  });

  it('is taken back when its gateway dies, by who holds the session', async () => {
    const sides = await calling('third', 'sure');
    sides.other.node.kill();
    await pendingNone(sides.holder);
    expect(await resultsAt(sides.holder)).to.deep.equal([[false, 'gateway']]);
  });

  it('ends when whoever held the session dies, and the next one takes its question back', async () => {
    const { output, ...sides } = await calling('third', 'sure');
    sides.holder.node.kill();
    expect(textOf(await output)).to.equal('The question was taken back');
    expect(await resultsAt(sides.third)).to.deep.equal([[false, 'gateway']]);
  });
});

/** Resolves once a gateway serves a stream. */
async function followed({ gateway }: Side): Promise<void> {
  await until(() => gateway.stats().connections.subscriptions > 0);
}

const untilFollowed = (hub: MemoryHub, count: number): Promise<void> =>
  until(() => hub.watches('main') >= count);

const pendingNone = ({ client }: Side): Promise<void> =>
  until(async () => (await client.session('main').state()).pending.length === 0);
