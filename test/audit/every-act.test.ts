import { expect } from 'chai';
import type { AuditEntry } from '../../server/diagnostics/index.js';
import { Gateway, type SessionHandle } from '../../server/index.js';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import { OPERATIONS, type OperationName } from '../../shared/operations.js';
import { echo } from '../support/apps.js';
import { alone, startGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

const READS = 'changes nothing';
const TALK = 'is conversation, which the log of the session has, with its people';
const OWN = 'changes what the caller alone has';

/** Operations that are noted nowhere, and why not. */
const UNNOTED: Partial<Record<OperationName, string>> = {
  ...{ send: TALK, append: TALK, regenerate: TALK, move: TALK, abort: TALK, steer: TALK, channel: TALK },
  ...{ react: TALK, update: TALK },
  ...{ presence: OWN, subscribe: OWN, read: OWN, push: OWN, ticket: OWN },
  ...{ run: READS, history: READS, sessions: READS, apps: READS, status: READS, methods: READS },
  ...{ openapi: READS, grants: READS, schedules: READS, notices: READS, inbox: READS, search: READS },
  usage: READS,
  invoke: "is a method of the host's own, which notes what it does",
};

const ALICE = { id: 'alice' };
const HANDED = 'hands on a request, whose operation is noted or not';
const PART = 'is a part of the process and no act on data';
const MAINTAINS = 'finishes what an erasure has done, which is noted';

interface Host {
  readonly gateway: Gateway<any, any, any>;
  readonly session: SessionHandle;
  readonly messageId: string;
}
/** What host code does, with the name of its act. */
type Done = readonly [act: string, work: (host: Host) => unknown];

const drained = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
};
const BUDGET = { name: 'b', per: 'app', period: 'ever', limit: { tokens: 1 }, reached: 'stop' } as const;

/** Every call of a gateway: why it is noted nowhere, or its act. */
const OF_GATEWAY: Readonly<Record<string, string | Done>> = {
  ...{ constructor: PART, start: PART, close: PART, use: PART, on: PART, id: PART, app: PART, stats: READS },
  ...{ appNames: READS, defaultApp: READS, sessions: READS, held: READS, usage: READS },
  ...{ failedNotices: READS, deadWork: READS },
  ...{ handleRequest: HANDED, tryRequest: HANDED, handleOperation: HANDED, execute: HANDED },
  ...{ handleUpgrade: HANDED, tryUpgrade: HANDED, desk: HANDED, session: HANDED },
  ...{ deploys: READS, budgets: 'is looked at below', vacuum: MAINTAINS },
  disconnect: ['disconnect', ({ gateway }) => gateway.disconnect(ALICE)],
  erase: ['erase', ({ gateway }) => gateway.erase('none', { user: ALICE })],
  export: ['export', ({ gateway }) => drained(gateway.export('main', { user: ALICE }))],
  import: ['import', ({ gateway }) => gateway.import('new', [{ content: 'hi' }], { user: ALICE })],
  backup: ['backup', ({ gateway }) => gateway.backup('/nowhere')],
  resendNotice: ['resend-notice', ({ gateway }) => gateway.resendNotice('none')],
  retryWork: ['retry', ({ gateway }) => gateway.retryWork('none')],
};

const OF_BUDGETS: Readonly<Record<string, string | Done>> = {
  list: READS,
  set: ['set-budget', ({ gateway }) => gateway.budgets.set(BUDGET)],
  unset: ['unset-budget', ({ gateway }) => gateway.budgets.unset('b')],
};

const OF_SESSION: Readonly<Record<string, string | Done>> = {
  ...{ id: READS, run: READS, events: READS, history: READS, status: READS, grants: READS },
  ...{ schedules: READS, search: READS },
  ...{ send: TALK, append: TALK, regenerate: TALK, move: TALK, abort: TALK, update: TALK, channel: TALK },
  compact: 'is a run, which has its own line',
  notify: "is the host's own message to a person",
  fork: ['fork', ({ session }) => session.fork('other')],
  respond: ['tool-response', ({ session }) => session.respond('none', { approved: true })],
  share: ['share', ({ session }) => session.share({ with: { userId: 'ben' }, as: 'viewer' })],
  unshare: ['unshare', ({ session }) => session.unshare('none')],
  schedule: ['schedule', ({ session }) => session.schedule({ message: 'x', every: '0 9 * * *' })],
  unschedule: ['unschedule', ({ session }) => session.unschedule('none')],
  export: ['export', ({ session }) => drained(session.export())],
  retract: ['retract', ({ session, messageId }) => session.retract(messageId, { by: 'office' })],
  import: ['import', ({ session }) => session.import([{ content: 'hi' }])],
  close: ['close', ({ session }) => session.close()],
  delete: ['delete', ({ session }) => session.delete()],
};

