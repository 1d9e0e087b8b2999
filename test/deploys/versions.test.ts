import { expect } from 'chai';
import { type Application, createGateway, defineApp, type Gateway, type Turn } from '../../server/index.js';
import { isGatewayError } from '../../shared/errors.js';
import { type Message, textOf } from '../../shared/messages.js';
import { connectClient } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { TestLogger } from '../support/gateway.js';
import { until } from '../support/until.js';

/** The effects of apps, by the names of their steps. */
type Done = string[];
type Versions = Pick<Application, 'version' | 'accepts' | 'onMismatch'>;

/** An app that orders, asks a person, and charges. */
function shop(done: Done, versions: Versions, { first = 'order', says = 'Ordering. ', asks = 'sure' } = {}) {
  return defineApp({
    ...versions,
    resumable: true,
    async *run(turn) {
      yield says;
      const effect = (name: string) => turn.step(name, () => done.push(name));
      await effect(first);
      const answer = await turn.ask({ name: asks });
      await effect('charge');
      yield `Charged by ${versions.version}: ${answer}.`;
    },
  });
}

/** Runs an app until it asks, and ends its process. Resolves with the database and the question's id. */
async function left(app: Application): Promise<{ readonly path: string; readonly callId: string }> {
  const path = newDatabase();
  const { url } = await startDurable(path, { app });
  for await (const event of connectClient(url).send('main', 'buy'))
    if (event.type === 'input_required') return { path: crashed(path), callId: event.callId };
  throw new Error('nobody was asked');
}

/** The sessions whose runs are held. */
async function heldAt({ deploys }: Gateway<any, any, any, any>): Promise<string[]> {
  const held: string[] = [];
  for await (const { sessionId } of deploys.held()) held.push(sessionId);
  return held;
}

/** A gateway with an app, and what its session is. */
async function served(path: string, app: Application) {
  const logger = new TestLogger();
  const { gateway, url } = await startDurable(path, { app, logger });
  const session = connectClient(url).session('main');
  const answer = (callId: string) =>
    session.respond(callId, { output: 'yes' }).then(
      () => 'taken',
      (error: unknown) => (isGatewayError(error) ? error.code : String(error)),
    );
  const lastOf = async (): Promise<Message | undefined> => (await session.state()).messages.at(-1);
  /** The answer once the run has ended. */
  const end = async () => {
    for await (const event of session.events({ from: 'earliest' }))
      if (event.type === 'message_end') return event;
    throw new Error('the events ended');
  };
  const heldOf = async () => (await session.state()).run?.held ?? null;
  return { gateway, session, logger, answer, lastOf, end, heldOf };
}

