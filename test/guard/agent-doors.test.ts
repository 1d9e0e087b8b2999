import { expect } from 'chai';
import { defineApp, memoryStore, tool } from '../../server/index.js';
import { says as asks, Follower, madeIn, startA2a, textIn } from '../plugins/a2a/fixtures.js';
import { isIdle, listed, readUntil, says, startSessions, textOf } from '../plugins/sessions-api/fixtures.js';
import { gate } from '../support/gate.js';
import type { TestGateway } from '../support/gateway.js';

const SECRET = 'four-thousand-milligrams';

/** Takes back what it said behind its first words, once that was read. */
function falling(within = '') {
  const isRead = gate();
  const app = defineApp({
    tools: { look: tool({ handler: () => 'seen' }) },
    async *run(turn) {
      yield 'Let me see. ';
      const mark = turn.mark();
      yield within === 'thought' ? { type: 'reasoning_delta', delta: 'Sweden' } : 'It is Stockh';
      if (within === 'call') {
        await turn.callTool('look', {});
        yield 'Really: Stockh';
      }
      turn.data('card', 1, { id: 'card' });
      turn.data('end', 1, { id: 'end' });
      await isRead.passed;
      turn.retract(mark);
      yield 'It is ';
      await new Promise(setImmediate);
      yield 'Oslo.';
    },
  });
  return { app, isRead };
}

describe('a text that was taken back, through the doors of agents', () => {
  it('is gone from an A2A task, and from what a client makes of its stream', async () => {
    const { app, isRead } = falling();
    const gateway = await startA2a({ app, store: memoryStore() });
    const client = await gateway.client();
    const follower = new Follower();
    for await (const event of client.sendMessageStream(asks('go'))) {
      follower.take(event);
      if (JSON.stringify(follower.task).includes('data-end')) isRead.open();
    }
    const { task } = follower;
    expect(textIn(task!)).to.equal('Let me see. It is Oslo.');
    const got = await client.getTask({ tenant: '', id: task!.id, historyLength: undefined });
    expect(madeIn(got)).to.deep.equal({ 'text-0': 'Let me see. It is Oslo.' });
    expect(madeIn(task!)).to.deep.equal({ ...madeIn(got), 'data-card': '', 'data-end': '' });
  });

  it('leaves the artifacts of an A2A task alone that say what they said', async () => {
    const isRead = gate();
    const app = defineApp({
      async *run(turn) {
        yield 'Kept.';
        turn.data('card', 1, { id: 'card' });
        const mark = turn.mark();
        yield SECRET;
        await isRead.passed;
        turn.retract(mark);
        turn.data('next', 2, { id: 'next' });
      },
    });
    const client = await (await startA2a({ app, store: memoryStore() })).client();
    const updates: string[] = [];
    const follower = new Follower();
    for await (const event of client.sendMessageStream(asks('go'))) {
      follower.take(event);
      const { payload } = event;
      if (payload?.$case === 'artifactUpdate') updates.push(payload.value.artifact!.artifactId);
      if (JSON.stringify(follower.task).includes(SECRET)) isRead.open();
    }
    expect(madeIn(follower.task!)).to.deep.equal({
      ...{ 'text-0': 'Kept.', 'data-card': '1', 'text-2': '', 'data-next': '2' },
    });
    expect(updates.slice(updates.lastIndexOf('text-2'))).to.deep.equal(['text-2', 'data-next']);
  });

  for (const [within, whole] of [
    ['', ['Let me see. It is Oslo.']],
    ['thought', ['Let me see. ', 'It is Oslo.']],
    ['call', ['Let me see. It is Oslo.']],
  ] as const)
    it(`is in no event that the sessions API lists: ${within || 'text'}`, async () => {
      const { app, isRead } = falling(within);
      const gateway = await startSessions({ app, store: memoryStore() });
      const client = gateway.client();
      const { id } = await client.beta.sessions.create({ agent: 'default', environment_id: 'e' });
      const stream = await client.beta.sessions.events.stream(id, { event_deltas: ['agent.message'] });
      await client.beta.sessions.events.send(id, { events: [says('go')] });
      const events = await readUntil(stream, (event) => {
        const told = JSON.stringify(event);
        if (within === 'thought' ? event.type === 'agent.message' : /Stockh/.test(told)) isRead.open();
        return isIdle(event);
      });
      const list = await listed(client, id);
      const messages = list.filter(({ type }) => type === 'agent.message');
      expect(messages.map(textOf)).to.deep.equal(whole);
      expect(list.some(({ type }) => type === 'agent.thinking')).to.equal(false);
      // A client that shows pieces drops them once their event is closed without having come.
      const shown = new Map<string, string>();
      let open = '';
      for (const event of events) {
        if (event.type === 'event_start') open = event.event.id;
        if (event.type === 'event_delta') shown.set(open, (shown.get(open) ?? '') + event.delta.content.text);
        if (event.type === 'span.model_request_end') shown.delete(open);
        if (event.type !== 'agent.message') continue;
        expect(shown.get(event.id)).to.equal(textOf(event));
        open = '';
      }
      for (const message of messages) expect(shown.get(message.id)).to.equal(textOf(message));
      if (within === '') expect([...shown.values()]).to.deep.equal(whole);
      const wholes = events.filter(({ type, id: told }) => told && type !== 'agent.thinking');
      const ids = wholes.map((event) => event.id);
      expect(new Set(ids).size).to.equal(ids.length);
      for (const event of list) expect(wholes.map((told) => told.id)).to.include(event.id);
    });

  /** An answer that goes on until somebody ends it. */
  const lasting = defineApp({
    async *run({ signal }) {
      yield `Take ${SECRET}`;
      await new Promise((_, reject) => signal.addEventListener('abort', reject));
    },
  });

  /** Takes the answer of a session of alice back. */
  async function takeBack({ gateway }: TestGateway, id: string): Promise<void> {
    const session = gateway.session(id, { user: { id: 'alice' } });
    for await (const event of session.events({ from: 'earliest' }))
      if (event.type === 'message_start') return void (await session.retract(event.messageId));
  }

  it('is not told whole by the sessions API after staff took it back', async () => {
    const gateway = await startSessions({ app: lasting, store: memoryStore() });
    const client = gateway.client();
    const { id } = await client.beta.sessions.create({ agent: 'default', environment_id: 'e' });
    const stream = await client.beta.sessions.events.stream(id, { event_deltas: ['agent.message'] });
    await client.beta.sessions.events.send(id, { events: [says('go')] });
    const events: any[] = [];
    for await (const event of stream as AsyncIterable<any>) {
      events.push(event);
      if (event.type === 'event_delta') void takeBack(gateway, id);
      if (isIdle(event)) break;
    }
    stream.controller.abort();
    const list = await listed(client, id);
    expect(JSON.stringify(list)).to.not.include(SECRET);
    expect(events.filter((event) => event.id)).to.deep.equal(list);
  });

  it('is gone from an A2A task whose answer staff took back', async () => {
    const gateway = await startA2a({ app: lasting, store: memoryStore() });
    const client = await gateway.client();
    const follower = new Follower();
    for await (const event of client.sendMessageStream(asks('go'))) {
      follower.take(event);
      if (madeIn(follower.task!)['text-0']) void takeBack(gateway, follower.task!.contextId);
    }
    const { id } = follower.task!;
    expect(JSON.stringify(await client.getTask({ tenant: '', id, historyLength: undefined }))).to.not.include(
      SECRET,
    );
  });
});
