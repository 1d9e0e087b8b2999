import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { halting, wordedApp } from '../../support/apps.js';
import { failure } from '../../support/client.js';
import { until } from '../../support/until.js';
import { actor } from '../actor.js';
import { Follower, madeIn, saying, says, startA2a, textIn } from './fixtures.js';

const [WORKING, COMPLETED, FAILED, CANCELED, ASKING] = [2, 3, 4, 5, 6];

/** A part with a value. */
const data = (value: unknown) => ({ content: { $case: 'data', value } });

describe('the A2A SDK as a client', () => {
  it('finds the agents by their cards', async () => {
    const apps = { first: defineApp({ description: 'The first', run: () => 'one' }), second: actor().app };
    const { client, url } = await startA2a(
      { apps, defaultApp: 'first' },
      { agents: ['first', 'second'], cards: { second: { version: '2.0', skills: [] } } },
    );
    const card: any = await (await client()).getAgentCard();
    expect(card).to.deep.include({ name: 'first', description: 'The first' });
    expect(card.supportedInterfaces[0]).to.deep.include({
      ...{ url: `${url}/a2a/first`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    });
    expect(card.capabilities).to.deep.include({ streaming: true, pushNotifications: false });
    const other = await client('alice', { path: '/a2a/second/.well-known/agent-card.json' });
    expect((await other.getAgentCard()).version).to.equal('2.0');
    expect(textIn((await (await client()).sendMessage(says('hi'))) as any)).to.equal('one');
  });

  it('sends, and has the task when it is over', async () => {
    const { client } = await startA2a({ app: actor().app });
    const agent = await client();
    const task: any = await agent.sendMessage(says('hello data bye'));
    expect(task.status.state).to.equal(COMPLETED);
    expect(madeIn(task)).to.deep.include({ 'text-0': 'hello ' });
    expect(task.artifacts.map(({ artifactId }: any) => artifactId)).to.include('data-w');
    expect(textIn(task)).to.equal('hello bye ');
    expect(task.history[0].parts[0].content.value).to.equal('hello data bye');
    const { history } = await agent.getTask({ tenant: '', id: task.id, historyLength: 0 });
    expect(history).to.deep.equal([]);
    expect(await agent.getTask({ tenant: '', id: task.id, historyLength: undefined })).to.deep.equal(task);
  });

  it('goes on in the context of a task', async () => {
    const app = defineApp({ run: ({ history }) => String(history.length) });
    const { client, gateway } = await startA2a({ app });
    const agent = await client();
    const one: any = await agent.sendMessage(says('a'));
    const two: any = await agent.sendMessage(says('b', { contextId: one.contextId }));
    expect([two.contextId, textIn(two)]).to.deep.equal([one.contextId, '2']);
    expect(
      (await gateway.session(one.contextId, { user: { id: 'alice' } }).history()).messages,
    ).to.have.length(4);
    const named: any = await agent.sendMessage(says('c', { contextId: 'chosen' }));
    expect(named.contextId).to.equal('chosen');
  });

  it('is told the same task for the same message, which runs once', async () => {
    const { app, effects } = actor();
    const { client } = await startA2a({ app });
    const agent = await client();
    for (const contextId of ['', 'main']) {
      effects.length = 0;
      const message = says('look', { contextId });
      const tasks = await Promise.all([1, 2, 3].map(() => agent.sendMessage(message)));
      expect(new Set(tasks.map((task: any) => task.id)).size).to.equal(1);
      expect((await new Follower().read(agent.sendMessageStream(message))).id).to.equal((tasks[0] as any).id);
      expect(effects).to.deep.equal(['look']);
    }
  });

  it('is told a task at once that it does not wait for, and polls', async () => {
    const { app, held } = halting('', 'done');
    const { client } = await startA2a({ app });
    const agent = await client();
    const request = says('go');
    request.configuration = { returnImmediately: true, acceptedOutputModes: [] } as any;
    const { id, status }: any = await agent.sendMessage(request);
    expect(status.state).to.be.below(COMPLETED);
    const now = () => agent.getTask({ tenant: '', id, historyLength: undefined });
    expect((await now()).status?.state).to.be.below(COMPLETED);
    held.open();
    await until(async () => (await now()).status?.state === COMPLETED);
    expect(textIn(await now())).to.equal('go done');
  });

  it('reads a stream: the task, then its text as it comes', async () => {
    const { app, words } = wordedApp(3);
    const { client } = await startA2a({ app });
    const follower = new Follower();
    const texts: string[] = [];
    for await (const event of (await client()).sendMessageStream(says('x'))) {
      follower.take(event);
      const text = textIn(follower.task!);
      if (texts.at(-1) !== text) texts.push(text);
      words[texts.length - 1]?.open(`w${texts.length} `);
    }
    expect(texts).to.deep.equal(['', 'w1 ', 'w1 w2 ', 'w1 w2 w3 ']);
    expect(follower.task?.status?.state).to.equal(COMPLETED);
  });

  for (const [how, parts] of [
    ['data', [data({ approved: true })]],
    ['a word', [{ content: { $case: 'text', value: 'Yes.' } }]],
  ] as const)
    it(`approves what a task asks, by ${how}, and reads on`, async () => {
      const { app, effects } = actor();
      const { client } = await startA2a({ app });
      const agent = await client();
      const asked = await new Follower().read(agent.sendMessageStream(says('pay bye')));
      expect(asked.status?.state).to.equal(ASKING);
      expect((asked.status!.message!.parts[0]!.content as any).value).to.deep.include({
        kind: 'confirmation',
        name: 'pay',
      });
      expect(effects).to.deep.equal([]);
      const answer = saying(parts, { taskId: asked.id });
      const told = await new Follower().read(agent.sendMessageStream(answer));
      expect([told.id, told.status?.state, effects]).to.deep.equal([asked.id, COMPLETED, ['pay']]);
      expect(textIn(told)).to.match(/bye $/);
      // The same answer again asks nothing anew.
      expect(((await agent.sendMessage(answer)) as any).id).to.equal(asked.id);
    });

  it('denies with a reason, and answers a question with a value', async () => {
    const { app, effects } = actor();
    const { client } = await startA2a({ app });
    const agent = await client();
    const asked: any = await agent.sendMessage(says('pay'));
    const denied: any = await agent.sendMessage(
      saying([data({ approved: false, reason: 'too much' })], { taskId: asked.id }),
    );
    expect([textIn(denied), effects]).to.deep.equal(['[pay: "Denied: too much"] ', []]);
    const question: any = await agent.sendMessage(says('ask'));
    expect(question.status.message.parts[0].content.value).to.deep.include({ kind: 'input', name: 'colour' });
    const answered: any = await agent.sendMessage(saying([data({ colour: 'red' })], { taskId: question.id }));
    expect(textIn(answered)).to.equal('[{"colour":"red"}] ');
  });

  it('answers several questions by their calls', async () => {
    const { app, effects } = actor();
    const { client } = await startA2a({ app });
    const agent = await client();
    const asked: any = await agent.sendMessage(says('both'));
    const calls = asked.status.message.parts.map(({ content }: any) => content.value.callId);
    const answers = [data({ callId: calls[1], approved: true }), data({ callId: calls[0], approved: false })];
    const task: any = await agent.sendMessage(saying(answers, { taskId: asked.id }));
    expect([task.status.state, effects]).to.deep.equal([COMPLETED, ['pay']]);
  });

  it('follows a task through what others answer', async () => {
    const { app } = actor();
    const { client, gateway } = await startA2a({ app });
    const agent = await client();
    const { id, contextId }: any = await agent.sendMessage(says('pay bye'));
    const follower = new Follower();
    for await (const event of agent.resubscribeTask({ tenant: '', id })) {
      follower.take(event);
      if (follower.events > 1) continue;
      expect(follower.task?.status?.state).to.equal(ASKING);
      const [asked] = follower.task!.status!.message!.parts as any[];
      const session = gateway.session(contextId, { user: { id: 'alice' } });
      await session.respond(asked.content.value.callId, { approved: true });
    }
    expect([follower.task?.status?.state, textIn(follower.task!)]).to.deep.equal([
      COMPLETED,
      '[pay: {"did":"pay","n":1}] bye ',
    ]);
  });

  it('cancels a task, once', async () => {
    const { app, began } = halting();
    const { client } = await startA2a({ app });
    const agent = await client();
    const request = says('go', { contextId: 'main' });
    request.configuration = { returnImmediately: true, acceptedOutputModes: [] } as any;
    const { id }: any = await agent.sendMessage(request);
    await began.passed;
    const cancelled = await agent.cancelTask({ tenant: '', id, metadata: undefined });
    expect([cancelled.id, cancelled.status?.state]).to.deep.equal([id, CANCELED]);
    expect((await failure(agent.cancelTask({ tenant: '', id, metadata: undefined }))).name).to.match(
      /NotCancelable/i,
    );
  });

  it('is told why a task failed', async () => {
    const { client } = await startA2a({ app: actor().app });
    const task: any = await (await client()).sendMessage(says('hello break'));
    expect(task.status.state).to.equal(FAILED);
    expect(task.status.message.parts[0].content.value).to.equal('The app failed');
    expect(textIn(task)).to.equal('hello ');
  });

  it('lists tasks, last changed first, by pages, contexts and states', async () => {
    const { client } = await startA2a({ app: actor().app });
    const agent = await client();
    const ids: string[] = [];
    for (const contextId of ['a', 'b', 'a'])
      ids.unshift(((await agent.sendMessage(says('hi', { contextId }))) as any).id);
    ids.unshift(((await agent.sendMessage(says('pay', { contextId: 'c' }))) as any).id);
    const list = async (asked: object) => {
      const none = { tenant: '', contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined };
      return agent.listTasks({ ...none, ...asked } as any);
    };
    const all = await list({});
    expect(all.tasks.map(({ id }) => id)).to.deep.equal(ids);
    expect(all.tasks[0]).to.deep.include({ artifacts: [] });
    expect([all.totalSize, all.nextPageToken]).to.deep.equal([4, '']);
    expect((await list({ contextId: 'a' })).tasks.map(({ id }) => id)).to.deep.equal([ids[1], ids[3]]);
    expect((await list({ status: ASKING })).tasks.map(({ id }) => id)).to.deep.equal([ids[0]]);
    expect(textIn((await list({ contextId: 'b', includeArtifacts: true })).tasks[0]!)).to.equal('hi ');
    const first = await list({ pageSize: 3 });
    expect(first.tasks.map(({ id }) => id)).to.deep.equal(ids.slice(0, 3));
    const rest = await list({ pageSize: 3, pageToken: first.nextPageToken });
    expect([rest.tasks.map(({ id }) => id), rest.nextPageToken]).to.deep.equal([ids.slice(3), '']);
    expect((await list({ contextId: 'nobody' })).tasks).to.deep.equal([]);
    expect(WORKING).to.be.below(COMPLETED);
  });

  it('brings files, and values as JSON', async () => {
    const app = defineApp({
      run: ({ message }: any) =>
        JSON.stringify(
          message.content.map(({ type, mediaType, text, data: bytes, name }: any) => [
            type,
            mediaType ?? text,
            bytes,
            name,
          ]),
        ),
    });
    const { client } = await startA2a({ app });
    const task: any = await (await client()).sendMessage(
      saying([
        { content: { $case: 'raw', value: Buffer.from('hi') }, mediaType: 'image/png', filename: 'a.png' },
        data({ a: 1 }),
      ]),
    );
    expect(task.status.state).to.equal(COMPLETED);
    expect(textIn(task)).to.contain('image/png').and.to.contain('a.png').and.to.contain('{\\"a\\":1}');
  });
});
