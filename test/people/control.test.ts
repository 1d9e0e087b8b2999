import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import type { EventOf, GatewayEvent } from '../../shared/events.js';
import { echo, halting } from '../support/apps.js';
import { failure } from '../support/client.js';
import { post } from '../support/gateway.js';
import { until } from '../support/until.js';
import { as } from '../support/users.js';
import { said, startShared } from './support.js';

const isMoved = (event: GatewayEvent): event is EventOf<'control_moved'> => event.type === 'control_moved';
const saidIn = async ({ session }: { session: { history(): Promise<any> } }): Promise<string[]> =>
  (await session.history()).messages.map(said);

describe('control of a session', () => {
  it('ends in one append what runs and what waits, whose messages stay, and nothing of it comes behind', async () => {
    const { app, began, held } = halting();
    const { ann, guest, upTo } = await startShared(app);
    const run = guest.session.send('one');
    await began.passed;
    const waits = guest.session.send('two');
    await waits.accepted;
    const control = await ann.takeOver({ reason: 'A refund' });
    expect(control).to.deep.include({ by: 'ann', reason: 'A refund' });
    held.open();
    expect((await run.result).stopReason).to.equal('taken_over');
    expect((await waits.result).stopReason).to.equal('taken_over');
    const seen = await upTo(isMoved);
    expect(seen.slice(-3).map(({ type }) => type)).to.deep.equal([
      'message_end',
      'message_end',
      'control_moved',
    ]);
    expect(seen.at(-1)).to.deep.include({ to: 'ann', by: 'ann', reason: 'A refund' });
    await ann.session.update({ title: 'marks a place' });
    const behind = await upTo(({ type }) => type === 'session_updated');
    expect(behind.map(({ type }) => type)).to.deep.equal(['session_updated']);
    expect(await saidIn(guest)).to.deep.equal([
      'user guest: one',
      'assistant taken_over: one begins ',
      'user guest: two',
    ]);
    expect((await guest.session.state()).control).to.deep.include({ by: 'ann', reason: 'A refund' });
  });

  it('has the person answer, keeps what others say, and hands the last of it to the app', async () => {
    const { ann, guest, upTo } = await startShared(echo);
    await guest.session.send('help').result;
    await ann.takeOver();
    const answered = await ann.session.send('This is Ann').result;
    expect(answered).to.include({ stopReason: 'taken_over' });
    expect((await guest.session.send('thanks').result).stopReason).to.equal('taken_over');
    const { runId } = await ann.handBack({ note: 'Refunded', answer: true });
    const seen = await upTo((event) => event.type === 'message_end' && event.runId === runId);
    const at = seen.findLastIndex(isMoved);
    expect(seen[at]).to.deep.include({ to: null, by: 'ann', note: 'Refunded' });
    expect(seen.slice(at + 1, at + 3)).to.containSubset([
      { type: 'message_accepted', runId },
      { type: 'message_start', runId },
    ]);
    expect(await saidIn(guest)).to.deep.equal([
      'user guest: help',
      'assistant end: echo: help',
      'operator ann: This is Ann',
      'user guest: thanks',
      'assistant end: echo: thanks',
    ]);
    expect(await guest.session.state()).to.not.have.property('control');
  });

  it('is one person’s: the other is told who has it, and who has it keeps it', async () => {
    const { ann, ben } = await startShared(echo);
    await ann.session.send('hi').result;
    const race = await Promise.allSettled([ann.takeOver(), ben.takeOver()]);
    const [won, lost] = race[0]!.status === 'fulfilled' ? [ann, ben] : [ben, ann];
    const by = won === ann ? 'ann' : 'ben';
    expect(race.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(await failure(lost.takeOver())).to.deep.include({
      code: 'CONTROL_TAKEN',
      status: 409,
      details: { by },
    });
    expect(await failure(lost.handBack())).to.deep.include({ code: 'CONTROL_TAKEN', details: { by } });
    const first = await won.takeOver();
    expect(await won.takeOver()).to.deep.equal(first);
    expect(await won.takeOver({ untilMs: 60_000 })).to.have.property('until');
    await won.handBack();
    expect(await won.handBack()).to.deep.equal({});
    expect(await lost.takeOver()).to.include({ by: by === 'ann' ? 'ben' : 'ann' });
  });

  it('begins no run for an edit, another answer, a branch or a schedule', async () => {
    const { url, ann, guest, upTo } = await startShared(echo, { limits: { scheduleMinMs: 1 } });
    const { message } = await guest.session.send('one').accepted;
    await ann.takeOver();
    const { messages } = await guest.session.history();
    for (const refused of [
      guest.session.edit(message.id, 'two').accepted,
      guest.session.regenerate().accepted,
      guest.session.send('two', { parent: null }).accepted,
    ])
      expect(await failure(refused)).to.deep.include({ code: 'TAKEN_OVER', details: { by: 'ann' } });
    expect((await guest.session.history()).messages).to.deep.equal(messages);
    const scheduled = { sessionId: 'main', id: 'soon', message: 'Now', at: Date.now() };
    expect((await post(`${url}/schedule`, scheduled, as('guest'))).status).to.equal(200);
    const fired = (await upTo(({ type }) => type === 'schedule_fired')).at(-1);
    expect(fired).to.include({ id: 'soon', skipped: 'taken_over' });
    const behind = { parent: messages.at(-1)!.id };
    expect((await guest.session.send('at the end', behind).result).stopReason).to.equal('taken_over');
  });

  it('falls back to the app when its time is over, and not before where it was prolonged', async () => {
    const { ann, guest, upTo } = await startShared(echo);
    await guest.session.send('hi').result;
    await ann.takeOver({ untilMs: 60_000 });
    const { until: until1 } = await ann.takeOver({ untilMs: 80 });
    expect(until1).to.be.a('number');
    const moved = (await upTo((event) => isMoved(event) && event.to === null)).at(-1);
    expect(moved).to.deep.include({ to: null, by: 'gateway', expired: true });
    expect((await guest.session.send('there?').result).stopReason).to.equal('end');
  });

  it('comes once for each send under a key, and its message once', async () => {
    const { ann, guest } = await startShared(echo);
    await guest.session.send('hi').result;
    await ann.takeOver();
    const key = { idempotencyKey: 'same' };
    const [one, two] = await Promise.all([
      ann.session.send('hello', key).result,
      ann.session.send('hello', key).result,
    ]);
    expect(one!.runId).to.equal(two!.runId);
    const { message } = await ann.session.send('hello', key).accepted;
    expect(said(message)).to.equal('operator ann: hello');
    expect((await saidIn(guest)).slice(-1)).to.deep.equal(['operator ann: hello']);
    expect(await saidIn(guest)).to.have.length(3);
  });

  it('drops what a tool, a step, a question or a channel of the run still says', async () => {
    const { app, began, held } = lateApp();
    const { ann, guest, upTo } = await startShared(app);
    const run = guest.session.send('work');
    await began.passed;
    await until(async () => (await guest.session.state()).pending.length === 1);
    await ann.takeOver();
    held.open();
    await run.result;
    await app.over;
    const asked = await failure(guest.session.approve('asked'));
    expect(asked.code).to.be.oneOf(['ALREADY_ANSWERED', 'CALL_NOT_FOUND']);
    await ann.session.update({ title: 'marks a place' });
    const seen = await upTo(({ type }) => type === 'session_updated');
    expect(seen.slice(seen.findIndex(isMoved) + 1).map(({ type }) => type)).to.deep.equal([
      'session_updated',
    ]);
    expect((await guest.session.state()).pending).to.deep.equal([]);
  });

  it('is asked for by an app, whose run ends with that, until somebody takes over', async () => {
    const app = defineApp({
      async *run(turn) {
        yield 'Let me get somebody.';
        turn.handOff({ reason: 'A refund', roles: ['support'] });
        yield 'never said';
      },
    });
    const { ann, guest, upTo } = await startShared(app);
    const result = await guest.session.send('refund').result;
    expect(said(result.message)).to.equal('assistant: Let me get somebody.');
    expect(result.stopReason).to.equal('handed_off');
    const seen = await upTo(({ type }) => type === 'message_end');
    const { runId } = result;
    expect(seen.at(-2)).to.deep.include({
      type: 'hand_off_requested',
      reason: 'A refund',
      roles: ['support'],
      runId,
    });
    expect((await guest.session.state()).handOff).to.deep.include({
      reason: 'A refund',
      roles: ['support'],
      runId,
    });
    await ann.takeOver();
    expect(await guest.session.state()).to.not.have.property('handOff');
  });

  describe('refuses, naming the field, and moves nothing', () => {
    const cases: readonly (readonly [string, string, object, string])[] = [
      ['a reason that is too long', 'take-over', { reason: 'x'.repeat(99) }, 'reason'],
      ['no reason', 'take-over', { reason: '' }, 'reason'],
      ['a time that is past', 'take-over', { untilMs: 0 }, 'untilMs'],
      ['more than a year', 'take-over', { untilMs: 1e12 }, 'untilMs'],
      ['a note that is too long', 'hand-back', { note: 'x'.repeat(99) }, 'note'],
      ['an answer that is none', 'hand-back', { answer: 'yes' }, 'answer'],
    ];
    for (const [name, operation, params, path] of cases)
      it(name, async () => {
        const { url, ann } = await startShared(echo, { limits: { noteLength: 50 } });
        await ann.session.send('hi').result;
        const { status, body } = await post(
          `${url}/${operation}`,
          { sessionId: 'main', ...params },
          as('ann'),
        );
        expect([status, body.error.code]).to.deep.equal([400, 'INVALID_PARAMS']);
        expect(body.error.details[0].path).to.equal(path);
        expect(await ann.session.state()).to.not.have.property('control');
      });

    it('a session that has not begun', async () => {
      const { ann } = await startShared(echo);
      expect(await failure(ann.takeOver())).to.include({ code: 'SESSION_NOT_FOUND' });
    });

    it('whoever `sessionAccess` does not let', async () => {
      const { ann, guest } = await startShared(echo, {
        sessionAccess: (user, _session, operation) => user.id !== 'guest' || operation !== 'take-over',
      });
      await guest.session.send('hi').result;
      expect(await failure(guest.takeOver())).to.include({ code: 'SESSION_NOT_FOUND' });
      expect(await ann.takeOver()).to.include({ by: 'ann' });
    });
  });
});

/** Does all that a run can, once it is over. */
function lateApp() {
  const { app: _, began, held } = halting();
  let done!: () => void;
  const over = new Promise<void>((resolve) => {
    done = resolve;
  });
  const app = defineApp({
    tools: { look: tool({ description: 'Looks', handler: () => 'seen' }) },
    async *run(turn) {
      yield 'begins ';
      turn.confirm({ name: 'pay', input: {}, callId: 'asked' }).catch(() => {});
      began.open();
      await held.passed;
      turn.callTool('look', {}).catch(() => {});
      turn.step('late', () => 1).catch(() => {});
      turn.ask({ name: 'more' }).catch(() => {});
      turn.data('card', { late: true });
      turn.title('late');
      turn.publish('news', 'late');
      turn.emit('late', 1);
      turn.usage({ totalTokens: 1 });
      turn.handOff();
      await new Promise(setImmediate);
      done();
      yield 'late';
    },
  });
  return { app: Object.assign(app, { over }), began, held };
}
