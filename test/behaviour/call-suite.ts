import { expect } from 'chai';
import { collect, failure } from '../support/client.js';
import { until } from '../support/until.js';
import type { Door } from './doors/door.js';
import { openBehaviour } from './suite.js';

/** What a client may rely on with methods and failures, whatever way it comes in. */
export function callBehaviour(door: Door): void {
  describe(`${door.name}: calls`, () => {
    it('calls methods', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      expect(await alice.invoke('ping')).to.deep.equal({ pong: true });
      expect(await alice.invoke('nothing')).to.equal(undefined);
      expect(await alice.invoke('who')).to.equal('alice');
      expect(await alice.invoke('tasks:create', { title: 'x' })).to.deep.equal({ title: 'x' });
      // Results are what JSON makes of them, everywhere.
      expect(await alice.invoke('when')).to.deep.equal({ at: '1970-01-01T00:00:00.000Z' });
    });

    it('answers calls that are under way at once, each with its own', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const titles = Array.from({ length: 50 }, (_, n) => `task ${n}`);
      const made = await Promise.all(titles.map((title) => alice.invoke('tasks:create', { title })));
      expect(made).to.deep.equal(titles.map((title) => ({ title })));
    });

    it('refuses calls with the same errors', async () => {
      const { client, log } = await openBehaviour(door);
      const alice = client();
      expect(await failure(alice.invoke('tasks:none'))).to.include({ code: 'METHOD_NOT_FOUND', status: 404 });
      const params = await failure(alice.invoke('tasks:create', { title: '' }));
      expect(params).to.include({ code: 'INVALID_PARAMS', status: 400 });
      expect(params.details[0].path).to.equal('title');
      expect(await failure(alice.invoke('tasks:admin'))).to.include({
        ...{ code: 'GUARD_DENIED', status: 403, guardType: 'role' },
      });
      const own = await failure(alice.invoke('refuse'));
      expect(own).to.include({ code: 'OUT_OF_STOCK', status: 409, message: 'None left' });
      expect(own.details).to.deep.equal({ left: 0 });
      const crash = await failure(alice.invoke('crash'));
      expect(crash).to.include({ code: 'INTERNAL', status: 500 });
      expect(JSON.stringify(crash)).not.to.include('secret');
      expect(JSON.stringify(log.lines, (_, it) => it?.message ?? it)).to.include(crash.requestId);
    });

    it('refuses sessions with the same errors', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      expect(await failure(alice.status('nothing'))).to.include({ code: 'SESSION_NOT_FOUND', status: 404 });
      expect(await failure(alice.send('no:app', 'x').accepted)).to.include({
        code: 'APP_NOT_FOUND',
        status: 404,
      });
      expect(await failure(alice.send('a b', 'x').accepted)).to.include({
        code: 'INVALID_REQUEST',
        status: 400,
      });
      const events = alice.events('a b');
      expect(await failure(events.next())).to.include({ code: 'INVALID_REQUEST' });
      // The refusal of one session ends no other.
      const [good, bad] = [alice.events('good', { from: 'earliest' }), alice.events('not good')];
      expect(await failure(bad.next())).to.include({ code: 'INVALID_REQUEST' });
      await alice.send('good', 'hello').result;
      expect((await good.next()).value.type).to.equal('message_accepted');
    });

    it('streams the items of a method', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      expect(await collect(alice.stream('count', { to: 200 }))).to.deep.equal(
        Array.from({ length: 200 }, (_, n) => n + 1),
      );
      expect(await collect(alice.stream('count', { to: 0 }))).to.deep.equal([]);
    });

    it('ends a stream that is left, and the method with it', async () => {
      const { client, stage } = await openBehaviour(door);
      for await (const item of client().stream('count')) if (item === 3) break;
      await stage.left.passed;
    });

    it('passes on what a stream fails with', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const items: unknown[] = [];
      const error = await failure(
        (async () => {
          for await (const item of alice.stream('count', { failAt: 4 })) items.push(item);
        })(),
      );
      expect(items).to.deep.equal([1, 2, 3]);
      expect(error).to.include({ code: 'OVERLOADED', status: 503, message: 'enough' });
      expect(await failure(collect(alice.stream('tasks:none')))).to.include({ code: 'METHOD_NOT_FOUND' });
    });

    it('takes neither a method for a stream nor a stream for a method', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const misused = await failure(alice.invoke('count', { to: 3 }));
      expect(misused).to.include({ code: 'INVALID_REQUEST' });
      expect((await failure(collect(alice.stream('ping')))).code).to.equal('INVALID_REQUEST');
      expect(await alice.invoke('ping')).to.deep.equal({ pong: true });
    });

    it('aborts a call, on both sides', async () => {
      const { client, stage } = await openBehaviour(door);
      const abort = new AbortController();
      const call = client().invoke('wait', undefined, { signal: abort.signal });
      await stage.entered.passed;
      abort.abort();
      expect(await failure(call)).to.include({ code: 'ABORTED' });
      await stage.aborted.passed;
    });

    it('aborts calls when the client is disconnected, but no run', async () => {
      const { client, stage } = await openBehaviour(door);
      const alice = client();
      const run = await alice.send('main', 'hold').accepted;
      await stage.began.passed;
      const call = failure(alice.invoke('wait'));
      await stage.entered.passed;
      alice.disconnect();
      expect((await call).code).to.equal('ABORTED');
      await stage.aborted.passed;
      stage.held.open();
      const events = client().events('main', { from: 'earliest' });
      for await (const event of events) {
        if (event.type !== 'message_end') continue;
        expect(event).to.include({ runId: run.runId, stopReason: 'end' });
        break;
      }
    });

    it('tells of its connection, and can be used again', async () => {
      const { client, cut } = await openBehaviour(door);
      const alice = client();
      const states: string[] = [];
      alice.on('state', (state) => states.push(state));
      const events = alice.events('main', { from: 'earliest' });
      await client().send('main', 'one').result;
      await events.next();
      cut();
      const reopened = new Promise<void>((resolve) =>
        alice.on('state', (state) => state === 'open' && resolve()),
      );
      await reopened;
      alice.disconnect();
      expect(states).to.deep.equal(['connecting', 'open', 'reconnecting', 'open', 'closed']);
      expect(await alice.invoke('ping')).to.deep.equal({ pong: true });
    });

    it('is turned away while the gateway drains', async () => {
      const { client, close, stage } = await openBehaviour(door, { drainMs: 5000, methodMs: 200 });
      const alice = client();
      const run = alice.send('main', 'hold');
      await stage.began.passed;
      const waiting = failure(alice.invoke('wait'));
      await stage.entered.passed;
      const closed = close();
      // Gateways beside others serve what comes until their port is closed.
      const late = client();
      let error: any;
      await until(async () => {
        error = await late.invoke('ping').catch((refusal) => refusal);
        return error instanceof Error;
      });
      expect(error.code).to.be.oneOf(['SHUTTING_DOWN', 'NETWORK']);
      stage.held.open();
      await closed;
      expect((await waiting).code).to.be.oneOf(['NETWORK', 'ABORTED', 'TIMEOUT']);
      alice.disconnect();
      await run.result;
    });

    if (door.takesTokens) {
      it('refuses a wrong token', async () => {
        const { client } = await openBehaviour(door);
        const nobody = client('bad');
        const refused = { code: 'UNAUTHENTICATED', status: 401 };
        expect(await failure(nobody.invoke('ping'))).to.include(refused);
        expect(await failure(nobody.send('main', 'x').accepted)).to.include(refused);
        expect(await failure(nobody.events('main').next())).to.include(refused);
      });
    }
  });
}
