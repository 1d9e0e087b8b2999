import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import {
  createGateway,
  defineApp,
  type Gateway,
  isGatewayError,
  type SessionHandle,
  tool,
} from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { ConfirmPolicy } from '../../shared/approvals.js';
import type { GatewayEvent } from '../../shared/events.js';
import { type TestGateway, testGateway } from '../../testing/index.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';

const SENDER = { id: 'sue' };
/** A user of that name, who holds these roles. All of them share the sessions. */
const person = (id: string, ...roles: string[]) => ({ id, roles });

const failing = async (work: Promise<unknown>): Promise<any> =>
  work.then(
    () => expect.fail('was not refused'),
    (error: unknown) => error,
  );

interface Asked {
  readonly kit: TestGateway<Gateway<any, any, any>>;
  readonly callId: string;
  readonly question: any;
  readonly effects: unknown[];
  readonly events: GatewayEvent[];
  as(user: { readonly id: string; readonly roles?: readonly string[] }): SessionHandle;
  vote(
    user: { readonly id: string; readonly roles?: readonly string[] },
    approved?: boolean,
    more?: object,
  ): Promise<void>;
  /** The first event of a type, once there is one. */
  until(type: string): Promise<any>;
  types(): string[];
  /** The acts that were noted for audits, and by which door. */
  readonly acts: (readonly [act: string, door: string, about: unknown])[];
}

/** Sends a message whose answer calls a tool that asks by a policy. */
async function ask(
  confirm: any,
  options: { readonly clock?: boolean; readonly resumable?: boolean } = {},
): Promise<Asked> {
  const effects: unknown[] = [];
  const pay = tool({
    confirm,
    handler: (input) => {
      effects.push(input);
      return 'paid';
    },
  });
  const app = defineApp({
    tools: { pay },
    resumable: options.resumable ?? false,
    run: async (turn: any) =>
      turn.callTool('pay', { amount: 7 }).catch((error: Error) => `failed: ${error.message}`),
  } as any);
  const kit = (await testGateway({
    app,
    sessionScope: 'global',
    clock: options.clock ?? false,
  })) as unknown as Asked['kit'];
  closeLater(kit, (it) => it.close());
  const acts: Asked['acts'] = [];
  kit.gateway.on('audit', ({ act, door, about }) => void acts.push([act, door, about]));
  const as: Asked['as'] = (user) => kit.gateway.session('main', { user });
  const events: GatewayEvent[] = [];
  const waiting = new Set<() => void>();
  void (async () => {
    for await (const event of kit.client({ user: SENDER }).events('main', { from: 'earliest' })) {
      events.push(event as GatewayEvent);
      for (const wake of waiting) wake();
    }
  })().catch(() => {});
  const until: Asked['until'] = (type) =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = events.find((event) => event.type === type);
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  await as(SENDER).send('pay').accepted;
  const question = await until('tool_confirmation_required');
  const { callId } = question;
  return {
    ...{ kit, callId, question, effects, events, as, until, acts },
    vote: (user, approved = true, more = {}) => as(user).respond(callId, { approved, ...more }),
    types: () => events.map(({ type }) => type).filter((type) => type.startsWith('tool_confirmation')),
  };
}

const AGREE = { roles: ['finance'], approvals: 2, notBy: 'sender' } as const;

