import { expect } from 'chai';
import { defineApp, type Gateway } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { connectClient } from '../support/client.js';
import { gate, gatesByName } from '../support/gate.js';
import { alone, FAST, get, post, startGateway } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';

/** Says who is at work, and works until its gate is opened. */
function working() {
  const gates = gatesByName();
  const began: string[] = [];
  const app = defineApp({
    async *run(turn) {
      const name = `${turn.user?.tenantId ?? turn.user?.id} ${turn.text}`;
      began.push(name);
      await Promise.race([
        gates(name).passed,
        new Promise((resolve) => turn.signal.addEventListener('abort', resolve)),
      ]);
      yield name;
    },
  });
  return { app, began, end: (name: string) => gates(name).open() };
}

const send = (url: string, who: string, text: string, sessionId = text) =>
  post(`${url}/send`, { sessionId, message: text }, { ...as(who), prefer: 'respond-async' });

const waiting = ({ gateway }: { readonly gateway: Gateway<any, any, any, any> }): number =>
  gateway.stats().runs.waiting;

describe('turns at work', () => {
  it('go by tenant: of fifteen to one, the one waits for one run, and order within each is kept', async () => {
    const { app, began, end } = working();
    const { url } = await startGateway({
      ...{ app, auth: byName, ...alone() },
      limits: { ...FAST, runsAtOnce: 3 },
    });
    for (let each = 0; each < 15; each += 1)
      expect((await send(url, `large/user${each}`, `${each}`)).status).to.equal(202);
    for (const each of ['x', 'y']) expect((await send(url, 'small/ann', each)).status).to.equal(202);
    expect(began).to.deep.equal(['large 0', 'large 1', 'large 2']);
    const order = [...began];
    // One ends after the other, the longest at work first.
    for (let at = 0; at < 17; at += 1) {
      end(order[at]!);
      await until(() => began.length === Math.min(17, at + 4));
      order.push(...began.slice(order.length));
    }
    expect(began.indexOf('small x')).to.equal(3);
    expect(began.indexOf('small y')).to.be.at.most(7);
    const ofLarge = began.filter((name) => name.startsWith('large'));
    expect(ofLarge).to.deep.equal(Array.from({ length: 15 }, (_, each) => `large ${each}`));
  });

  it('are told to who waits for one: by the desk, by the stats, and in the stream, where the run has not said a word', async () => {
    const { app, end } = working();
    const started = await startGateway({
      ...{ app, auth: byName, ...alone() },
      limits: { ...FAST, runsAtOnce: 1 },
    });
    const { gateway, url } = started;
    await send(url, 'ann', 'one');
    const stream = await openStream(`${url}/events?sessionId=two&from=earliest`, { headers: as('ann') });
    const { body } = await send(url, 'ann', 'two');
    expect(body.position).to.equal(0);
    expect(waiting(started)).to.equal(1);
    const rows: unknown[] = [];
    for await (const row of gateway.desk({ action: 'runs', waitsFor: 'slot' })) rows.push(row);
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ sessionId: 'two', state: 'active', runId: body.runId });
    end('ann one');
    end('ann two');
    await stream.until(({ event }) => event === 'message_end');
    const events = stream.events.map(({ event }) => event).filter((event) => /^message|^delta/.test(event));
    expect(events.filter((event) => event === 'message_start')).to.have.length(1);
    expect(waiting(started)).to.equal(0);
  });

  it('are free while a run waits for a person, who is answered at once, and while it sleeps', async () => {
    const [began, answered] = [gate(), gate()];
    const app = defineApp({
      async *run(turn) {
        if (turn.text === 'ask') yield String(await turn.ask({ name: 'which' }));
        if (turn.text === 'sleep') await turn.sleep('nap', 60_000);
        if (turn.text === 'work') {
          began.open();
          await answered.passed;
        }
        yield turn.text;
      },
    });
    const { gateway, url } = await startGateway({ app, ...alone(), limits: { runsAtOnce: 1 } });
    const client = connectClient(url);
    const of = (name: string) => client.session(name);
    of('naps').send('sleep');
    const asking = of('asks').send('ask');
    await until(() => gateway.stats().runs.questions === 1);
    const works = of('works').send('work');
    await works.accepted;
    await began.passed;
    const { pending } = await of('asks').state();
    await of('asks').respond(pending[0]!, { output: 'this' });
    expect((await asking.result).stopReason).to.equal('end');
    answered.open();
    expect((await works.result).stopReason).to.equal('end');
  });

  it('are not taken by runs that are aborted while they wait, and children work in the turn of their parent', async () => {
    const { app: slow, began, end } = working();
    const parent = defineApp({
      async *run(turn) {
        yield (await turn.spawn('child', { message: 'go' }).result).message.id;
      },
    });
    const child = defineApp({ run: () => 'done' });
    const { gateway, url } = await startGateway({
      ...{ apps: { slow, parent, child }, defaultApp: 'slow', auth: byName, ...alone() },
      limits: { ...FAST, runsAtOnce: 1 },
    });
    await send(url, 'ann', 'one');
    const { body } = await send(url, 'ann', 'two');
    await send(url, 'ann', 'three');
    const aborted = await post(`${url}/abort`, { sessionId: 'two', runId: body.runId }, as('ann'));
    expect(aborted.status).to.equal(200);
    end('ann one');
    await until(() => began.length === 2);
    expect(began).to.deep.equal(['ann one', 'ann three']);
    end('ann three');
    const spawned = gateway.session('parent:p', { user: { id: 'ann' } }).send('hi');
    expect((await spawned.result).stopReason).to.equal('end');
  });

  it('have a line with an end, for each tenant by itself: 503 with Retry-After, and none of it is stored', async () => {
    const { app, end } = working();
    const { url } = await startGateway({
      ...{ app, auth: byName, ...alone() },
      limits: { ...FAST, tenant: { runsAtOnce: 1, runsWaiting: 1 } },
    });
    await send(url, 'acme/ann', 'one');
    await send(url, 'acme/ben', 'two');
    const third = await send(url, 'acme/cid', 'three');
    expect([third.status, third.body.error.code, third.headers.get('retry-after')]).to.deep.equal([
      ...[503, 'OVERLOADED', '1'],
    ]);
    expect((await get(`${url}/history?sessionId=three`, as('acme/cid'))).body.messages).to.deep.equal([]);
    expect((await send(url, 'other/ann', 'one')).status).to.equal(202);
    end('acme one');
    await until(async () => (await send(url, 'acme/cid', 'three')).status === 202);
  });
});

