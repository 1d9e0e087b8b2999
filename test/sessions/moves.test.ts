import { expect } from 'chai';
import {
  defineApp,
  type GatewayConfig,
  isGatewayError,
  memoryStore,
  type SessionHandle,
} from '../../server/index.js';
import { StoreError } from '../../server/stores/append.js';
import type { MessageRow } from '../../server/stores/stored.js';
import { type Message, textOf } from '../../shared/messages.js';
import { embedGateway } from '../support/embedded.js';
import { overriding } from '../support/overriding.js';
import { puppets } from '../support/puppet.js';
import { foldOf } from '../support/session-view.js';
import { testStore } from '../support/test-store.js';
import { FoldingReader } from '../support/tree-readers.js';

const echo = defineApp({ run: (turn) => `answer to ${turn.text}` });

/** A session whose runs answer at once, or as the app does. */
function talk(app: GatewayConfig['app'] = echo, limits: GatewayConfig['limits'] = {}) {
  const store = testStore();
  const open = (): SessionHandle => embedGateway({ app, store: store.store, limits }).session('main');
  const session = open();
  const shown = async (of = session): Promise<string[]> => {
    const { messages } = await of.history({ limit: 1000 });
    return messages.map(textOf);
  };
  const last = async (of = session): Promise<Message> => (await of.history({ limit: 1 })).messages[0]!;
  const say = async (text: string, options = {}): Promise<{ asked: string; answer: string }> => {
    const run = session.send(text, options);
    const { message } = await run.accepted;
    return { asked: message.id, answer: (await run.result).message.id };
  };
  const events = () => store.eventsOf('main');
  return { store, open, session, shown, last, say, events };
}

/** The code and details of a refusal. */
async function refusalOf(work: PromiseLike<unknown>): Promise<{ code: string; details: unknown }> {
  try {
    await work;
  } catch (error) {
    if (isGatewayError(error)) return { code: error.code, details: error.details };
    throw error;
  }
  throw new Error('it was not refused');
}

describe('a conversation that is long', () => {
  it('is edited, answered again, moved and left again with as many rows read as if it were short', async () => {
    const rowsRead = await Promise.all([3000, 9000].map(changed));
    expect(rowsRead[1]).to.deep.equal(rowsRead[0]);
  });
});

/** Changes a conversation of so many messages, at its end and far back. Returns how many rows each change read. */
async function changed(length: number): Promise<readonly number[]> {
  let rows = 0;
  const inner = memoryStore();
  const store = overriding(inner, {
    messages: (log, path) => {
      const read = inner.messages(log, path) as readonly MessageRow[];
      rows += read.length;
      return read;
    },
  });
  const gateway = embedGateway({ app: echo, store });
  const session = gateway.session('main');
  const messages = Array.from({ length }, (_, i) => ({
    ...{ id: `m${i}`, role: i % 2 ? ('assistant' as const) : ('user' as const), content: `${i}` },
  }));
  await session.import(messages);
  const counted = async (): Promise<number> => (await gateway.sessions()).sessions[0]!.messageCount;
  const all: number[] = [];
  const read = async (count: number): Promise<void> => {
    expect(await counted()).to.equal(count);
    all.push(rows);
    rows = 0;
  };
  rows = 0;
  const edited = session.send('edited', { replaces: `m${length - 10}` });
  await edited.result;
  await read(length - 8);
  await session.regenerate({ messageId: (await edited.accepted).message.id }).result;
  await read(length - 8);
  await session.move(`m${length - 1}`);
  await read(length);
  await session.move((await edited.accepted).message.id);
  await read(length - 9);
  // Further back than memory reaches, and from a branch of a branch.
  await session.move('m99');
  await read(100);
  const far = session.send('far back', { replaces: 'm80' });
  await far.result;
  await read(82);
  await session.regenerate({ messageId: (await far.accepted).message.id }).result;
  await read(82);
  const refused = session.send('not there', { replaces: 'm90' });
  expect(await refusalOf(refused.accepted)).to.deep.include({ code: 'HISTORY_MOVED' });
  await session.send('first', { replaces: 'm0' }).result;
  await read(2);
  return all;
}

