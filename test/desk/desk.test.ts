import { expect } from 'chai';
import { type DeskQuestion, type Gateway, memoryStore } from '../../server/index.js';
import { StoreError } from '../../server/stores/index.js';
import { echo, heldApp } from '../support/apps.js';
import { jsonHeaders, startGateway } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';

type Row = Readonly<Record<string, any>>;

const ask = async (gateway: Gateway<any, any, any, any>, question: DeskQuestion): Promise<Row[]> => {
  const rows: Row[] = [];
  for await (const row of gateway.desk(question)) rows.push(row);
  return rows;
};

const failure = (failing: Promise<unknown>) =>
  failing.then(
    () => null,
    ({ code, details }: { code: string; details: unknown }) => ({ code, details }),
  );

describe("the operators' desk", () => {
  it('says what each run waits for: its app, a person, the one before it, the store', async () => {
    const { app: held, held: gate, began } = heldApp();
    const asks = {
      async *run(turn: any) {
        yield String(await turn.ask({ name: 'which', prompt: 'Which?' }));
      },
    };
    const inner = memoryStore();
    let isFull = false;
    const append = inner.append.bind(inner);
    const store = Object.assign(inner, {
      append(...given: Parameters<typeof append>) {
        if (isFull && given[0].name === 'main') throw new StoreError('UNAVAILABLE', 'No room');
        return append(...given);
      },
    });
    const { gateway } = await startGateway({ apps: { held, asks }, defaultApp: 'held', store });
    const alice = { user: { id: 'alice', tenantId: 'acme' } };
    const session = gateway.session('main', alice);
    const first = session.send('one');
    await began.passed;
    const second = session.send('two');
    await second.accepted;
    void gateway.session('asks:form', { user: { id: 'bob' } }).send('hi');
    await until(async () => (await ask(gateway, { action: 'runs', waitsFor: 'person' })).length === 1);
    const runs = await ask(gateway, { action: 'runs' });
    const brief = runs.map(({ sessionId, user, app, state, waitsFor }) => [
      sessionId,
      user.id,
      app,
      state,
      waitsFor,
    ]);
    expect(brief).to.have.deep.members([
      ['main', 'alice', 'held', 'active', 'app'],
      ['main', 'alice', 'held', 'queued', 'queue'],
      ['asks:form', 'bob', 'asks', 'active', 'person'],
    ]);
    for (const { gateway: holder, ageMs, runId } of runs) {
      expect(holder).to.match(new RegExp(`^${gateway.id}\\.`));
      expect(ageMs).to.be.at.least(0);
      expect(runId).to.be.a('string');
    }
    const of = async (asked: object) => (await ask(gateway, { action: 'runs', ...asked })).length;
    expect(await of({ user: 'alice' })).to.equal(2);
    expect(await of({ user: 'alice', tenant: 'other' })).to.equal(0);
    expect(await of({ tenant: 'acme' })).to.equal(2);
    expect(await of({ app: 'asks' })).to.equal(1);
    expect(await of({ olderMs: 3_600_000 })).to.equal(0);
    expect(await of({ limit: 1 })).to.equal(1);
    isFull = true;
    gate.open();
    await until(async () => (await of({ waitsFor: 'store' })) > 0);
    isFull = false;
    await Promise.all([first.result, second.result]);
    expect(await of({ user: 'alice' })).to.equal(0);
  });

  it('ends runs and what is open of a user, and tells of a session and of what is kept, without a text', async () => {
    const { app, began } = heldApp();
    const { gateway, url } = await startGateway({ app });
    const sent = gateway.session('main', { user: { id: 'token' } }).send('a secret text');
    await began.passed;
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
    await stream.until(({ event }) => event === 'connected');
    const [connection] = await ask(gateway, { action: 'connections', user: 'token' });
    expect(connection).to.include({ transport: 'sse', sessions: 1, blocked: false });
    expect(await ask(gateway, { action: 'connections', user: 'nobody' })).to.deep.equal([]);
    const [session] = await ask(gateway, { action: 'session', session: 'main', user: 'token' });
    expect(session).to.include({ sessionId: 'main', status: 'running', queued: 0 });
    expect(session!.runs).to.have.length(1);
    const [usage] = await ask(gateway, { action: 'usage', user: 'token' });
    expect(usage).to.include({ sessions: 1, runs: 1, connections: 1 });
    expect(usage!.characters).to.be.greaterThan(10);
    const all = JSON.stringify([session, usage, connection, await ask(gateway, { action: 'status' })]);
    expect(all).to.not.include('secret');
    const [aborted] = await ask(gateway, {
      action: 'abort',
      session: 'main',
      user: 'token',
      reason: 'too long',
    });
    expect(aborted).to.deep.equal({ aborted: true });
    expect(await sent.result).to.deep.include({ stopReason: 'aborted' });
    const [again] = await ask(gateway, { action: 'abort', session: 'main', user: 'token' });
    expect(again).to.deep.equal({ aborted: false });
    expect(await ask(gateway, { action: 'disconnect', user: 'token' })).to.deep.equal([{ ended: 1 }]);
    await until(() => gateway.stats().connections.open === 0);
  });

  it('tells of all gateways on a store, acts on the one that is named, and answers for those who look in', async () => {
    const hub = new MemoryHub();
    const { app, began } = heldApp();
    const [a, b] = await Promise.all(
      ['a', 'b'].map((id) => startGateway({ app, id, store: hub.node().store })),
    );
    void a!.gateway.session('main', { user: { id: 'alice' } }).send('hi');
    await began.passed;
    const names = (rows: Row[]) => rows.map(({ gateway }) => gateway.split('.')[0]).sort();
    expect(names(await ask(b!.gateway, { action: 'status' }))).to.deep.equal(['a', 'b']);
    expect(names(await ask(b!.gateway, { action: 'status', gateway: 'a' }))).to.deep.equal(['a']);
    expect(names(await ask(b!.gateway, { action: 'runs' }))).to.deep.equal(['a']);
    expect(names(await ask(b!.gateway, { action: 'lame-duck', gateway: 'a', on: true }))).to.deep.equal([
      'a',
    ]);
    expect(a!.gateway.stats().ready.reason).to.equal('lame-duck');
    expect(b!.gateway.stats().ready.reason).to.not.equal('lame-duck');
    await ask(a!.gateway, { action: 'lame-duck', on: false });
    expect(a!.gateway.stats().ready.reason).to.not.equal('lame-duck');
    const unknown = await failure(ask(b!.gateway, { action: 'lame-duck', gateway: 'c', on: true }));
    expect(unknown).to.deep.include({ code: 'INVALID_PARAMS' });
    const visitor = await startGateway({ app: echo, id: 'visitor', store: hub.node().store });
    const seen: Row[] = [];
    for await (const row of visitor.gateway.desk({ action: 'status' }, { elsewhere: true })) seen.push(row);
    expect(names(seen)).to.deep.equal(['a', 'b']);
    expect((await ask(b!.gateway, { action: 'abort', session: 'main', user: 'alice' }))[0]).to.deep.equal({
      aborted: true,
    });
  });

  it('refuses what is no question with the field that is wrong, and changes nothing', async () => {
    const { gateway } = await startGateway({ app: echo });
    for (const [question, path] of [
      [{ action: 'format' }, 'action'],
      [{ action: 'runs', waitsFor: 'godot' }, 'waitsFor'],
      [{ action: 'runs', limit: 0 }, 'limit'],
      [{ action: 'abort', session: 'main', users: 'alice' }, 'users'],
      [{ action: 'session', session: 'main' }, 'user'],
      [{ action: 'disconnect' }, 'user'],
      [{ action: 'lame-duck' }, 'on'],
      [null, ''],
    ] as const) {
      const refused = await failure((async () => ask(gateway, question as never))());
      expect(refused?.code, JSON.stringify(question)).to.equal('INVALID_PARAMS');
      expect((refused!.details as { path: string }[])[0]!.path, JSON.stringify(question)).to.equal(path);
    }
    expect(gateway.stats().ready.reason).to.not.equal('lame-duck');
    const missing = await failure(ask(gateway, { action: 'session', session: 'none', user: 'alice' }));
    expect(missing).to.deep.include({ code: 'SESSION_NOT_FOUND' });
  });
});