describe('a confirmation with a policy', () => {
  it('is asked with its policy, which the state has too', async () => {
    const { kit, question } = await ask({ ...AGREE, message: 'Pay?' });
    const { inputHash, ...policy } = question.policy;
    expect(question.message).to.equal('Pay?');
    expect(policy).to.deep.equal(AGREE);
    // printf '{"amount":7}' | openssl dgst -sha256 -binary | basenc --base64url, without its padding
    expect(inputHash).to.equal('-2YyvWZR_zV0dFfX1qqz9dkf-FIfWnn3OCxBLaXvCBs');
    const { pending } = await kit.client({ user: SENDER }).session('main').state();
    expect(pending[0]!.policy).to.deep.equal(question.policy);
  });

  it('is decided by the vote that makes enough of them, and each is an event', async () => {
    const { vote, until, effects, types, kit } = await ask(AGREE);
    await vote(person('ann', 'finance'), true, { reason: 'ok' });
    const { pending } = await kit.client({ user: SENDER }).session('main').state();
    expect(pending[0]!.votes).to.deep.equal([{ by: 'ann', approved: true, reason: 'ok' }]);
    expect(effects).to.deep.equal([]);
    await vote(person('bob', 'finance'));
    const result = await until('tool_confirmation_result');
    expect(result).to.deep.include({ approved: true, by: 'bob' });
    expect(result.votes).to.deep.equal([
      { by: 'ann', approved: true, reason: 'ok' },
      { by: 'bob', approved: true },
    ]);
    await until('message_end');
    expect(effects).to.deep.equal([{ amount: 7 }]);
    expect(types()).to.deep.equal([
      'tool_confirmation_required',
      'tool_confirmation_vote',
      'tool_confirmation_vote',
      'tool_confirmation_result',
    ]);
  });

  it('is denied by one', async () => {
    const { vote, until, effects } = await ask(AGREE);
    await vote(person('ann', 'finance'));
    await vote(person('bob', 'finance'), false, { reason: 'too much' });
    expect(await until('tool_confirmation_result')).to.deep.include({ approved: false, reason: 'too much' });
    const { message } = await until('message_end');
    expect(message.content.at(-1).text).to.equal('failed: Denied: too much');
    expect(effects).to.deep.equal([]);
  });

  it('is noted as decided by a person, also by one who is called as the gateway is', async () => {
    const { vote, until, acts } = await ask({ approvals: 1 });
    await vote(person('gateway'));
    await until('message_end');
    expect(acts.map(([act]) => act)).to.deep.equal(['open-approval', 'tool-response']);
  });

  it('counts the first vote of a person alone', async () => {
    const { vote, types } = await ask(AGREE);
    const ann = person('ann', 'finance');
    await Promise.all([vote(ann), vote(ann), vote(ann, true, { reason: 'again' })]);
    await vote(ann, false);
    expect(types()).to.deep.equal(['tool_confirmation_required', 'tool_confirmation_vote']);
  });

  it('refuses whoever has no role for it, and the sender, and logs nothing of that', async () => {
    const { vote, types } = await ask(AGREE);
    const noRole = await failing(vote(person('eve', 'sales')));
    expect(noRole).to.include({ code: 'GUARD_DENIED', guardType: 'role', status: 403 });
    const sender = await failing(vote(person('sue', 'finance')));
    expect(sender).to.include({ code: 'GUARD_DENIED', guardType: 'custom' });
    expect(await failing(vote({ id: 'eve' }, false))).to.include({ code: 'GUARD_DENIED' });
    expect(types()).to.deep.equal(['tool_confirmation_required']);
  });

  it('refuses a vote on another input, and one that changes it for others', async () => {
    const { vote, question } = await ask(AGREE);
    const ann = person('ann', 'finance');
    const other = await failing(vote(ann, true, { inputHash: 'x'.repeat(43) }));
    expect(other).to.deep.include({ code: 'INVALID_PARAMS', status: 400 });
    expect(other.details[0].path).to.equal('inputHash');
    const changed = await failing(vote(ann, true, { input: { amount: 1 } }));
    expect(changed.details[0].path).to.equal('input');
    await vote(ann, true, { inputHash: question.policy.inputHash });
  });

  it('lets one who decides alone change the input', async () => {
    const { vote, until, effects } = await ask({ roles: ['finance'] });
    await vote(person('ann', 'finance'), true, { input: { amount: 1 } });
    expect((await until('tool_confirmation_result')).input).to.deep.equal({ amount: 1 });
    await until('message_end');
    expect(effects).to.deep.equal([{ amount: 1 }]);
  });

  for (const [onExpiry, approved] of [
    ['deny', false],
    ['approve', true],
  ] as const)
    it(`decides without people when its time is over: ${onExpiry}`, async () => {
      const { vote, kit, until, effects, callId, acts } = await ask(
        { ...AGREE, expiresInMs: 60_000, onExpiry },
        { clock: true },
      );
      await vote(person('ann', 'finance'));
      await kit.clock.advance(61_000);
      expect(await until('tool_confirmation_result')).to.deep.include({
        ...{ callId, approved, by: 'gateway', expired: true, reason: 'expired' },
        votes: [{ by: 'ann', approved: true }],
      });
      await until('message_end');
      expect(effects).to.have.length(approved ? 1 : 0);
      expect(acts).to.deep.equal([
        ['open-approval', 'gateway', { callId }],
        ['tool-response', 'host', { callId, approved: true }],
        ['expire-approval', 'gateway', { callId, approved }],
      ]);
      expect(await failing(vote(person('bob', 'finance')))).to.include({ code: 'ALREADY_ANSWERED' });
    });

  it('ends the run when its time is over: abort', async () => {
    const { kit, until, effects, events, acts } = await ask(
      { expiresInMs: 60_000, onExpiry: 'abort' },
      { clock: true },
    );
    await kit.clock.advance(61_000);
    expect(await until('message_end')).to.include({ stopReason: 'aborted' });
    const at = (type: string) => events.findIndex((event) => event.type === type);
    expect(events[at('tool_confirmation_result')]).to.deep.include({ approved: false, expired: true });
    expect(at('tool_confirmation_result')).to.be.below(at('message_end'));
    expect(effects).to.deep.equal([]);
    expect(acts.map(([act]) => act)).to.deep.equal(['open-approval', 'expire-approval']);
    // The session is free.
    const next = kit.gateway.session('main', { user: SENDER }).send('pay');
    await next.accepted;
  });

  it('lets others vote from a time on', async () => {
    const policy: ConfirmPolicy = {
      ...AGREE,
      approvals: 1,
      expiresInMs: 60_000,
      escalate: { afterMs: 10_000, roles: ['cfo'] },
    };
    const { vote, kit, until, question, effects, acts } = await ask(policy, { clock: true });
    expect(question.policy).to.deep.include({ onExpiry: 'deny', escalateRoles: ['cfo'] });
    expect(question.policy.escalateAt - question.ts).to.be.closeTo(10_000, 100);
    expect(await failing(vote(person('cleo', 'cfo')))).to.include({ code: 'GUARD_DENIED' });
    await kit.clock.advance(11_000);
    expect(await until('tool_confirmation_escalated')).to.deep.include({ roles: ['cfo'] });
    expect((await kit.client({ user: SENDER }).session('main').state()).pending[0]!.escalated).to.equal(true);
    await vote(person('cleo', 'cfo'));
    await until('message_end');
    expect(acts.map(([act, door]) => `${act} ${door}`)).to.deep.equal([
      ...['open-approval gateway', 'tool-response host', 'escalate-approval gateway', 'tool-response host'],
    ]);
    expect(effects).to.have.length(1);
  });

  it('keeps its votes through the end of the process, and the count goes on', async () => {
    const { vote, kit, until, effects, types } = await ask(AGREE, { resumable: true });
    await vote(person('ann', 'finance'));
    await kit.kill();
    await vote(person('ann', 'finance'));
    await vote(person('bob', 'finance'));
    expect((await until('tool_confirmation_result')).votes.map(({ by }: any) => by)).to.deep.equal([
      'ann',
      'bob',
    ]);
    await until('message_end');
    expect(effects).to.have.length(1);
    expect(types().filter((type) => type.endsWith('required'))).to.have.length(1);
  });

  it('is decided when a gateway is there again, where its time was over before', async () => {
    const effects: string[] = [];
    const pay = tool({ confirm: { expiresInMs: 150 }, handler: () => effects.push('paid') });
    const app = defineApp({
      resumable: true,
      tools: { pay },
      run: async (turn: any) => turn.callTool('pay', {}).catch((error: Error) => error.message),
    } as any);
    const path = join(tempDir(), 'sessions.db');
    const open = async () => {
      const gateway = createGateway({
        ...{ app, embedded: true, auth: { type: 'none' }, store: sqliteStore({ path }) },
        limits: { drainMs: 20 },
      });
      closeLater(gateway, (it) => it.close());
      await gateway.start();
      return { gateway, session: gateway.session('main', { anonymous: true }) };
    };
    const before = await open();
    const run = before.session.send('pay');
    for await (const event of run) if (event.type === 'tool_confirmation_required') break;
    const { runId } = await run.accepted;
    await before.gateway.close();
    await delay(200);
    const { session } = await open();
    const { message } = await session.run(runId).result;
    expect(message.content.at(-1)).to.deep.include({ text: 'Denied: expired' });
    expect(effects).to.deep.equal([]);
  });

  it('names the field of a policy that is none, when the app is defined', () => {
    const wrong: readonly (readonly [any, string])[] = [
      [{ approvals: 0 }, 'approvals'],
      [{ approvals: 1.5 }, 'approvals'],
      [{ approvals: 17 }, 'approvals'],
      [{ expiresInMs: 0 }, 'expiresInMs'],
      [{ expiresInMs: Number.POSITIVE_INFINITY }, 'expiresInMs'],
      [{ onExpiry: 'deny' }, 'onExpiry'],
      [{ expiresInMs: 5, onExpiry: 'wait' }, 'onExpiry'],
      [{ roles: [] }, 'roles'],
      [{ roles: [''] }, 'roles.0'],
      [{ notBy: 'anybody' }, 'notBy'],
      [{ escalate: { afterMs: -1, roles: ['cfo'] } }, 'escalate.afterMs'],
      [{ escalate: { afterMs: 5, roles: [] } }, 'escalate.roles'],
      [{ expiresInMs: 5, escalate: { afterMs: 5, roles: ['cfo'] } }, 'escalate.afterMs'],
      [{ approvers: 2 }, 'approvers'],
    ];
    for (const [confirm, field] of wrong) {
      try {
        defineApp({ tools: { pay: tool({ confirm, handler: () => 1 }) }, run: async () => '' });
        expect.fail(`took ${field}`);
      } catch (error) {
        expect(isGatewayError(error) && error.code, field).to.equal('INVALID_PARAMS');
        expect((error as any).details[0].path).to.equal(`tools.pay.confirm.${field}`);
      }
    }
  });

  it('is not decided by whom the run has heard, be it on the way or before a person handed back', async () => {
    const asked: string[] = [];
    const heard = new Map<string, () => void>();
    const app = defineApp({
      async run(turn) {
        asked.push(turn.text);
        if (turn.text === 'wait') {
          await new Promise<void>((resolve) => heard.set('steered', resolve));
          turn.steered();
        }
        const { approved } = await turn.confirm({ name: 'pay', approvals: 1, notBy: 'sender' });
        return approved ? 'paid' : 'not paid';
      },
    });
    const kit = await testGateway({ app, sessionScope: 'global' });
    closeLater(kit, (it) => it.close());
    const as = (id: string, name: string) => kit.gateway.session(name, { user: { id } });
    const pending = async (name: string): Promise<string> => {
      for (;;) {
        const state = await kit.client({ user: SENDER }).session(name).state();
        if (state.pending[0]) return state.pending[0].callId;
        await delay(1);
      }
    };
    const refused = async (id: string, name: string, callId: string) =>
      (await failing(as(id, name).respond(callId, { approved: true }))).code;

    const run = as('fay', 'steered').send('wait');
    await run.accepted;
    await as('hal', 'steered').send('pay him', { onBusy: 'steer' }).accepted;
    while (!heard.has('steered')) await delay(1);
    heard.get('steered')!();
    const first = await pending('steered');
    for (const id of ['fay', 'hal']) expect(await refused(id, 'steered', first)).to.equal('GUARD_DENIED');
    await as('ivy', 'steered').respond(first, { approved: true });
    await run.result;

    await as('hal', 'handed').send('hello').accepted;
    await pending('handed');
    await kit.gateway.execute('take-over', { sessionId: 'handed' }, { user: { id: 'hal' } });
    await as('fay', 'handed').send('pay me').accepted;
    await kit.gateway.execute('hand-back', { sessionId: 'handed', answer: true }, { user: { id: 'hal' } });
    const second = await pending('handed');
    expect(asked.at(-1)).to.equal('pay me');
    for (const id of ['fay', 'hal']) expect(await refused(id, 'handed', second)).to.equal('GUARD_DENIED');
    await as('ivy', 'handed').respond(second, { approved: true });
  });

  it('is that of turn.confirm as well, which is told of the votes', async () => {
    const told: any[] = [];
    const app = defineApp({
      async run(turn) {
        told.push(
          await turn
            .confirm({ name: 'x', approvals: 0 })
            .catch((error: any) => [error.code, error.details[0].path]),
        );
        told.push(await turn.confirm({ name: 'deploy', input: { to: 'live' }, approvals: 2 }));
        told.push(await turn.confirm({ name: 'late', expiresInMs: 1, onExpiry: 'approve' }));
        return 'done';
      },
    });
    await using kit = await testGateway({ app, sessionScope: 'global' });
    const run = kit.gateway.session('main', { user: SENDER }).send('go');
    for await (const event of run) {
      if (event.type !== 'tool_confirmation_required' || event.name === 'late') continue;
      // By the client as well as by host code.
      await kit.client({ user: 'ann' }).session('main').approve(event);
      await kit.client({ user: 'bob' }).session('main').approve(event);
    }
    const votes = ['ann', 'bob'].map((by) => ({ by, approved: true }));
    expect(told).to.deep.equal([
      ['INVALID_PARAMS', 'approvals'],
      { approved: true, votes },
      { approved: true, reason: 'expired', votes: [], expired: true },
    ]);
  });

  it('is refused to a client with the code', async () => {
    const { kit, callId } = await ask(AGREE);
    const session = kit.client({ user: person('eve', 'sales') }).session('main');
    expect(await failing(session.approve(callId))).to.include({ code: 'GUARD_DENIED', guardType: 'role' });
    expect(await failing(session.deny(callId))).to.include({ code: 'GUARD_DENIED', guardType: 'role' });
  });

  it('without any of it decides as before', async () => {
    const { question, vote, types, until } = await ask({ message: 'Pay?' });
    expect(question).not.to.have.property('policy');
    await vote({ id: 'anybody' });
    expect(await until('tool_confirmation_result')).not.to.have.property('votes');
    expect(types()).to.deep.equal(['tool_confirmation_required', 'tool_confirmation_result']);
  });
});
