import { expect } from 'chai';
import { type AuditEntry, channels } from '../../server/diagnostics/index.js';
import { type DeskQuestion, memoryStore } from '../../server/index.js';
import { StoreError } from '../../server/stores/index.js';
import { echo } from '../support/apps.js';
import { connectClient } from '../support/client.js';
import { alone, get, post, startGateway, type TestGateway, TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';

const DAY_MS = 24 * 3_600_000;

type Row = Readonly<Record<string, any>>;

/** The entries that the gateway's listeners are told. */
function heard({ gateway }: TestGateway): AuditEntry[] {
  const entries: AuditEntry[] = [];
  gateway.on('audit', (entry) => void entries.push(entry));
  return entries;
}

const brief = (entries: readonly AuditEntry[]): unknown[] =>
  entries.map(({ act, by, door, outcome }) => [act, by?.id ?? null, door, outcome]);

async function kept({ gateway }: TestGateway, question: object = {}): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of gateway.desk({ action: 'audit', ...question } as DeskQuestion)) rows.push(row);
  return rows;
}

const start = (config: object = {}): Promise<TestGateway> =>
  startGateway({ app: echo, auth: byName, ...alone(), limits: { auditMs: DAY_MS }, ...config });

describe('the audit', () => {
  it('tells each act that is no ordinary message to listeners, channel and log alike: who, by which door, on what, the outcome', async () => {
    const lines: { readonly message: string; readonly details: object }[] = [];
    const info = (details: object, message: string): void => {
      if (message.startsWith('audit')) lines.push({ details, message });
    };
    const started = await start({ logger: Object.assign(new TestLogger(), { info }) });
    const { url } = started;
    const entries = heard(started);
    const published: unknown[] = [];
    const listen = (entry: unknown): void => void published.push(entry);
    channels.audit.subscribe(listen);
    closeLater(listen, (it) => void channels.audit.unsubscribe(it));
    await post(`${url}/send`, { sessionId: 'main', message: 'a secret text' }, as('acme/ann'));
    expect(entries).to.deep.equal([]);
    const shared = await post(
      `${url}/share`,
      { sessionId: 'main', with: { userId: 'ben' }, as: 'viewer' },
      as('acme/ann'),
    );
    const { grantId } = shared.body.grant ?? shared.body;
    await post(`${url}/take-over`, { sessionId: 'main', reason: 'a secret note' }, as('acme/ann'));
    await post(`${url}/hand-back`, { sessionId: 'main' }, as('acme/ann'));
    await (await fetch(`${url}/export?sessionId=main`, { headers: as('acme/ann') })).text();
    await post(`${url}/unshare`, { sessionId: 'main', grantId }, as('acme/ann'));
    await post(`${url}/delete`, { sessionId: 'main' }, as('acme/ann'));
    await until(() => entries.length === 6);
    expect(brief(entries)).to.deep.equal(
      ['share', 'take-over', 'hand-back', 'export', 'unshare', 'delete'].map((act) => [
        act,
        'ann',
        'http',
        'ok',
      ]),
    );
    const [share] = entries;
    expect(share).to.deep.include({
      by: { id: 'ann', tenantId: 'acme' },
      scope: '["acme","ann"]',
      sessionId: 'main',
      about: { userId: 'ben', as: 'viewer' },
    });
    expect(share!.requestId).to.be.a('string');
    expect(entries[4]!.about).to.deep.equal({ grantId });
    expect(published).to.deep.equal(entries);
    expect(lines.map(({ message }) => message)).to.deep.equal(entries.map(({ act }) => `audit: ${act}`));
    expect(lines[0]!.details).to.include({ audit: true, user: 'ann', tenant: 'acme', sessionId: 'main' });
    expect(JSON.stringify([lines, entries])).not.to.contain('secret');
  });

  it('tells refused acts with their code, where one person has few of them, and no params that are no names', async () => {
    const started = await start();
    const { url } = started;
    const entries = heard(started);
    const share = { sessionId: 'no such', with: { userId: 'x'.repeat(300) }, as: { evil: true } };
    await post(`${url}/share`, share, as('ann'));
    await post(`${url}/unshare`, { sessionId: 'gone', grantId: 'g' }, as('ann'));
    expect(entries.map(({ act, outcome }) => [act, outcome === 'ok'])).to.deep.equal([
      ['share', false],
      ['unshare', false],
    ]);
    expect(entries[0]).not.to.have.property('about');
    expect(entries[0]).not.to.have.property('sessionId');
    for (let each = 0; each < 40; each += 1) await post(`${url}/close`, { sessionId: '~bad~' }, as('ann'));
    expect(entries.length).to.be.below(30);
    await post(`${url}/close`, { sessionId: '~bad~' }, as('ben'));
    expect(entries.at(-1)!.by).to.deep.equal({ id: 'ben' });
  });

  it('tells refused log-ins by their address, who reads the session of another once, approvals, and what the host and operators do', async () => {
    const app = { ...echo, run: async (turn: any) => String(await turn.ask({ name: 'which' })) };
    const started = await start({ app, oversight: ({ id }: { readonly id: string }) => id === 'staff' });
    const { gateway, url } = started;
    const entries = heard(started);
    await get(`${url}/status`, as('bad-token'));
    expect(entries[0]).to.deep.include({ act: 'log-in', outcome: 'UNAUTHENTICATED', by: null });
    expect(entries[0]!.address).to.match(/127\.0\.0\.1|::1/);
    expect(JSON.stringify(entries[0])).not.to.contain('bad-token');
    const client = connectClient(url, { token: 'ann' });
    const sent = client.session('main').send('hi');
    await sent.accepted;
    await until(() => gateway.stats().runs.questions === 1);
    const { pending } = await client.session('main').state();
    await client.session('main').respond(pending[0]!, { output: 'a secret' });
    await sent.result;
    expect(entries[1]).to.deep.include({ act: 'tool-response', about: { callId: pending[0]!.callId } });
    const { sessions } = (await get(`${url}/sessions?all=true`, as('staff'))).body;
    for (let each = 0; each < 3; each += 1)
      await get(`${url}/history?sessionId=${sessions[0].sessionId}`, as('staff'));
    (await openStream(`${url}/events?sessionId=${sessions[0].sessionId}`, { headers: as('staff') })).close();
    expect(brief(entries.slice(2)).map((each: any) => each.slice(0, 2))).to.deep.equal([
      ['oversee', 'staff'],
    ]);
    expect(entries[2]).to.deep.include({ scope: '[null,"ann"]', sessionId: 'main' });
    for await (const _ of gateway.export('main', { user: { id: 'ann' }, by: 'support' }));
    gateway.disconnect({ userId: 'ann' });
    for await (const _ of gateway.desk({ action: 'abort', session: 'main', user: 'ann' }));
    for await (const _ of gateway.desk({ action: 'disconnect', user: 'ann' }));
    for await (const _ of gateway.desk({ action: 'runs' }));
    await gateway.erase('main', { user: { id: 'ann' }, by: 'support' });
    expect(brief(entries.slice(3))).to.deep.equal([
      ['export', 'support', 'host', 'ok'],
      ['disconnect', null, 'host', 'ok'],
      ['abort', null, 'operator', 'ok'],
      ['disconnect', null, 'operator', 'ok'],
      ['erase', 'support', 'host', 'ok'],
    ]);
    expect(JSON.stringify(entries)).not.to.contain('secret');
  });
});