describe('a message that is edited', () => {
  it('takes the place of the old one, which stays as a version beside it', async () => {
    const { session, shown, last, say } = talk();
    const first = await say('one');
    const second = await say('two');
    const edited = await say('two, better', { replaces: second.asked });
    expect(await shown()).to.deep.equal(['one', 'answer to one', 'two, better', 'answer to two, better']);
    const versions = [second.asked, edited.asked];
    const { messages } = await session.history({ limit: 2 });
    expect(messages[0]).to.deep.include({ id: edited.asked, parentId: first.answer, versions });
    expect(await last()).to.not.have.property('versions');
    const third = await say('two, best', { replaces: edited.asked });
    versions.push(third.asked);
    // Paging through the versions: each with what was said behind it.
    for (const id of versions) {
      await session.move(id);
      expect((await last()).versions).to.deep.equal(versions);
    }
    await session.move(second.answer);
    expect(await shown()).to.deep.equal(['one', 'answer to one', 'two', 'answer to two']);
    await say('goes on there');
    expect((await shown()).slice(-3)).to.deep.equal([
      'answer to two',
      'goes on there',
      'answer to goes on there',
    ]);
  });

  it('keeps its id for good, whether or not it is shown or in memory', async () => {
    for (const events of [1000, 4]) {
      const { session, say } = talk(echo, { retention: { events } });
      await session.send({ id: 'mine', content: 'one' }).result;
      await say('other', { replaces: 'mine' });
      // Beyond what is retained, where that is little.
      for (let i = 0; i < 3; i++) await say(`${i}`);
      const again = session.send({ id: 'mine', content: 'again' }).accepted;
      expect(await refusalOf(again)).to.deep.equal({
        code: 'MESSAGE_EXISTS',
        details: { messageId: 'mine' },
      });
    }
  });

  it('may be the first one', async () => {
    const { shown, say, last, session } = talk();
    const first = await say('one');
    await say('two');
    const again = await say('another one', { replaces: first.asked });
    expect(await shown()).to.deep.equal(['another one', 'answer to another one']);
    await session.move(again.asked);
    expect(await last()).to.deep.include({ parentId: null, versions: [first.asked, again.asked] });
  });

  it('ends the run and the messages that wait, which say so; their keys answer with that', async () => {
    const { app, standing } = puppets();
    const { session, shown, events } = talk(app);
    const keyed = { idempotencyKey: 'waits' };
    const active = session.send('say something');
    const { message, runId } = await active.accepted;
    await standing(runId);
    const waits = session.send('waits', keyed);
    await waits.accepted;
    const edit = session.send('instead', { replaces: message.id, idempotencyKey: 'edit' });
    (await standing((await edit.accepted).runId)).finish('done');
    expect((await active.result).stopReason).to.equal('superseded');
    expect((await waits.result).stopReason).to.equal('superseded');
    expect((await session.send('waits', keyed).result).stopReason).to.equal('superseded');
    await edit.result;
    expect(await shown()).to.deep.equal(['instead', 'done']);
    const again = session.send('instead', { replaces: message.id, idempotencyKey: 'edit' });
    expect((await again.accepted).runId).to.equal((await edit.accepted).runId);
    await again.result;
    const types = events().map(({ type }) => type);
    expect(types.filter((type) => type === 'history_moved')).to.have.length(1);
    // What it ends, the move and the message are one append: nothing is between them.
    const at = types.indexOf('history_moved');
    expect(types.slice(at - 2, at + 3)).to.deep.equal([
      'message_end',
      'message_end',
      'history_moved',
      'message_accepted',
      'message_start',
    ]);
  });

  it('is edited by one of two who do so at once; the other is told, and both see the same', async () => {
    const { session, say, shown } = talk();
    const { asked } = await say('one');
    const readers = [new FoldingReader('snapshot'), new FoldingReader('earliest')];
    for (const reader of readers) reader.come(session);
    const edits = ['left', 'right'].map((text) => session.send(text, { replaces: asked }));
    const outcomes = await Promise.allSettled(edits.map(({ accepted }) => accepted));
    expect(outcomes.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected']);
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
    const { code, details } = await refusalOf(edits[1 - winner]!.accepted);
    const { message } = await edits[winner]!.accepted;
    expect(code).to.equal('HISTORY_MOVED');
    expect(details).to.deep.include({ messageId: asked });
    await edits[winner]!.result;
    expect((await shown())[0]).to.equal(textOf(message));
    for (const reader of readers) {
      await reader.catchUp(async () => (await session.status()).cursor);
      expect(reader.state.messages.map(textOf)).to.deep.equal(await shown());
      await reader.leave();
    }
  });

  it('has to be there and shown: what is there instead is said', async () => {
    const { session, say } = talk();
    const { asked, answer } = await say('one');
    const nowhere = { messageId: 'unknown', tip: answer };
    for (const work of [
      session.send('x', { replaces: 'unknown' }).accepted,
      session.send('x', { parent: 'unknown' }).accepted,
      session.regenerate({ messageId: 'unknown' }).accepted,
      session.move('unknown'),
    ])
      expect(await refusalOf(work)).to.deep.equal({ code: 'MESSAGE_NOT_FOUND', details: nowhere });
    expect((await refusalOf(session.fork('fork', { at: 'unknown' }))).code).to.equal('MESSAGE_NOT_FOUND');
    await session.move(null);
    for (const work of [
      session.send('x', { replaces: asked }).accepted,
      session.regenerate({ messageId: answer }).accepted,
    ])
      expect((await refusalOf(work)).code).to.equal('HISTORY_MOVED');
    expect((await refusalOf(session.regenerate().accepted)).code).to.equal('MESSAGE_NOT_FOUND');
  });
});

describe('an answer that is given again', () => {
  it('is a version beside the old one, and the message is there once', async () => {
    const { session, say, shown, last } = talk();
    const { asked, answer } = await say('one');
    const run = session.regenerate();
    const { message } = await run.accepted;
    expect(message.id).to.equal(asked);
    const other = (await run.result).message.id;
    expect(await shown()).to.deep.equal(['one', 'answer to one']);
    expect(await last()).to.deep.include({ id: other, parentId: asked, versions: [answer, other] });
    await session.move(answer);
    expect(await last()).to.deep.include({ id: answer, versions: [answer, other] });
  });

  it('may be one that is being written', async () => {
    const { app, standing } = puppets();
    const { session, last } = talk(app);
    const run = session.send('say something');
    const { runId } = await run.accepted;
    await standing(runId);
    const again = session.regenerate();
    const puppet = await standing((await again.accepted).runId);
    expect((await run.result).stopReason).to.equal('superseded');
    expect(puppet.turn.history).to.deep.equal([]);
    puppet.finish('and end.');
    const { message } = await again.result;
    const old = (await run.result).message;
    expect(await last()).to.deep.include({ id: message.id, versions: [old.id, message.id] });
    await session.move(old.id);
    expect(await last()).to.include({ id: old.id, stopReason: 'superseded' });
    expect(textOf(await last())).to.equal('I begin. ');
  });
});

describe('a conversation that is moved', () => {
  it('has no open question any more', async () => {
    const app = defineApp({ run: async (turn) => `${await turn.ask({ name: 'sure' })}` });
    const { session, shown, events } = talk(app);
    const run = session.send('do it');
    await run.accepted;
    while (foldOf(events()).pending.length === 0) await new Promise(setImmediate);
    const [question] = foldOf(events()).pending;
    await session.move(null);
    expect((await run.result).stopReason).to.equal('superseded');
    expect(foldOf(events())).to.deep.include({ pending: [], run: null, tip: null, messages: [] });
    const answered = await refusalOf(session.respond(question!.callId, { input: 'yes' }));
    expect(answered.code).to.be.oneOf(['ALREADY_ANSWERED', 'CALL_NOT_FOUND']);
    expect(await shown()).to.deep.equal([]);
    const { messages } = await session.history();
    expect(messages).to.deep.equal([]);
  });

  it('goes back and forth below what was cut, here and where it is taken up anew', async () => {
    const { open, session, say, shown, store } = talk(echo, { retention: { events: 10 } });
    const first = await say('one');
    for (let i = 0; i < 70; i++) await say(`message ${i}`);
    const before = await shown();
    const { tip } = foldOf(store.eventsOf('main'));
    await session.move(first.asked);
    expect(await shown()).to.deep.equal(['one']);
    const other = await say('instead', { replaces: first.asked });
    for (let i = 0; i < 10; i++) await say(`other ${i}`);
    const next = open();
    await next.move(tip);
    expect(await shown(next)).to.deep.equal(before);
    await next.move(other.asked);
    expect(await shown(next)).to.deep.equal(['instead']);
    const { messages } = await next.history();
    expect(messages[0]!.versions).to.deep.equal([first.asked, other.asked]);
  });

  it('shows its end to those who began with a snapshot, however far it goes back, step by step', async () => {
    for (const pageBytes of [2000, 1_000_000]) {
      const { open, session, say } = talk(echo, { pageBytes });
      const answers: string[] = [];
      for (let i = 0; i < 60; i++) answers.push((await say(`message ${i}`)).answer);
      const reader = new FoldingReader('snapshot');
      reader.come(session);
      const back = async (to: number, by: SessionHandle): Promise<void> => {
        await by.move(answers[to]!);
        await reader.catchUp(async () => (await by.status()).cursor);
        expect(reader.state.tip).to.equal(answers[to]);
        expect(reader.state.messages.at(-1)?.id, `back to ${to}`).to.equal(answers[to]);
      };
      for (const to of [58, 55, 50, 45, 40, 38, 25]) await back(to, session);
      await reader.leave();
      // Whoever takes it up knows nothing of those who read before.
      const next = open();
      reader.come(next);
      for (const to of [24, 20, 10]) await back(to, next);
      await reader.leave();
    }
  });

  it('shows an app the whole path, also where it is long, and after cuts', async () => {
    const seen: string[][] = [];
    const app = defineApp({
      run: (turn) => {
        seen.push(turn.history.map(textOf));
        return `answer to ${turn.text}`;
      },
    });
    for (const retention of [{}, { events: 5 }]) {
      const { session, say, shown } = talk(app, { retention });
      const places: string[] = [];
      for (let i = 0; i < 80; i++) places.push((await say(`message ${i}`)).answer);
      const path = await shown();
      await session.move(places[9]!);
      await say('elsewhere');
      expect(seen.at(-1)).to.deep.equal(path.slice(0, 20));
      await say('and back', { parent: places[70]! });
      expect(seen.at(-1)).to.deep.equal(path.slice(0, 142));
      await session.regenerate().result;
      expect(seen.at(-1)).to.deep.equal(path.slice(0, 142));
    }
  });
});

describe('a session that is forked', () => {
  it('goes on by itself, as does the one it comes from', async () => {
    const { store, session, say, shown } = talk();
    const first = await say('one');
    await say('two', { replaces: first.asked });
    await say('three');
    const gateway = embedGateway({ app: echo, store: store.store });
    const at = first.answer;
    const forked = await gateway.session('main').fork('side', { at });
    expect(forked).to.include({ sessionId: 'side', tip: at });
    const side = gateway.session('side');
    expect(await shown(side)).to.deep.equal(['one', 'answer to one']);
    const before = await shown(session);
    await side.send('only here').result;
    expect(await shown(session)).to.deep.equal(before);
    const reader = new FoldingReader('earliest');
    reader.come(side);
    await reader.catchUp(async () => (await side.status()).cursor);
    expect(reader.state.messages.map(textOf)).to.deep.equal(await shown(side));
    await reader.leave();
    await gateway.session('main').send('only there').result;
    expect((await shown(side)).at(-2)).to.equal('only here');
    for (const { versions } of (await side.history()).messages) expect(versions).to.equal(undefined);
  });

  it('is copied by small pieces, and begins again where the store failed between them', async () => {
    const inner = memoryStore();
    const sizes: number[] = [];
    let refusesAfter = Number.POSITIVE_INFINITY;
    const store = overriding(inner, {
      append: (log, events, options) => {
        if (options.messages) {
          if (sizes.length >= refusesAfter) throw new StoreError('UNAVAILABLE', 'The test refuses it');
          sizes.push(options.messages.length);
        }
        return inner.append(log, events, options);
      },
    });
    const gateway = embedGateway({ app: echo, store });
    const session = gateway.session('main');
    const ids = Array.from({ length: 1050 }, (_, i) => `m${i}`);
    await session.import(ids.map((id) => ({ id, role: 'user', content: id })));
    await session.send('at the end').result;
    expect(sizes.reduce((sum, size) => sum + size)).to.equal(1050);
    sizes.length = 0;
    refusesAfter = 3;
    expect(await refusalOf(session.fork('side'))).to.deep.include({ code: 'OVERLOADED' });
    const side = gateway.session('side');
    expect((await side.history()).messages, 'nothing of it is shown').to.deep.equal([]);
    refusesAfter = Number.POSITIVE_INFINITY;
    const forked = await session.fork('side');
    expect(Math.max(...sizes)).to.be.at.most(100);
    const last = (await session.history({ limit: 1 })).messages[0]!;
    expect(forked).to.include({ tip: last.id });
    expect((await side.history({ limit: 1000 })).messages.slice(0, -2).map(({ id }) => id)).to.deep.equal(
      ids.slice(-998),
    );
    expect((await gateway.sessions()).sessions.map(({ messageCount }) => messageCount)).to.deep.equal([
      1052, 1052,
    ]);
    expect(await session.fork('side'), 'the same again').to.deep.equal(forked);
  });

  it('leaves no versions of messages that were never shown, where an import failed and people talk instead', async () => {
    const inner = memoryStore();
    let pieces = 0;
    const store = overriding(inner, {
      append: (log, events, options) => {
        if (options.messages && ++pieces === 3) throw new StoreError('UNAVAILABLE', 'The test refuses it');
        return inner.append(log, events, options);
      },
    });
    const gateway = embedGateway({ app: echo, store });
    const session = gateway.session('main');
    const messages = Array.from({ length: 500 }, (_, i) => ({ id: `m${i}`, role: 'user', content: 'x' }));
    expect(await refusalOf(session.import(messages as never))).to.deep.include({ code: 'OVERLOADED' });
    const first = await session.send('hello').accepted;
    const edited = session.send('better', { replaces: first.message.id });
    await edited.result;
    const [shown] = (await session.history()).messages;
    expect(shown!.versions).to.deep.equal([first.message.id, (await edited.accepted).message.id]);
  });

  it('is not said to be there where it failed and people talk instead', async () => {
    const inner = memoryStore();
    let fails = true;
    const store = overriding(inner, {
      append: (log, events, options) => {
        if (fails && log.name === 'side') throw new StoreError('UNAVAILABLE', 'The test refuses it');
        return inner.append(log, events, options);
      },
    });
    const gateway = embedGateway({ app: echo, store });
    const session = gateway.session('main');
    await session.send('hello').result;
    expect(await refusalOf(session.fork('side'))).to.deep.include({ code: 'OVERLOADED' });
    fails = false;
    await gateway.session('side').send('something else').result;
    expect(await refusalOf(session.fork('side'))).to.deep.include({ code: 'SESSION_EXISTS' });
  });

  it('shows nothing where the session that it copies is deleted meanwhile', async () => {
    const inner = memoryStore();
    let copied = 0;
    const store = overriding(inner, {
      append: (log, events, options) => {
        if (log.name === 'side' && options.messages && ++copied === 2) void gateway.session('main').delete();
        return inner.append(log, events, options);
      },
    });
    const gateway = embedGateway({ app: echo, store });
    const session = gateway.session('main');
    await session.import(
      Array.from({ length: 500 }, (_, i) => ({ id: `m${i}`, role: 'user', content: 'x' })),
    );
    expect(await refusalOf(session.fork('side'))).to.deep.include({ code: 'SESSION_NOT_FOUND' });
    expect((await gateway.session('side').history()).messages).to.deep.equal([]);
  });

  it('is not put into one that is open', async () => {
    const { store, say } = talk();
    await say('one');
    const gateway = embedGateway({ app: echo, store: store.store });
    await gateway.session('other').send('here').result;
    const before = (await gateway.session('other').status()).cursor;
    expect((await refusalOf(gateway.session('main').fork('other'))).code).to.equal('SESSION_EXISTS');
    expect((await gateway.session('other').status()).cursor).to.equal(before);
  });
});
