import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { Client, Message, Watch, WatchState } from '../../client/index.js';
import { type Application, defineApp } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { echo, heldApp } from '../support/apps.js';
import { connectClient, failure } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';

/** Answers with how often it was asked in all, and the path that it was shown. */
function counting(): Application {
  let count = 0;
  return defineApp({
    async *run(turn) {
      count += 1;
      yield `${count}: ${[...turn.history, turn.message].map(textOf).join(' | ')}`;
    },
  });
}

/** A page of a session: shows it from now on. */
function page(client: Client): Watch {
  const watch = client.session('main').watch();
  watch.subscribe(() => {});
  return watch;
}

/** The state of a page once it is as wanted. */
function shows(watch: Watch, wanted: (state: WatchState) => unknown): Promise<WatchState> {
  return new Promise((resolve) => {
    const look = () => {
      const state = watch.getSnapshot();
      if (!wanted(state)) return;
      stop();
      resolve(state);
    };
    const stop = watch.subscribe(look);
    look();
  });
}

const texts = (messages: readonly Message[]): string[] => messages.map(textOf);
const last = ({ messages }: WatchState): string => textOf(messages.at(-1)!);

describe('a conversation that clients change', () => {
  it('goes on from an edited message, which keeps its place, its versions and what followed them', async () => {
    const { url } = await startGateway({ app: counting() });
    const client = connectClient(url);
    const session = client.session('main');
    await session.send({ id: 'q1', content: 'one' }).result;
    const former = (await session.send('two').result).message;
    const run = session.edit('q1', 'uno', { metadata: { why: 'Spanish' } });
    expect(textOf((await run.result).message)).to.equal('3: uno');
    const { messages } = await session.history();
    expect(texts(messages)).to.deep.equal(['uno', '3: uno']);
    const edited = (await run.accepted).message.id;
    expect(messages[0]).to.deep.include({ id: edited, parentId: null, versions: ['q1', edited] });
    const place = await session.move({ version: 'q1' });
    expect(place.tip).to.equal(former.id);
    const state = await session.state();
    expect(texts(state.messages)).to.deep.equal(['one', '1: one', 'two', '2: one | 1: one | two']);
    expect(state.messages[0]!.versions).to.deep.equal(['q1', edited]);
    expect(state.cursor).to.equal(place.cursor);
  });

  it('answers a message again: the last one, or the one that an answer is of', async () => {
    const { url } = await startGateway({ app: counting() });
    const session = connectClient(url).session('main');
    const first = (await session.send('one').result).message;
    const again = (await session.regenerate().result).message;
    expect(textOf(again)).to.equal('2: one');
    await session.send('two').result;
    const third = await session.regenerate(again.id).result;
    const { messages, replies } = await session.state();
    expect(texts(messages)).to.deep.equal(['one', '4: one']);
    expect(messages[1]!.versions).to.deep.equal([first.id, again.id, third.message.id]);
    expect(replies).to.equal(undefined);
  });

  it('ends at any of its messages, says what follows that, and goes on from there', async () => {
    const { url } = await startGateway({ app: counting() });
    const session = connectClient(url).session('main');
    const { message: answer } = await session.send('one').result;
    await session.send({ id: 'q2', content: 'two' }).result;
    expect(await session.move(answer.id)).to.have.property('tip', answer.id);
    const state = await session.state();
    expect(texts(state.messages)).to.deep.equal(['one', '1: one']);
    expect(state).to.deep.include({ tip: answer.id, replies: ['q2'] });
    const third = session.send({ id: 'q3', content: 'three' });
    expect(textOf((await third.result).message)).to.equal('3: one | 1: one | three');
    expect((await session.state()).messages[2]!.versions).to.deep.equal(['q2', 'q3']);
    await session.send('four', { parent: null }).result;
    expect(texts((await session.history()).messages)).to.deep.equal(['four', '4: four']);
    expect((await failure(session.move('nobody'))).code).to.equal('MESSAGE_NOT_FOUND');
  });

  it('is the beginning of another session', async () => {
    const { url } = await startGateway({ app: counting() });
    const client = connectClient(url);
    const { message: answer } = await client.send('main', 'one').result;
    await client.send('main', 'two').result;
    const forked = await client.session('main').fork('other', { at: answer.id });
    expect(forked).to.include({ sessionId: 'other', tip: answer.id });
    expect(textOf((await client.send('other', 'three').result).message)).to.equal('3: one | 1: one | three');
    expect(texts((await client.session('main').history()).messages)).to.have.length(4);
    await client.send('third', 'x').result;
    expect((await failure(client.session('main').fork('third'))).code).to.equal('SESSION_EXISTS');
  });

  it('is changed by one of two pages that edit the same message at once; both show the same', async () => {
    const { url } = await startGateway({ app: counting() });
    const clients = [connectClient(url), connectClient(url, { transport: 'websocket', WebSocket })] as const;
    await clients[0].send('main', { id: 'q1', content: 'one' }).result;
    const pages = clients.map(page);
    await Promise.all(pages.map((each) => shows(each, ({ status }) => status === 'ready')));
    const runs = clients.map((client, at) => client.session('main').edit('q1', `by ${at}`));
    const ends = await Promise.allSettled(runs.map(({ result }) => result));
    const [winner, loser] = ends[0]!.status === 'fulfilled' ? [0, 1] : [1, 0];
    const refused = await failure(runs[loser]!.accepted);
    expect(refused).to.include({ code: 'HISTORY_MOVED', status: 409 });
    expect(refused.details).to.include({ messageId: 'q1' });
    expect(ends.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    const [one, other] = await Promise.all(
      pages.map((each) => shows(each, ({ status, messages }) => status === 'ready' && messages[1]?.endedAt)),
    );
    expect(texts(one!.messages)).to.deep.equal([`by ${winner}`, `2: by ${winner}`]);
    expect(one!.messages).to.deep.equal(other!.messages);
    expect(one!.cursor).to.equal(other!.cursor);
    // Who was too late sees why, and what was not sent.
    const lost = pages[loser]!.getSnapshot().sending;
    expect(lost).to.have.length(1);
    expect(lost[0]).to.deep.include({ status: 'failed', replaces: 'q1' });
    expect(textOf(lost[0]!.message)).to.equal(`by ${loser}`);
    expect(lost[0]!.error!.code).to.equal('HISTORY_MOVED');
    lost[0]!.discard();
    expect(pages[loser]!.getSnapshot().sending).to.deep.equal([]);
    expect(pages[winner]!.getSnapshot().sending).to.deep.equal([]);
  });

  it('has an answer given again by one of two pages that ask for it at once', async () => {
    const { url, gateway } = await startGateway({ app: counting() });
    const started = new Hearing(gateway, 'run:started');
    const clients = [connectClient(url), connectClient(url)] as const;
    const { message } = await clients[0].send('main', 'one').result;
    const runs = clients.map((client) => client.session('main').regenerate(message.id));
    const ends = await Promise.allSettled(runs.map(({ result }) => result));
    expect(ends.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    const refused = ends.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(refused.reason.code).to.equal('HISTORY_MOVED');
    expect(started.heard).to.have.length(2);
  });

  it('asks again for what the network lost, under one key', async () => {
    const { url, gateway } = await startGateway({ app: counting() });
    const { message } = await connectClient(url).send('main', { id: 'q1', content: 'one' }).result;
    const started = new Hearing(gateway, 'run:started');
    const lost: string[] = [];
    const client = connectClient(url, {
      // Each answer is lost on its way, once.
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        const path = new URL(String(input)).pathname;
        if (init?.method !== 'POST' || lost.includes(path)) return response;
        lost.push(path);
        await response.body?.cancel();
        throw new TypeError('fetch failed');
      },
    });
    await client.session('main').regenerate(message.id).result;
    const { message: uno } = await client.session('main').edit('q1', 'uno').result;
    expect(started.heard).to.have.length(2);
    expect(await client.session('main').fork('other')).to.have.property('tip', uno.id);
    expect(texts((await client.session('other').history()).messages)).to.deep.equal(['uno', '3: uno']);
    expect(lost).to.include.members(['/regenerate', '/send', '/fork']);
  });

  it('makes no move twice whose outcome the gateway does not know', async () => {
    const { url } = await startGateway({ app: counting() });
    const { message } = await connectClient(url).send('main', 'one').result;
    let moves = 0;
    const error = { code: 'OVERLOADED', message: 'Who knows', details: { outcome: 'unknown' } };
    const client = connectClient(url, {
      fetch: async (input, init) => {
        if (!String(input).endsWith('/move')) return fetch(input, init);
        moves += 1;
        return Response.json({ error }, { status: 503 });
      },
    });
    expect((await failure(client.session('main').move(message.id))).details).to.deep.equal({
      outcome: 'unknown',
    });
    expect(moves).to.equal(1);
  });

  it('makes no move twice: where its answer was lost somebody may have gone on', async () => {
    const { url } = await startGateway({ app: counting() });
    const other = connectClient(url);
    const { message } = await other.send('main', 'one').result;
    await other.send('main', 'two').result;
    let moves = 0;
    const client = connectClient(url, {
      fetch: async (input, init) => {
        if (!String(input).endsWith('/move')) return fetch(input, init);
        moves += 1;
        // Refused before it was made, which may be tried again; then made, and its answer lost.
        if (moves === 1)
          return Response.json({ error: { code: 'OVERLOADED', message: 'Not now' } }, { status: 503 });
        await (await fetch(input, init)).body?.cancel();
        await other.send('main', 'three').result;
        throw new TypeError('fetch failed');
      },
    });
    expect((await failure(client.session('main').move(message.id))).code).to.equal('NETWORK');
    expect(moves).to.equal(2);
    const { messages } = await other.session('main').history();
    expect(texts(messages).slice(0, 3)).to.deep.equal(['one', '1: one', 'three']);
  });
});

describe('a page of a conversation that is changed', () => {
  it('shows at once that a message is edited, and that an answer was asked for again', async () => {
    const { app, held, began } = heldApp();
    held.open();
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const { message } = await client.send('main', { id: 'q1', content: 'one' }).result;
    const watch = page(client);
    await shows(watch, ({ status }) => status === 'ready');
    const regenerated = client.session('main').regenerate(message.id);
    const asking = watch.getSnapshot();
    expect(asking.status).to.equal('running');
    expect(asking.regenerating).to.deep.include({ messageId: message.id, status: 'sending' });
    expect(asking.sending).to.deep.equal([]);
    await began.passed;
    await regenerated.result;
    const answered = await shows(watch, ({ status }) => status === 'ready');
    expect(answered).to.not.have.property('regenerating');
    expect(answered.messages[1]!.versions).to.have.length(2);
    const edit = client.session('main').edit('q1', 'uno');
    const [sending] = watch.getSnapshot().sending;
    expect(sending).to.deep.include({ key: edit.idempotencyKey, replaces: 'q1', status: 'sending' });
    await edit.result;
    const edited = await shows(watch, ({ status }) => status === 'ready');
    expect(edited.sending).to.deep.equal([]);
    expect(texts(edited.messages)).to.deep.equal(['uno', 'working done with uno']);
  });

  it('tells that an answer could not be given again, until somebody asks anew or gives it up', async () => {
    const { url } = await startGateway({ app: echo });
    const client = connectClient(url);
    const { message } = await client.send('main', 'one').result;
    await client.session('main').regenerate(message.id).result;
    const watch = page(client);
    await shows(watch, ({ status }) => status === 'ready');
    client.session('main').regenerate(message.id);
    const { regenerating, status } = await shows(watch, (state) => state.regenerating?.status === 'failed');
    expect(regenerating!.error!.code).to.equal('HISTORY_MOVED');
    expect(status).to.equal('ready');
    regenerating!.discard();
    expect(watch.getSnapshot()).to.not.have.property('regenerating');
    client.session('main').regenerate(message.id);
    await shows(watch, (state) => state.regenerating?.status === 'failed');
    await client.session('main').regenerate().result;
    expect(await shows(watch, (state) => state.status === 'ready')).to.not.have.property('regenerating');
  });

  it('keeps the older messages that it has loaded as far as they are still before what is shown', async () => {
    const { url } = await startGateway({ app: echo, limits: { sendsPerSecond: Infinity } });
    const client = connectClient(url);
    for (let n = 0; n < 40; n += 1) await client.send('main', { id: `q${n}`, content: `${n}` }).result;
    // Another page has none of this one's memory.
    const watch = page(connectClient(url));
    expect((await shows(watch, ({ status }) => status === 'ready')).messages).to.have.length(50);
    await watch.loadEarlier();
    expect(watch.getSnapshot()).to.deep.include({ hasMore: false });
    await client.session('main').edit('q39', 'the end').result;
    const edited = await shows(watch, (state) => last(state) === 'echo: the end');
    expect(texts(edited.messages.slice(-4))).to.deep.equal(['38', 'echo: 38', 'the end', 'echo: the end']);
    expect(edited.messages).to.have.length(80);
    expect(edited.hasMore).to.equal(false);
    await client.session('main').edit('q2', 'early').result;
    const early = await shows(watch, (state) => last(state) === 'echo: early');
    expect(texts(early.messages)).to.deep.equal(['0', 'echo: 0', '1', 'echo: 1', 'early', 'echo: early']);
    expect(early.hasMore).to.equal(false);
    await client.session('main').move({ version: 'q39' });
    const back = await shows(watch, (state) => last(state) === 'echo: 39');
    if (back.hasMore) await watch.loadEarlier();
    const whole = watch.getSnapshot();
    expect(texts(whole.messages)).to.deep.equal(
      Array.from({ length: 40 }, (_, n) => [`${n}`, `echo: ${n}`]).flat(),
    );
    expect(
      whole.messages.every(({ id, parentId }, at) =>
        at === 0 ? parentId === null : id && parentId === whole.messages[at - 1]!.id,
      ),
    ).to.equal(true);
  });
});