describe('the audit trail', () => {
  it('is kept in the order of time, as lines with the names of OCSF, from a time on and so many', async () => {
    const started = await start();
    const { url } = started;
    for (const name of ['a', 'b', 'c']) {
      await post(`${url}/send`, { sessionId: name, message: 'hi' }, as('ann'));
      await post(`${url}/delete`, { sessionId: name }, as('ann'));
    }
    await get(`${url}/status`, as('bad'));
    const rows = await kept(started);
    expect(
      rows.map(({ class_uid: kind, activity_name: what, status }) => [kind, what, status]),
    ).to.deep.equal([...[1, 2, 3].map(() => [6003, 'Delete', 'Success']), [3002, 'Logon', 'Failure']]);
    expect(rows[0]).to.deep.include({
      ...{ type_uid: 600304, status_id: 1, severity_id: 1 },
      actor: { user: { uid: 'ann' } },
      resources: [{ type: 'session', uid: 'a', namespace: '[null,"ann"]' }],
    });
    expect(rows[0]!.api.operation).to.equal('delete');
    expect(rows[0]!.metadata).to.include({ version: '1.3.0', log_name: 'audit' });
    expect(await kept(started, { limit: 2 })).to.deep.equal(rows.slice(0, 2));
    expect(await kept(started, { since: rows[3]!.time })).to.deep.include(rows[3]!);
    expect(await kept(started, { since: rows[3]!.time + 1000 })).to.deep.equal([]);
  });

  it('keeps as many as may be and as long, and none by default', async () => {
    const few = await start({ limits: { auditMs: DAY_MS, auditEntries: 10 } });
    for (let each = 0; each < 25; each += 1) few.gateway.disconnect({ userId: `user${each}` });
    const names = async (): Promise<string[]> =>
      (await kept(few)).map(({ unmapped }) => (unmapped as Row).userId as string);
    await until(async () => (await names()).length <= 11);
    expect((await names()).at(-1)).to.equal('user24');
    const none = await start({ limits: {} });
    none.gateway.disconnect({ userId: 'ann' });
    expect(await kept(none)).to.deep.equal([]);
    const brief = await start({ limits: { auditMs: 1, auditEntries: 1 } });
    brief.gateway.disconnect({ userId: 'ann' });
    await kept(brief);
    brief.gateway.disconnect({ userId: 'ben' });
    await until(async () => !JSON.stringify(await kept(brief)).includes('ann'));
  });

  it('names nobody who was erased, and says that somebody was', async () => {
    const started = await start();
    const { gateway, url } = started;
    for (const who of ['ann', 'ben']) {
      await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as(who));
      await post(`${url}/take-over`, { sessionId: 'main' }, as(who));
    }
    expect(await kept(started)).to.have.length(2);
    await gateway.erase({ user: { id: 'ann' } });
    const rows = await kept(started);
    expect(rows.map(({ api }) => api.operation)).to.deep.equal(['take-over', 'erase']);
    expect(JSON.stringify(rows)).not.to.contain('ann');
    expect(rows[1]!.resources[0].uid).to.match(/^erased:[\w-]{43}$/);
  });

  it('holds up nobody while the store is away, is said once, and is written when it is back', async () => {
    const inner = memoryStore();
    let isAway = true;
    const changeRecords = inner.changeRecords.bind(inner);
    const store = Object.assign(inner, {
      changeRecords(...given: Parameters<typeof changeRecords>) {
        if (isAway && given[0].scope === '~audit') throw new StoreError('UNAVAILABLE', 'Away');
        return changeRecords(...given);
      },
    });
    const started = await start({ store });
    const { gateway, log } = started;
    for (const who of ['ann', 'ben']) {
      gateway.disconnect({ userId: who });
      await new Promise(setImmediate);
    }
    const said = () => log.lines.filter(({ message }) => message.startsWith('the audit trail cannot'));
    await until(() => said().length > 0);
    expect(await kept(started)).to.deep.equal([]);
    expect(said()).to.have.length(1);
    isAway = false;
    await until(async () => (await kept(started)).length === 2);
  });
});
