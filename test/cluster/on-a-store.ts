import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { textOf } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { TOKEN } from '../support/gateway.js';
import { echo, waiting } from '../support/nodes.js';
import { until } from '../support/until.js';
import { describeAtOnce } from './at-once.js';
import { type Gateways, gatewaysIn, type MakePlace } from './place.js';

/** What gateways do while the server of their store is there. */
export function whileItsServerIsThere({ start, startAll, begun, sides, taken }: Gateways): void {
  it('take a message at any of them, tell each sender how it ended, and show all of it at every one', async () => {
    const nodes = await startAll(echo);
    const seen = nodes.map(async ({ client }) => {
      const events: string[] = [];
      for await (const event of client.events('main', { from: 'earliest' })) {
        events.push(`${event.cursor} ${event.type}`);
        if (events.filter((line) => line.endsWith('message_end')).length === 6) break;
      }
      return events;
    });
    for (let n = 0; n < 6; n++) {
      const { message } = await nodes[n % 3]!.client.send('main', `${n}`).result;
      expect(textOf(message)).to.equal(`said ${n}`);
    }
    const [first, ...others] = await Promise.all(seen);
    for (const other of others) expect(other).to.deep.equal(first);
    const texts = Array.from({ length: 6 }, (_, n) => [`${n}`, `said ${n}`]).flat();
    for (const { client } of nodes)
      expect((await client.session('main').state()).messages.map(textOf)).to.deep.equal(texts);
  });

  it('end the run of one that dies once as lost, run what waited, and tell who waits elsewhere', async () => {
    const { app, calls } = waiting();
    const nodes = await startAll(app);
    await nodes[0]!.client.send('main', 'wait').accepted;
    const { holding, other } = await sides(nodes);
    const queued = other.client.send('main', 'next');
    await queued.accepted;
    holding.node.kill();
    const { stopReason, message } = await queued.result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'begun, done']);
    const { messages } = await other.client.session('main').state();
    expect(messages.map(({ stopReason: end }) => end)).to.deep.equal([undefined, 'lost', undefined, 'end']);
    expect(calls).to.deep.equal(['wait', 'next']);
  });

  it('go on with a resumable run of one that dies, without a gap for those who follow elsewhere', async () => {
    const { app, letGo } = waiting({ resumable: true });
    const nodes = await startAll(app);
    await nodes[0]!.client.send('main', 'wait').accepted;
    const { holding, other } = await sides(nodes);
    const seen: string[] = [];
    const followed = (async () => {
      for await (const event of other.client.events('main', { from: 'earliest' })) {
        seen.push(event.type);
        if (event.type === 'message_end') return event;
      }
      throw new Error('the stream ended');
    })();
    await begun(other);
    holding.node.kill();
    await taken(holding);
    letGo();
    expect(await followed).to.include({ stopReason: 'end' });
    expect(seen).to.not.include('gap');
    expect(textOf((await other.client.session('main').state()).messages.at(-1)!)).to.equal('begun, done');
  });

  it('refuse what one writes late that was cut off, which follows from then on', async () => {
    const { app, calls } = waiting();
    const nodes = await startAll(app);
    const run = nodes[0]!.client.send('main', 'wait');
    await run.accepted;
    const { holding, other } = await sides(nodes);
    await begun(other);
    holding.node.freeze();
    await taken(holding);
    expect((await other.client.send('main', 'next').result).stopReason).to.equal('end');
    holding.node.thaw();
    // Whoever waited there is told what the log says.
    expect((await run.result).stopReason).to.equal('lost');
    expect((await holding.client.send('main', 'last').result).stopReason).to.equal('end');
    const states = () => Promise.all(nodes.map(({ client }) => client.session('main').state()));
    // A gateway that follows may hear of the last answer after the one that gave it.
    await until(async () => (await states()).every(({ messages }) => messages.length === 6));
    const [first, ...others] = await states();
    for (const { messages } of others) expect(messages).to.deep.equal(first!.messages);
    expect(calls).to.deep.equal(['wait', 'next', 'last']);
  });

  it('hand a session over with what waits in it, when one of them ends', async () => {
    const { app, letGo, calls } = waiting({ resumable: true });
    const nodes = await startAll(app);
    await nodes[0]!.client.send('main', 'wait').accepted;
    const { holding, other } = await sides(nodes);
    const queued = other.client.send('main', 'next');
    await queued.accepted;
    await begun(other);
    await holding.gateway.close();
    await taken(holding);
    letGo();
    expect(textOf((await queued.result).message)).to.equal('begun, done');
    const { messages } = await other.client.session('main').state();
    expect(messages.map(textOf)).to.deep.equal(['wait', 'begun, done', 'next', 'begun, done']);
    expect(calls).to.deep.equal(['wait', 'wait', 'next']);
  });

  it('take up at the next start what all of them left', async () => {
    const { app, letGo } = waiting({ resumable: true });
    const nodes = await startAll(app, 2);
    const { runId } = await nodes[0]!.client.send('main', 'wait').accepted;
    await begun(nodes[0]!);
    for (const { node } of nodes) node.kill();
    const next = await start(app);
    letGo();
    const { stopReason, message } = await next.client.session('main').run(runId).result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'begun, done']);
  });

  describe('where requests of one conversation come to two of them at the same moment', () => {
    describeAtOnce(async ({ app, ...config }) => ({
      nodes: [await start(app!, config), await start(app!, config)],
      headers: { authorization: `Bearer ${TOKEN}` },
    }));
  });
}

