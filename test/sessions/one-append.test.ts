import { expect } from 'chai';
import { defineApp, type HostRun, memoryStore, type Turn } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { gate, gatesByName } from '../support/gate.js';
import { heldStore } from '../support/held-store.js';
import { LATE_MEMORY } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

/** A session whose runs do what the test tells them, on a store that the test holds up. */
function setUp() {
  const model = testStore();
  const held = heldStore(model.store);
  const turns = new Map<
    string,
    { readonly turn: Turn; readonly say: (text: string | null) => Promise<void> }
  >();
  const beginning = gatesByName();
  const app = defineApp({
    async *run(turn) {
      let next = gate<string | null>();
      let taken = gate();
      turns.set(turn.text, {
        turn: turn as Turn,
        say: async (text) => {
          const done = taken;
          next.open(text);
          await done.passed;
        },
      });
      beginning(turn.text).open();
      for (;;) {
        const text = await next.passed;
        next = gate();
        if (text === null) {
          taken.open();
          return;
        }
        yield text;
        taken.open();
        taken = gate();
      }
    },
  });
  const gateway = embedGateway({ app, store: held.store });
  const session = gateway.session('main');
  const log = () => model.eventsOf('main').map((event) => describeEvent(event as never));
  const start = async (text: string): Promise<HostRun> => {
    const run = session.send(text);
    await beginning(text).passed;
    return run;
  };
  const turn = (text: string) => turns.get(text)!;
  /** Has a session with a run and a message in its queue closed, which the store holds up. */
  const close = async () => {
    const first = await start('a');
    const queued = session.send('b');
    await queued.accepted;
    const waits = held.hold();
    const closing = session.close();
    await waits;
    return { first, queued, closing };
  };
  return {
    close,
    gateway,
    session,
    held,
    model,
    log,
    start,
    turn,
    begins: (text: string) => beginning(text).passed,
  };
}

function describeEvent(event: { type: string; stopReason?: string; delta?: string }): string {
  if (event.stopReason) return `${event.type} ${event.stopReason}`;
  return event.delta === undefined ? event.type : `"${event.delta}"`;
}

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let done = false;
  const note = (): void => {
    done = true;
  };
  promise.then(note, note);
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  return done;
};

