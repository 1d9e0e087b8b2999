import { expect } from 'chai';
import { textOf } from '../../shared/messages.js';
import { collect, failure, takeUntil } from '../support/client.js';
import { behaviourApp, behaviourMethods, newStage, PIECES, piece, type Stage } from './app.js';
import type { Door, OpenDoor } from './doors/door.js';
import { eventOf, placesOf, upTo } from './iteration.js';

const FOREIGN = 'AAAAAAAAAAA.1.5';

export type Opened = OpenDoor & { readonly stage: Stage };

export async function openBehaviour(door: Door, limits = {}): Promise<Opened> {
  const stage = newStage();
  const apps = { main: behaviourApp(stage), other: behaviourApp(stage) };
  const methods = behaviourMethods(stage);
  return { stage, ...(await door.open({ apps, defaultApp: 'main', methods, limits })) };
}

/** What a client may rely on with its sessions, whatever way it comes in. */
export function sessionBehaviour(door: Door): void {
  describe(`${door.name}: sessions`, () => {
    it('sends a message and brings the run, its text and its result', async () => {
      const { client } = await openBehaviour(door);
      const run = client().send('main', { id: 'mine', content: 'hello' });
      expect((await collect(run.text)).join('')).to.equal('echo: hello');
      const accepted = await run.accepted;
      expect(accepted.message).to.include({ id: 'mine', role: 'user' });
      expect(accepted.position).to.equal(0);
      const result = await run.result;
      expect(result.stopReason).to.equal('end');
      expect(textOf(result.message)).to.equal('echo: hello');
      const events = await collect(run);
      expect(events.at(0)?.type).to.equal('message_accepted');
      expect(events.at(-1)?.type).to.equal('message_end');
      expect(placesOf(events)).to.deep.equal(upTo(events.length));
    });

    it('starts one run for one key, and refuses the key for another message', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const first = await alice.send('main', 'one', { idempotencyKey: 'k' }).accepted;
      const again = await alice.send('main', 'one', { idempotencyKey: 'k' }).result;
      expect(again.runId).to.equal(first.runId);
      const error = await failure(alice.send('main', 'two', { idempotencyKey: 'k' }).accepted);
      expect(error).to.include({ code: 'IDEMPOTENCY_CONFLICT', status: 422 });
    });

    it('shows all clients the same events in one order', async () => {
      const { client } = await openBehaviour(door);
      const viewers = [client(), client()].map((it) => it.events('main', { from: 'earliest' }));
      const sender = client();
      for (const text of ['a', 'b', 'c']) await sender.send('main', text).result;
      const ended = (n: number) => (event: { readonly type: string }) =>
        event.type === 'message_end' && --n === 0;
      const [one, two] = await Promise.all(viewers.map((events) => takeUntil(events, ended(3))));
      expect(placesOf(one!)).to.deep.equal(upTo(one!.length));
      expect(one).to.deep.equal(two);
    });

    it('brings each event once, whatever is cut', async () => {
      const { client, cut, stage } = await openBehaviour(door);
      const viewer = client();
      const events = viewer.events('main', { from: 'earliest' });
      stage.cut = cut;
      const run = client().send('main', 'long');
      const seen = await takeUntil(events, ({ type }) => type === 'message_end');
      expect(placesOf(seen)).to.deep.equal(upTo(seen.length));
      const text = upTo(PIECES)
        .map((n) => piece(n - 1))
        .join('');
      expect(textOf((await run.result).message)).to.equal(text);
      expect((await collect(run.text)).join('')).to.equal(text);
      expect((await run.result).stopReason).to.equal('end');
    });

    it('resumes many sessions over the one connection of a client', async () => {
      const { client, cut } = await openBehaviour(door, { sendsPerSecond: 1000 });
      const viewer = client();
      const ids = upTo(12).map((n) => `s${n}`);
      const followed = ids.map((id) => viewer.events(id, { from: 'earliest' }));
      const sender = client();
      for (const id of ids) await sender.send(id, 'before').result;
      await Promise.all(followed.map((events) => eventOf(events, 'message_end')));
      cut();
      for (const id of ids) await sender.send(id, 'after').accepted;
      for (const events of followed) {
        const rest = await takeUntil(events, ({ type }) => type === 'message_end');
        expect(placesOf(rest)).to.deep.equal(upTo(rest.length).map((n) => n + 5));
      }
    });

    it('says so when it cannot go on from a place', async () => {
      const { client } = await openBehaviour(door);
      await client().send('main', 'hello').result;
      const events = client().events('main', { from: FOREIGN });
      const gap = (await events.next()).value;
      expect(gap).to.include({
        type: 'gap',
        sessionId: 'main',
        reason: 'epoch',
        requested: FOREIGN,
        head: 5,
      });
      const snapshot = (await events.next()).value;
      expect(snapshot.type).to.equal('snapshot');
      expect(snapshot.cursor).to.equal(gap.cursor);
    });

    it('begins with a snapshot on request', async () => {
      const { client } = await openBehaviour(door);
      await client().send('main', 'hello').result;
      const events = client().events('main', { from: 'snapshot' });
      const { value } = await events.next();
      expect(value.type).to.equal('snapshot');
      expect(value.state.messages.map(textOf)).to.deep.equal(['hello', 'echo: hello']);
      await client().send('main', 'more').accepted;
      expect(placesOf([(await events.next()).value])).to.deep.equal([6]);
    });

    it('watches the state of a session', async () => {
      const { client } = await openBehaviour(door);
      const watch = client().session('main').watch();
      await client().send('main', 'hello').result;
      while (watch.getSnapshot().messages.length < 2) {
        await new Promise<void>((resolve) => {
          const stop = watch.subscribe(() => {
            stop();
            resolve();
          });
        });
      }
      expect(watch.getSnapshot().messages.map(textOf)).to.deep.equal(['hello', 'echo: hello']);
    });

    it('aborts a run', async () => {
      const { client, stage } = await openBehaviour(door);
      const alice = client();
      const run = alice.send('main', 'hold');
      await stage.began.passed;
      expect(await client().abort('main', { reason: 'enough' })).to.deep.equal({ aborted: true });
      expect((await run.result).stopReason).to.equal('aborted');
      expect(await alice.abort('main')).to.deep.equal({ aborted: false });
      // The app goes on without anybody listening.
      expect((await alice.send('main', 'next').result).stopReason).to.equal('end');
    });

    it('queues behind a running message, and rejects on request', async () => {
      const { client, stage } = await openBehaviour(door);
      const alice = client();
      const first = alice.send('main', 'hold');
      await stage.began.passed;
      const second = client().send('main', 'second');
      expect((await second.accepted).position).to.equal(1);
      const error = await failure(alice.send('main', 'no', { onBusy: 'reject' }).accepted);
      expect(error).to.include({ code: 'SESSION_BUSY', status: 409 });
      stage.held.open();
      expect(textOf((await first.result).message)).to.equal('working done');
      expect(textOf((await second.result).message)).to.equal('echo: second');
    });

    it('steers a running message', async () => {
      const { client, stage } = await openBehaviour(door);
      const first = client().send('main', 'hold');
      await stage.began.passed;
      const steering = client().send('main', 'left', { onBusy: 'steer' });
      await steering.accepted;
      stage.held.open();
      expect(textOf((await first.result).message)).to.equal('working steered by 1');
      const { stopReason, intoRunId } = await steering.result;
      expect({ stopReason, intoRunId }).to.deep.equal({
        stopReason: 'steered',
        intoRunId: (await first.accepted).runId,
      });
    });

    it('interrupts a running message', async () => {
      const { client, stage } = await openBehaviour(door);
      const first = client().send('main', 'hold');
      await stage.began.passed;
      const second = client().send('main', 'now', { onBusy: 'interrupt' });
      expect((await first.result).stopReason).to.equal('superseded');
      expect(textOf((await second.result).message)).to.equal('echo: now');
    });

    it('asks for confirmation, and takes one answer', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const run = alice.send('main', 'delete a.txt');
      const asked = await eventOf(run[Symbol.asyncIterator](), 'tool_confirmation_required');
      expect(asked.input).to.deep.equal({ file: 'a.txt' });
      const other = client();
      expect(await other.session('main').approve(asked.callId)).to.deep.equal({ ok: true });
      expect(await failure(alice.session('main').deny(asked.callId))).to.include({
        code: 'ALREADY_ANSWERED',
        status: 409,
      });
      expect(textOf((await run.result).message)).to.equal('removed a.txt');
    });

    it('asks the person', async () => {
      const { client } = await openBehaviour(door);
      const run = client().send('main', 'ask');
      const { callId } = await eventOf(run[Symbol.asyncIterator](), 'input_required');
      await client().session('main').respond(callId, { output: 'green' });
      expect(textOf((await run.result).message)).to.equal('you said "green"');
    });

    it('carries channels', async () => {
      const { client } = await openBehaviour(door);
      const listener = client();
      const heard = listener.channel('news')[Symbol.asyncIterator]();
      // The channel is open once the client follows the session.
      await listener.send('main', 'hello').result;
      await client().channel('news').publish({ n: 1 }, { type: 'tick' });
      expect((await heard.next()).value).to.deep.equal({ type: 'tick', payload: { n: 1 } });
      await heard.return?.();
    });

    it('tells of a run that fails, and nothing of why', async () => {
      const { client, log } = await openBehaviour(door);
      const result = await client().send('main', 'fail').result;
      expect(result.stopReason).to.equal('error');
      expect(JSON.stringify(result)).not.to.include('secret');
      expect(log.lines.length).to.be.greaterThan(0);
    });

    it('ends a session and begins it anew, in front of those who follow it', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const events = client().events('main', { from: 'earliest' });
      await alice.send('main', 'old').result;
      expect(await alice.close('main')).to.deep.equal({ ok: true });
      await eventOf(events, 'session_closed');
      await alice.send('main', 'new').result;
      expect((await events.next()).value).to.include({ type: 'gap', reason: 'epoch' });
      expect((await events.next()).value).to.include({ type: 'snapshot' });
      expect(placesOf(await takeUntil(events, ({ type }) => type === 'message_end'))).to.deep.equal(upTo(5));
      const { messages } = await alice.session('main').history();
      expect(messages.map(textOf)).to.deep.equal(['new', 'echo: new']);
    });

    it('lists what there is', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      await alice.send('main', 'hello').result;
      await alice.send('other:x', 'hello').result;
      const { sessions } = await alice.sessions();
      expect(sessions.map(({ sessionId }) => sessionId).sort()).to.deep.equal(['main', 'other:x']);
      expect(await alice.status('main')).to.include({
        sessionId: 'main',
        app: 'main',
        status: 'idle',
        head: 5,
      });
      expect(await alice.status()).to.deep.include({ draining: false, user: { id: 'alice' } });
      expect((await alice.apps()).apps.map(({ name }) => name)).to.deep.equal(['main', 'other']);
      expect((await alice.methods()).methods.map(({ path }) => path)).to.include('tasks:create');
    });

    it('keeps users apart', async () => {
      const { client } = await openBehaviour(door);
      const alice = client('alice');
      const bob = client('bob');
      const bobs = bob.events('main', { from: 'earliest' });
      await alice.send('main', 'for alice').result;
      await bob.send('main', 'for bob').result;
      const seen = await takeUntil(bobs, ({ type }) => type === 'message_end');
      expect(JSON.stringify(seen)).not.to.include('alice');
      expect((await bob.session('main').history()).messages.map(textOf)).to.deep.equal([
        'for bob',
        'echo: for bob',
      ]);
      await alice.send('private', 'hello').result;
      for (const ask of ['status', 'abort', 'close', 'history'] as const) {
        expect(await failure(bob.session('private')[ask]())).to.include({
          code: 'SESSION_NOT_FOUND',
          status: 404,
        });
      }
    });
  });
}