describe('limits of a tenant', () => {
  it('bound all its users together, and nobody else; a user beyond its own rate uses up none of it', async () => {
    const { url } = await startGateway({
      ...{ app: echo, auth: byName, ...alone() },
      methods: { ping: () => 1 },
      limits: {
        ...{ sendsPerSecond: 0.5, readsPerSecond: 10_000 },
        tenant: { sendsPerSecond: 1, invokesPerSecond: 0.5, readsPerSecond: 10_000, connections: 2 },
      },
    });
    for (let each = 0; each < 5; each += 1) await send(url, 'acme/ann', 'hi');
    expect((await send(url, 'acme/ben', 'hi')).status).to.equal(202);
    const third = await send(url, 'acme/cid', 'hi');
    expect([third.status, third.body.error.code]).to.deep.equal([429, 'RATE_LIMITED']);
    expect(third.body.error.retryAfterMs).to.be.above(0);
    expect((await send(url, 'other/cid', 'hi')).status).to.equal(202);
    const ping = (who: string) => post(`${url}/invoke`, { method: 'ping' }, as(who));
    expect([(await ping('acme/ann')).status, (await ping('acme/ben')).status]).to.deep.equal([200, 429]);
    expect((await ping('ann')).status).to.equal(200);
    for (const who of ['ann', 'ben']) await openStream(`${url}/events`, { headers: as(`acme/${who}`) });
    const refused = await get(`${url}/events`, as('acme/cid'));
    expect([refused.status, refused.body.error.code]).to.deep.equal([429, 'TOO_MANY_CONNECTIONS']);
    expect((await openStream(`${url}/events`, { headers: as('cid') })).response.status).to.equal(200);
  });

  it('go by fairKey, and by the tenant for whom it names none', async () => {
    const fairKey = ({ id }: { readonly id: string }): string => {
      if (id === 'odd') throw new Error('who is that?');
      return id.split('-')[0]!;
    };
    const { url, log } = await startGateway({
      ...{ app: echo, auth: byName, fairKey, ...alone() },
      limits: { ...FAST, tenant: { sendsPerSecond: 0.5 } },
    });
    expect((await send(url, 'team-ann', 'hi')).status).to.equal(202);
    expect((await send(url, 'x/team-ben', 'hi')).status).to.equal(429);
    expect((await send(url, 'odd', 'hi')).status).to.equal(202);
    expect(log.lines.some(({ message }) => message === 'fairKey named no tenant')).to.equal(true);
  });
});
