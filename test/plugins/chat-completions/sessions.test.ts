import { expect } from 'chai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { defineApp } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient, takeUntil } from '../../support/client.js';
import { gate } from '../../support/gate.js';
import { alone, get } from '../../support/gateway.js';
import { as } from '../../support/users.js';
import { type ChatGateway, recalling, runs, says, startChat, tools } from './fixtures.js';
import { expectShape } from './schemas.js';

const user = (content: string): ChatCompletionMessageParam => ({ role: 'user', content });
const assistant = (content: string): ChatCompletionMessageParam => ({ role: 'assistant', content });
const system = (content: string): ChatCompletionMessageParam => ({ role: 'system', content });

/** Sends a conversation into a session and returns what the app said. */
async function said(
  { client }: ChatGateway,
  session: string | null,
  messages: ChatCompletionMessageParam[],
  name = 'alice',
): Promise<string> {
  const options = session === null ? {} : { headers: { 'x-session-id': session } };
  const answer = await client(name).chat.completions.create({ model: 'default', messages }, options);
  return answer.choices[0]!.message.content!;
}

describe('sessions of chat completions', () => {
  it('are named by the caller, seeded with the whole list, and get only what is new after that', async () => {
    const chat = await startChat({ app: recalling });
    const start = [system('Be kind'), user('a'), assistant('b'), user('c')];
    const first = await said(chat, 'kept', start);
    expect(first).to.equal('system:Be kind|user:a|assistant:b|user:c');
    const second = await said(chat, 'kept', [...start, assistant(first), user('d')]);
    expect(second).to.equal(`${first}|assistant:${first}|user:d`);
    expect(await said(chat, 'kept', [user('e')])).to.equal(`${second}|assistant:${second}|user:e`);
  });

  it('are recognized in what clients make of an answer: trimmed and re-wrapped', async () => {
    const app = runs(async function* (turn) {
      yield ` ${turn.history.length}\n\n answers `;
    });
    const chat = await startChat({ app });
    await said(chat, 'kept', [user('a')]);
    expect(await said(chat, 'kept', [user('a'), assistant('0 answers'), user('b')])).to.equal(
      ' 2\n\n answers ',
    );
  });

  it('are the truth: what the caller changed or left out stays, and an answer they do not know is new', async () => {
    const chat = await startChat({ app: recalling });
    const first = await said(chat, 'kept', [user('a')]);
    expect(await said(chat, 'kept', [user('other'), assistant(first), user('b')])).to.match(
      /^user:a\|assistant:user:a\|user:b$/,
    );
    const edited = [user('a'), assistant(first), user('b2'), assistant('invented'), user('c')];
    expect(await said(chat, 'kept', edited)).to.match(/\|user:b2\|assistant:invented\|user:c$/);
  });

  it('are recognized in the beginning of an answer that was broken off', async () => {
    const began = gate();
    const app = runs(async function* (turn) {
      if (turn.text === 'b') return void (yield turn.history.map(textOf).join());
      yield 'Once upon a time';
      began.open();
      await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()));
    });
    const chat = await startChat({ app });
    const ended = gate();
    chat.gateway.on('run:ended', () => ended.open());
    const leaving = new AbortController();
    const headers = { 'x-session-id': 'kept' };
    chat.ask(says('a', { stream: true }), { headers, signal: leaving.signal }).catch(() => {});
    await began.passed;
    leaving.abort();
    await ended.passed;
    expect(await said(chat, 'kept', [user('a'), assistant('Once upon'), user('b')])).to.equal(
      'a,Once upon a time',
    );
  });

  it('are not told twice what the caller repeats to ask again', async () => {
    let fails = true;
    const app = runs(async function* (turn) {
      if (fails) return { stopReason: 'end' as const };
      yield [...turn.history, turn.message].map(textOf).join();
    });
    const chat = await startChat({ app });
    await said(chat, 'kept', [system('s'), user('a')]);
    fails = false;
    expect(await said(chat, 'kept', [system('s'), user('a'), user('b')])).to.equal('s,a,b');
    expect(await said(chat, 'kept', [system('s'), user('c')])).to.equal('s,a,b,s,a,b,c');
  });

  it('refuse a list in which nothing is new', async () => {
    const chat = await startChat({ app: recalling });
    const first = await said(chat, 'kept', [user('a')]);
    const response = await chat.ask(
      { model: 'default', messages: [user('a'), assistant(first)] },
      { headers: { 'x-session-id': 'kept' } },
    );
    expect(response.status).to.equal(400);
    expect(expectShape('error', await response.json()).error.param).to.equal('messages');
  });

  it('are seeded once by two first requests at the same time', async () => {
    const both = gate();
    let arrived = 0;
    const chat = await startChat({
      ...alone(),
      app: recalling,
      auth: {
        type: 'custom',
        cookies: false,
        validate: async () => {
          arrived += 1;
          if (arrived === 2) both.open();
          return { valid: true, user: { id: 'alice' } };
        },
      },
      // Slow enough for both to look before either is accepted.
      sessionAccess: async (_user, _session, operation) => {
        await both.passed;
        if (operation === 'send') for (let n = 0; n < 100; n++) await new Promise(setImmediate);
        return true;
      },
    });
    const start = [user('a'), assistant('b'), user('c')];
    const answers = await Promise.all([said(chat, 'kept', start), said(chat, 'kept', start)]);
    expect(answers).to.include('user:a|assistant:b|user:c');
    const { body } = await get(`${chat.url}/history?sessionId=kept`, as('alice'));
    expect(body.messages.filter((message: any) => textOf(message) === 'b').length).to.equal(1);
  });

  it('are told the whole list where what they have may not be read', async () => {
    const chat = await startChat({
      app: recalling,
      sessionAccess: (_user, _session, operation) => operation !== 'history',
    });
    const first = await said(chat, 'kept', [user('a')]);
    expect(await said(chat, 'kept', [user('a'), assistant(first), user('b')])).to.equal(
      'user:a|assistant:user:a|user:a|assistant:user:a|user:b',
    );
  });

  it('are the app’s sessions that every other client of the user reaches', async () => {
    const chat = await startChat({ apps: { one: recalling, two: recalling }, defaultApp: 'one' });
    const create = (model: string, session: string) =>
      chat.client().chat.completions.create(says('Hi', { model }), { headers: { 'x-session-id': session } });
    await create('two', 'kept');
    await create('two', 'two:kept');
    const client = connectClient(chat.url, { token: 'alice' });
    const { messages } = await client.session('two:kept').history();
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'assistant']);
    const response = await chat.ask(says('Hi', { model: 'two' }), {
      headers: { 'x-session-id': 'one:kept' },
    });
    expect(response.status).to.equal(400);
    expect(((await response.json()) as any).error.param).to.equal('x-session-id');
  });

  it('refuse a malformed name', async () => {
    const { ask } = await startChat({ app: recalling });
    for (const name of ['a b', 'a/b', 'x'.repeat(129), 'default:']) {
      const response = await ask(says('Hi'), { headers: { 'x-session-id': name } });
      expect(response.status, name).to.equal(400);
      expect(expectShape('error', await response.json()).error.param).to.equal('x-session-id');
    }
  });

  it('of two users under the same name are two', async () => {
    const chat = await startChat({ app: recalling });
    await said(chat, 'shared', [user('secret of alice')], 'alice');
    expect(await said(chat, 'shared', [user('hello')], 'bob')).to.equal('user:hello');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        said(chat, `s${n % 2}`, [user(`mine ${n}`)], `user${n % 4}`).then((text) => ({ n, text })),
      ),
    );
    for (const { n, text } of answers) {
      const others = [...text.matchAll(/mine (\d+)/g)].map(([, other]) => Number(other));
      expect(
        others.every((other) => other % 4 === n % 4),
        text,
      ).to.equal(true);
    }
  });

  it('that nobody named are dropped with the answer', async () => {
    const chat = await startChat({ app: recalling });
    for (const stream of [false, true]) {
      const response = await chat.ask(says('Hi', { stream }));
      const name = response.headers.get('x-session-id');
      expect(name).to.match(/^chat-[0-9a-f-]{36}$/);
      await response.text();
      const { body } = await get(`${chat.url}/sessions`, as('alice'));
      expect(body.sessions).to.deep.equal([]);
      expect((await get(`${chat.url}/history?sessionId=${name}`, as('alice'))).status).to.equal(404);
    }
    expect(await said(chat, null, [user('a'), assistant('b'), user('c')])).to.equal(
      'user:a|assistant:b|user:c',
    );
  });

  it('that nobody named are dropped when their run fails', async () => {
    const app = runs(async () => {
      throw new Error('broken');
    });
    const chat = await startChat({ app });
    for (const stream of [false, true]) await (await chat.ask(says('Hi', { stream }))).text();
    expect((await get(`${chat.url}/sessions`, as('alice'))).body.sessions).to.deep.equal([]);
  });

  it('take conversations of more messages than a send may hold', async () => {
    const app = defineApp({
      async run({ history, message }) {
        return `${history.length} ${textOf(history[0]!)} ${textOf(message)}`;
      },
    });
    const chat = await startChat({ app });
    const long = Array.from({ length: 1500 }, (_, n) => (n % 2 ? assistant(`a${n}`) : user(`u${n}`)));
    expect(await said(chat, null, [system('rules'), ...long, user('last')])).to.equal('999 rules last');
  });

  it('let a message wait behind the run that is under way', async () => {
    const held = gate();
    const began = gate();
    const app = runs(async function* (turn) {
      if (turn.text === 'first') {
        began.open();
        await held.passed;
      }
      yield turn.text;
    });
    const chat = await startChat({ app });
    const first = said(chat, 'kept', [user('first')]);
    await began.passed;
    const events = connectClient(chat.url, { token: 'alice' }).events('kept')[Symbol.asyncIterator]();
    const accepted = takeUntil(events, (event) => event.type === 'message_accepted' && event.position === 1);
    const second = said(chat, 'kept', [user('second')]);
    await accepted;
    held.open();
    expect(await Promise.all([first, second])).to.deep.equal(['first', 'second']);
  });

  it('end an answer as an error when another client aborts its run', async () => {
    const began = gate();
    const app = runs(async function* (turn) {
      yield 'working';
      began.open();
      await new Promise((_, reject) => turn.signal.addEventListener('abort', reject));
    });
    const { ask, url } = await startChat({ app });
    const asked = ask(says('Hi'), { headers: { 'x-session-id': 'kept' } });
    await began.passed;
    await connectClient(url, { token: 'alice' }).abort('kept');
    const response = await asked;
    expect(response.status).to.equal(409);
    expect(response.headers.get('x-should-retry')).to.equal('false');
    expect(expectShape('error', await response.json()).error.code).to.equal('aborted');
  });

  it('recognize the answers of a run that called tools of the caller', async () => {
    const app = runs(async function* (turn) {
      if (turn.text === 'again') return void (yield String(turn.history.length));
      yield 'First. ';
      yield String(await turn.callTool('look' as never, {} as never));
    });
    const chat = await startChat({ app });
    const headers = { 'x-session-id': 'kept' };
    const create = (messages: object[]) =>
      chat
        .client()
        .chat.completions.create(
          { model: 'default', messages: messages as never, tools: tools('look') },
          { headers },
        );
    const list: object[] = [user('go')];
    const { message } = (await create(list)).choices[0]!;
    list.push(message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'seen' });
    list.push((await create(list)).choices[0]!.message);
    expect((list.at(-1) as any).content).to.equal('seen');
    expect((await create([...list, user('again')])).choices[0]!.message.content).to.equal('2');
  });
});