describe('what ends a run is stored with its end', () => {
  it('an interrupting message: whatever the run still says until then is not in the log behind its end', async () => {
    const { session, held, log, start, turn } = setUp();
    const first = await start('a');
    await turn('a').say('before');
    const waits = held.hold();
    const second = session.send('b', { onBusy: 'interrupt' });
    await waits;
    expect(turn('a').turn.signal.aborted, 'the run goes on until it is stored').to.equal(false);
    await turn('a').say('too late');
    held.release();
    expect((await first.result).stopReason).to.equal('superseded');
    expect(turn('a').turn.signal.aborted).to.equal(true);
    await second.accepted;
    await session.abort();
    expect((await second.result).stopReason).to.equal('aborted');
    expect(log()).to.deep.equal([
      'message_accepted',
      'message_start',
      '"before"',
      'message_end superseded',
      'message_accepted',
      'message_start',
      'message_end aborted',
    ]);
    expect(held.batches).to.deep.include(['message_end', 'message_accepted', 'message_start']);
  });

  it('an interrupting message, although the run ends by itself meanwhile: one end', async () => {
    const { session, held, log, start, turn } = setUp();
    const first = await start('a');
    const waits = held.hold();
    const second = session.send('b', { onBusy: 'interrupt' });
    await waits;
    await turn('a').say(null);
    held.release();
    expect((await first.result).stopReason).to.equal('superseded');
    await second.accepted;
    expect(log().filter((event) => event.startsWith('message_end'))).to.deep.equal([
      'message_end superseded',
    ]);
  });

  it('an interrupting message that is refused has interrupted nothing', async () => {
    const { session, held, start, turn } = setUp();
    const first = await start('a');
    const waits = held.hold();
    const second = session.send('b', { onBusy: 'interrupt' });
    await waits;
    held.release('refuse');
    expect(await second.accepted.catch((error) => error.code)).to.equal('OVERLOADED');
    expect(turn('a').turn.signal.aborted).to.equal(false);
    await turn('a').say('and on');
    await turn('a').say(null);
    const { stopReason, message } = await first.result;
    expect({ stopReason, content: message.content }).to.deep.equal({
      stopReason: 'end',
      content: [{ type: 'text', text: 'and on' }],
    });
  });

  it('a close: every accepted run ends in one append with the session', async () => {
    const { held, log, turn, close } = setUp();
    const { first, queued, closing } = await close();
    expect(turn('a').turn.signal.aborted, 'the run goes on until it is stored').to.equal(false);
    await turn('a').say('too late');
    held.release();
    await closing;
    expect([(await first.result).stopReason, (await queued.result).stopReason]).to.deep.equal([
      'aborted',
      'aborted',
    ]);
    expect(held.batches.at(-1)).to.deep.equal(['message_end', 'message_end', 'session_closed']);
    expect(log().slice(-3)).to.deep.equal(['message_end aborted', 'message_end aborted', 'session_closed']);
    expect((await first.result).cursor.split('.')[2]).to.equal(String(log().length - 1));
    expect((await queued.result).cursor.split('.')[2]).to.equal(String(log().length - 2));
  });

  it('a close that is refused: its runs go on, and so does its queue', async () => {
    const { held, turn, begins, close } = setUp();
    const { first, queued, closing } = await close();
    held.release('refuse');
    expect(await closing.catch((error) => error.code)).to.equal('OVERLOADED');
    await turn('a').say('still here');
    await turn('a').say(null);
    expect((await first.result).stopReason).to.equal('end');
    await begins('b');
    await turn('b').say(null);
    expect((await queued.result).stopReason).to.equal('end');
  });

  it('a close, although the run ends by itself meanwhile and the close is refused', async () => {
    const { held, turn, begins, close } = setUp();
    const { first, queued, closing } = await close();
    await turn('a').say(null);
    held.release('refuse');
    await closing.catch(() => {});
    expect((await first.result).stopReason).to.equal('end');
    await begins('b');
    await turn('b').say(null);
    await queued.result;
  });

  it('a steering message that is taken up: that, and the end of its run', async () => {
    const { session, held, start, turn } = setUp();
    await start('a');
    const steer = session.send('b', { onBusy: 'steer' });
    await steer.accepted;
    expect(turn('a').turn.steered()).to.have.length(1);
    expect((await steer.result).stopReason).to.equal('steered');
    expect(held.batches).to.deep.include(['steer', 'message_end']);
  });

  it('an abort is answered once it is stored, and frees the session before', async () => {
    const { session, held, start, turn } = setUp();
    const first = await start('a');
    const waits = held.hold();
    const aborting = session.abort();
    await waits;
    expect(turn('a').turn.signal.aborted).to.equal(true);
    expect((await session.status()).status, 'what the log says').to.equal('running');
    const next = session.send('b', { onBusy: 'reject' });
    expect(await settled(aborting), 'answered').to.equal(false);
    held.release();
    expect(await next.accepted, 'the session is free').to.include({ position: 0 });
    expect(await aborting).to.equal(true);
    expect((await first.result).stopReason).to.equal('aborted');
  });

  it('an abort of a queued message too', async () => {
    const { session, held, start } = setUp();
    await start('a');
    const queued = session.send('b');
    const { runId } = await queued.accepted;
    const waits = held.hold();
    const aborting = session.abort({ runId });
    await waits;
    expect(await settled(aborting), 'answered').to.equal(false);
    held.release();
    expect(await aborting).to.equal(true);
  });
});