/** What they do where their server is away for a time. */
export function whileItsServerIsAway({ startAll, moveToOwn }: Gateways): void {
  it('go on when their server was away, and lose nothing', async () => {
    const place = await moveToOwn();
    const { app, letGo, calls } = waiting();
    const nodes = await startAll(app, 2);
    const run = nodes[0]!.client.send('main', 'wait');
    await run.accepted;
    const seen: string[] = [];
    const followed = (async () => {
      for await (const event of nodes[1]!.client.events('main', { from: 'earliest' })) {
        seen.push(event.type);
        if (event.type === 'message_end') return;
      }
    })();
    await until(() => seen.includes('message_start'));
    await place.stop!();
    letGo();
    await place.run!();
    expect((await run.result).stopReason).to.equal('end');
    await followed;
    expect(seen).to.not.include('gap');
    expect(calls).to.deep.equal(['wait']);
  });

  for (const [what, text, isFirst] of [
    ['the run that is active', 'wait', false],
    ['an answer, where nothing happens any more', 'second', false],
    ['the session, which another one begins then', 'second', true],
  ] as const)
    it(`tell readers and the sender where their server forgets ${what}, and go on`, async function () {
      const place = await moveToOwn();
      if (!place.mark) return this.skip();
      const { app, letGo } = waiting();
      const nodes = await startAll(app, 2);
      const isActive = text === 'wait';
      if (!isFirst) await nodes[1]!.client.send('main', 'first').result;
      const forget = place.mark();
      const forgotten = nodes[0]!.client.send('main', text);
      await (isActive ? forgotten.accepted : forgotten.result);
      const seen = nodes.map(() => [] as string[]);
      const followed = nodes.map(async ({ client }, i) => {
        for await (const event of client.events('main', { from: 'earliest' })) {
          seen[i]!.push(event.type === 'message_accepted' ? textOf(event.message) : event.type);
          if (event.type === 'message_end' && event.runId === (await next)?.runId) return;
        }
      });
      let next: Promise<{ runId: string }> | undefined;
      await until(() => seen.every((types) => types.includes(text)));
      await forget();
      letGo();
      if (isActive) {
        const told: object = await forgotten.result.catch((error: Error) => error);
        expect('code' in told ? told.code : (told as RunResult).stopReason).to.be.oneOf([
          'RUN_NOT_FOUND',
          'lost',
        ]);
      }
      // Its holder finds out by itself; a follower elsewhere may be told by what is written next.
      if (!isActive && !isFirst) await until(() => seen.some((types) => types.includes('gap')));
      const run = nodes[1]!.client.send('main', 'third');
      next = run.accepted;
      expect((await run.result).stopReason).to.equal('end');
      await Promise.all(followed);
      for (const types of seen) {
        expect(types.filter((type) => type === 'gap')).to.have.length(1);
        expect(types.indexOf('gap')).to.be.greaterThan(types.indexOf(text));
      }
      for (const { client } of nodes) {
        const { messages } = await client.session('main').state();
        const kept = isFirst ? [] : ['first', 'begun, done'];
        expect(messages.map(textOf)).to.deep.equal([...kept, 'third', 'begun, done']);
      }
    });
}

/** What they do where all of them lose the server for longer than anybody's patience: requests, leases and connections are given up by then. */
export function whileItsServerIsSilent({ startAll }: Gateways): void {
  it('go on with the run that was under way when the lines to their server stand again, which nobody else took', async () => {
    const { app, letGo, calls } = waiting();
    const nodes = await startAll(app, 2);
    const run = nodes[0]!.client.send('main', 'wait');
    await run.accepted;
    const seen: string[] = [];
    const followed = (async () => {
      for await (const event of nodes[1]!.client.events('main', { from: 'earliest' })) {
        seen.push(event.type);
        if (event.type === 'message_end') return;
      }
    })();
    await until(() => seen.includes('content_delta'));
    for (const { node } of nodes) node.kill();
    letGo();
    await delay(40_000);
    for (const { node } of nodes) node.thaw();
    const { stopReason, message } = await run.result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'begun, done']);
    await followed;
    expect(seen).to.not.include('gap');
    expect(calls).to.deep.equal(['wait']);
  });
}

/** What gateways do that share a store. @param makePlace Makes a place for a test; `own`: with a server that it may end. @param parts Which part of that */
export function describeGateways(
  makePlace: MakePlace,
  parts: readonly ((gateways: Gateways) => void)[] = [whileItsServerIsThere, whileItsServerIsAway],
): void {
  const gateways = gatewaysIn(makePlace);
  for (const part of parts) part(gateways);
}