describe('a run of another version of its app', () => {
  it('goes on where the version accepts it and comes to its place, and no step is done twice', async () => {
    const done: Done = [];
    const { path, callId } = await left(shop(done, { version: '1' }));
    const { answer, end, session } = await served(path, shop(done, { version: '2', accepts: ['1'] }));
    expect(await answer(callId)).to.equal('taken');
    const { message, stopReason } = await end();
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'Ordering. Charged by 2: yes.']);
    expect(done).to.deep.equal(['order', 'charge']);
    const types: unknown[] = [];
    for await (const event of session.events({ from: 'earliest' })) {
      if (event.type === 'message_start') types.push(['began', event.version]);
      if (event.type === 'run_taken_up') types.push(['taken up', event.version]);
      if (event.type === 'message_end') break;
    }
    expect(types).to.deep.equal([
      ['began', '1'],
      ['taken up', '2'],
    ]);
  });

  it('is held where the version does not accept it: not failed, counted, told, and refused in plain words', async () => {
    const done: Done = [];
    const { path, callId } = await left(shop(done, { version: '1' }));
    const { gateway, answer, heldOf, session, logger } = await served(path, shop(done, { version: '2' }));
    await until(async () => (await heldOf()) !== null);
    expect(await heldOf()).to.deep.equal({ version: '1', by: '2' });
    expect(await answer(callId)).to.equal('RUN_HELD');
    const { status } = await session.status();
    expect(status).to.equal('waiting');
    expect((await session.state()).pending).to.have.length(1);
    expect(
      logger.lines.filter(({ message }) => /a run is held: version 2 of the app default/.test(message)),
    ).to.have.length(1);
    await gateway.close();

    // The old version is put back.
    const again = await served(path, shop(done, { version: '1' }));
    expect(await again.answer(callId)).to.equal('taken');
    const { message, stopReason } = await again.end();
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'Ordering. Charged by 1: yes.']);
    expect(done).to.deep.equal(['order', 'charge']);
    expect(await again.heldOf()).to.equal(null);
  });

  it('goes on by itself once a gateway comes that can, though nobody asks for its session', async () => {
    const done: Done = [];
    const path = newDatabase();
    const waiting = (version: string, accepts: readonly string[] = []) =>
      defineApp({
        ...{ version, accepts, resumable: true },
        async *run(turn) {
          await turn.step('first', () => done.push('first'));
          if (version === '1') {
            turn.emit('did it', {});
            await new Promise(() => {});
          }
          yield `by ${version}`;
        },
      });
    const first = await startDurable(path, { app: waiting('1') });
    for await (const event of connectClient(first.url).send('main', 'go')) if (event.type === 'custom') break;
    const copy = crashed(path);
    const second = await served(copy, waiting('2'));
    // Nobody follows the session, so nobody needs to hold it.
    await until(() => second.logger.lines.some(({ message }) => /a run is held/.test(message)));
    await until(() => second.gateway.stats().sessions.held === 0);
    expect(await second.heldOf()).to.deep.equal({ version: '1', by: '2' });
    expect(await heldAt(second.gateway)).to.deep.equal(['main']);
    await second.gateway.close();
    const third = await served(copy, waiting('3', ['1']));
    expect(textOf((await third.end()).message)).to.equal('by 3');
    expect(await heldAt(third.gateway)).to.deep.equal([]);
    expect(done).to.deep.equal(['first']);
  });

  for (const [what, change, mismatch] of [
    ['step', { first: 'book' }, { what: 'step', before: 'order', now: 'book' }],
    ['text', { says: 'Booking. ' }, { what: 'text', before: 'Ordering. ', now: 'Booking. ' }],
    ['question', { asks: 'really' }, { what: 'question', before: 'sure', now: 'really' }],
  ] as const)
    it(`is held where its rehearsal meets another ${what}, and no client sees a mismatch`, async () => {
      const done: Done = [];
      const { path, callId } = await left(shop(done, { version: '1' }));
      const next = shop(done, { version: '2', accepts: '*' }, change);
      const { answer, heldOf, logger, session } = await served(path, next);
      await until(async () => (await heldOf()) !== null);
      expect(logger.lines.map(({ message }) => message).join()).to.include(JSON.stringify(mismatch));
      expect(await answer(callId)).to.equal('RUN_HELD');
      expect(JSON.stringify(await session.state())).not.to.include('MISMATCH');
      expect(done).to.deep.equal(['order']);
    });

  it('begins anew, ends, or asks a person which, as its app says', async () => {
    const done: Done = [];
    const { path } = await left(shop(done, { version: '1' }));
    const next = (onMismatch: 'ask' | 'restart' | 'end') =>
      defineApp({
        version: '2',
        accepts: '*',
        onMismatch,
        resumable: true,
        run: () => `anew by ${onMismatch}`,
      });
    const ended = await served(crashed(path), next('end'));
    expect((await ended.end()).stopReason).to.equal('lost');
    const restarted = await served(crashed(path), next('restart'));
    await until(async () => textOf((await restarted.lastOf())!) === 'anew by restart');
    for (const approved of [true, false]) {
      const asking = await served(crashed(path), next('ask'));
      let callId = '';
      for await (const event of asking.session.events({ from: 'earliest' }))
        if (event.type === 'tool_confirmation_required') {
          callId = event.callId;
          break;
        }
      await asking.session.respond(callId, { approved });
      if (approved) await until(async () => textOf((await asking.lastOf())!) === 'anew by ask');
      else expect((await asking.end()).stopReason).to.equal('lost');
    }
  });

  it('can be aborted, and makes room for another message, while it is held', async () => {
    const done: Done = [];
    const { path } = await left(shop(done, { version: '1' }));
    const { session, heldOf, lastOf, gateway } = await served(
      path,
      defineApp({ version: '2', resumable: true, run: (turn: Turn) => `said ${turn.text}` }),
    );
    await until(async () => (await heldOf()) !== null);
    expect(gateway.stats().heldRuns).to.deep.equal([]);
    const next = session.send('next');
    await until(async () => (await session.state()).queue.length === 1);
    await session.abort();
    expect(textOf((await next.result).message)).to.equal('said next');
    expect(textOf((await lastOf())!)).to.equal('said next');
    expect(await heldAt(gateway)).to.deep.equal([]);
  });

  it('is taken up as before where its app has no version', async () => {
    const done: Done = [];
    const { path, callId } = await left(shop(done, { version: '1' }));
    const { answer, end } = await served(path, shop(done, {}));
    expect(await answer(callId)).to.equal('taken');
    expect((await end()).stopReason).to.equal('end');
  });

  it('is rehearsed where it is of no version, as one of an older gateway', async () => {
    const done: Done = [];
    const { path, callId } = await left(shop(done, {}));
    const { answer, end } = await served(path, shop(done, { version: '1' }));
    expect(await answer(callId)).to.equal('taken');
    expect((await end()).stopReason).to.equal('end');
    expect(done).to.deep.equal(['order', 'charge']);
  });
});

describe('an app with wrong versions', () => {
  it('is refused by the name of the field', () => {
    for (const [wrong, field] of [
      [{ version: '' }, 'version'],
      [{ accepts: ['1'] }, 'accepts'],
      [{ version: '2', accepts: '1' }, 'accepts'],
      [{ version: '2', onMismatch: 'retry' }, 'onMismatch'],
    ] as const)
      expect(() => createGateway({ app: { run: () => {}, ...wrong } as never })).to.throw(new RegExp(field));
  });
});