describe('a send and a close at once', () => {
  it('answer what has become of each: accepted and aborted, closed', async () => {
    for (const store of [memoryStore(), testStore(LATE_MEMORY).store]) {
      const gateway = embedGateway({ app: defineApp({ run: () => new Promise<string>(() => {}) }), store });
      const session = gateway.session('main');
      await session.send('first').accepted;
      const run = session.send('again');
      const closing = session.close();
      await run.accepted;
      expect((await run.result).stopReason).to.equal('aborted');
      await closing;
    }
  });

  it('with custom events beside them, leave the next conversation alone', async () => {
    const gateway = embedGateway({
      app: defineApp({ run: () => 'x' }),
      store: testStore(LATE_MEMORY).store,
    });
    const session = gateway.session('main');
    const reports: string[] = [];
    gateway.on('error', ({ message }) => reports.push(message));
    for (let i = 0; i < 30; i++) {
      await session.send('first').result;
      const closing = session.close();
      const publishing = session
        .channel('c')
        .publish(i)
        .catch((error) => error.code);
      await closing;
      expect(await publishing).to.be.oneOf([undefined, 'SESSION_CLOSED']);
      const next = session.send('next');
      const { cursor } = await next.accepted;
      const { stopReason, cursor: end } = await next.result;
      expect(stopReason).to.equal('end');
      expect(end.split('.').slice(0, 2), 'one epoch and one writer').to.deep.equal(
        cursor.split('.').slice(0, 2),
      );
      await session.close();
    }
    expect(reports.filter((text) => /lost/.test(text))).to.deep.equal([]);
  });
});

describe('a message that need not wait', () => {
  it('is accepted and begun in one append', async () => {
    const { session, held, log, start, turn } = setUp();
    const run = await start('a');
    expect(held.batches).to.deep.equal([['message_accepted', 'message_start']]);
    await turn('a').say(null);
    await run.result;
    const steering = session.send('b', { onBusy: 'steer' });
    await steering.accepted;
    expect(held.batches.at(-1)).to.deep.equal(['message_accepted', 'steer', 'message_start']);
    await session.abort();
    expect(log().filter((event) => event === 'message_start')).to.have.length(2);
  });

  it('that comes with another: the second waits for the first, also where that is refused', async () => {
    const { session, held, log, turn, begins } = setUp();
    const waits = held.hold();
    const [first, second] = [session.send('a'), session.send('b')];
    await waits;
    held.release();
    await begins('a');
    expect([(await first.accepted).position, (await second.accepted).position]).to.deep.equal([0, 1]);
    await turn('a').say(null);
    await begins('b');
    await turn('b').say(null);
    await second.result;
    const refused = held.hold();
    const [third, fourth] = [session.send('c'), session.send('d')];
    await refused;
    held.release('refuse');
    const codes = await Promise.all([third, fourth].map((run) => run.accepted.catch(({ code }) => code)));
    expect(codes[0]).to.equal('OVERLOADED');
    const fifth = session.send('e');
    await begins('e');
    await session.abort();
    expect((await fifth.result).stopReason).to.equal('aborted');
    const starts = log().filter((event) => event === 'message_start').length;
    expect(starts).to.equal(log().filter((event) => event.startsWith('message_end')).length);
  });

  it('one interruption after another, both on their way: each ends what it finds', async () => {
    const { session, held, log, start, turn, begins } = setUp();
    const first = await start('a');
    const waits = held.hold();
    const second = session.send('b', { onBusy: 'interrupt' });
    const third = session.send('c', { onBusy: 'interrupt' });
    await waits;
    held.release();
    await begins('c');
    expect((await first.result).stopReason).to.equal('superseded');
    expect((await second.result).stopReason).to.equal('superseded');
    await turn('c').say('there');
    await turn('c').say(null);
    expect((await third.result).stopReason).to.equal('end');
    expect(log().slice(2)).to.deep.equal([
      'message_end superseded',
      'message_accepted',
      'message_start',
      'message_end superseded',
      'message_accepted',
      'message_start',
      '"there"',
      'message_end end',
    ]);
  });

  it('that was sent before: nothing of it is begun again', async () => {
    const { session, held, log, turn, begins } = setUp();
    const options = { idempotencyKey: 'k' };
    const run = session.send('a', options);
    await begins('a');
    expect((await session.send('a', options).accepted).runId).to.equal((await run.accepted).runId);
    expect(held.batches.flat().filter((type) => type === 'message_start')).to.have.length(1);
    await turn('a').say(null);
    await run.result;
    expect(log().slice(0, 2)).to.deep.equal(['message_accepted', 'message_start']);
  });
});