async function start() {
  const started = await startGateway({ app: echo, auth: byName, ...alone() });
  const entries: AuditEntry[] = [];
  started.gateway.on('audit', (entry) => void entries.push(entry));
  const session = started.gateway.session('main', { user: ALICE });
  await session.send('hi').result;
  const messageId = (await session.history()).messages[0]!.id;
  return { ...started, entries, session, messageId };
}

describe('every act', () => {
  for (const [name, { http, path }] of Object.entries(OPERATIONS))
    it(`of the operation ${name} is noted, or has a reason why not`, async () => {
      const { url, entries } = await start();
      const { sample, audit } = OPERATION_WORDS[name as OperationName];
      expect(UNNOTED[name as OperationName] === undefined, 'noted or with a reason').to.equal(
        audit !== undefined,
      );
      const query = http === 'GET' ? `?${new URLSearchParams(sample as Record<string, string>)}` : '';
      const response = await fetch(`${url}${path}${query}`, {
        method: http,
        headers: { ...as('alice'), 'content-type': 'application/json' },
        ...(http === 'POST' && { body: JSON.stringify(sample) }),
      });
      await response.text();
      expect(entries.map(({ act, door, by }) => [act, door, by?.id])).to.deep.equal(
        audit ? [[name, 'http', 'alice']] : [],
      );
    });

  for (const [of, calls, there] of [
    ['the gateway', OF_GATEWAY, () => Object.getOwnPropertyNames(Gateway.prototype)],
    ['budgets', OF_BUDGETS, ({ gateway }: Host) => Object.keys(gateway.budgets)],
    ['a session', OF_SESSION, ({ session }: Host) => Object.keys(session)],
  ] as const) {
    it(`of host code on ${of} is looked at here`, async () => {
      expect(Object.keys(calls)).to.have.members(there(await start()));
    });

    for (const [name, done] of Object.entries(calls)) {
      if (typeof done === 'string') continue;
      const [act, work] = done;
      it(`${name} of host code on ${of} is noted`, async () => {
        const host = await start();
        // A refused act is noted too.
        await Promise.resolve(work(host)).catch(() => {});
        expect(host.entries.map(({ act, door }) => [act, door])).to.deep.equal([[act, 'host']]);
      });
    }
  }

  it('has the name of what it is about, and who has it done, and no text', async () => {
    const { gateway, session, messageId, entries } = await start();
    const { id } = await session.schedule({ message: 'a secret', every: '0 9 * * *' });
    await session.unschedule(id);
    await session.retract(messageId, { by: 'office', reason: 'a secret' });
    await gateway.budgets.set(BUDGET, { by: 'controller' });
    await gateway.budgets.unset('b');
    await gateway.budgets.set({ ...BUDGET, name: { evil: true } } as never).catch(() => {});
    expect(entries.map(({ act, by, about, outcome }) => [act, by?.id, about, outcome])).to.deep.equal([
      ['schedule', 'alice', undefined, 'ok'],
      ['unschedule', 'alice', { id }, 'ok'],
      ['retract', 'alice', { messageId, by: 'office' }, 'ok'],
      ['set-budget', 'controller', { name: 'b' }, 'ok'],
      ['unset-budget', undefined, { name: 'b' }, 'ok'],
      ['set-budget', undefined, undefined, 'INVALID_PARAMS'],
    ]);
    expect(entries[2]).to.deep.include({ scope: '[null,"alice"]', sessionId: 'main' });
    expect(JSON.stringify(entries)).not.to.contain('secret');
  });
});
