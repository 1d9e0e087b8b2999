import { expect } from 'chai';
import fc from 'fast-check';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { cases } from '../support/fuzz.js';

const at = { sessionId: 'main', ts: 1 };
const message = (id: string, role: Message['role'] = 'user', text = id): Message => ({
  id,
  role,
  content: [{ type: 'text', text }],
  createdAt: 1,
});
const accepted = (runId: string, position = 0, more: object = {}): GatewayEvent =>
  ({
    type: 'message_accepted',
    ...at,
    cursor: `c-${runId}`,
    runId,
    message: message(`q-${runId}`),
    onBusy: 'queue',
    position,
    ...more,
  }) as GatewayEvent;
const started = (runId: string): GatewayEvent => ({
  type: 'message_start',
  ...at,
  cursor: 'c',
  runId,
  messageId: `a-${runId}`,
  app: 'x',
});
const delta = (runId: string, text: string, index = 0, type = 'content_delta'): GatewayEvent =>
  ({ type, ...at, cursor: 'c', runId, delta: text, index }) as GatewayEvent;
const ended = (runId: string, content: Message['content'] = [], more: object = {}): GatewayEvent =>
  ({
    type: 'message_end',
    ...at,
    cursor: 'end',
    runId,
    stopReason: 'end',
    message: { id: `a-${runId}`, role: 'assistant', content, createdAt: 1 },
    ...more,
  }) as GatewayEvent;
const fold = (...events: GatewayEvent[]): SessionState => events.reduce(reduce, initialState);

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

describe('the fold', () => {
  it('grows an answer block by block and ends it as the end says', () => {
    const state = fold(
      accepted('r'),
      started('r'),
      delta('r', 'Hm', 0, 'reasoning_delta'),
      delta('r', 'a', 1),
      delta('r', 'b', 1),
    );
    expect(state.run?.message.content).to.deep.equal([
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'ab' },
    ]);
    expect(state.messages.map(({ id }) => id)).to.deep.equal(['q-r']);
    const done = reduce(state, ended('r', [{ type: 'text', text: 'ab' }]));
    expect(done.run).to.equal(null);
    expect(done.messages.map(({ id }) => id)).to.deep.equal(['q-r', 'a-r']);
    expect(done.cursor).to.equal('end');
  });

  it('keeps the queue in the order that positions tell, and messages that come before others', () => {
    const state = fold(
      accepted('r1'),
      started('r1'),
      accepted('r2', 1),
      accepted('r3', 1),
      accepted('r4', 3, { preceding: [message('p')] }),
    );
    expect(state.queue.map(({ runId }) => runId)).to.deep.equal(['r3', 'r2', 'r4']);
    const next = fold(accepted('r4', 0, { preceding: [message('p')] }), started('r4'));
    expect(next.messages.map(({ id }) => id)).to.deep.equal(['p', 'q-r4']);
  });

  it('withdraws a message whose run never began, and leaves out empty answers', () => {
    expect(fold(accepted('r'), ended('r'))).to.deep.include({ messages: [], queue: [], run: null });
    expect(fold(accepted('r'), started('r'), ended('r')).messages.map(({ id }) => id)).to.deep.equal(['q-r']);
  });

  it('moves a consumed steering message into the history and leaves one that was not', () => {
    const steer = (consumed: boolean): GatewayEvent => ({
      type: 'steer',
      ...at,
      cursor: 'c',
      runId: 's',
      messageId: 'q-s',
      consumed,
    });
    const before = [accepted('r'), started('r'), accepted('s', 1, { onBusy: 'steer' })];
    expect(fold(...before, steer(true)).messages.map(({ id }) => id)).to.deep.equal(['q-r', 'q-s']);
    expect(fold(...before, steer(false)).queue.map(({ runId }) => runId)).to.deep.equal(['s']);
  });

  it('keeps questions until they are answered or their run ends', () => {
    const asks = {
      type: 'input_required',
      ...at,
      cursor: 'c',
      runId: 'r',
      callId: 'k',
      name: 'why',
      payload: 1,
    } as GatewayEvent;
    const confirms = {
      type: 'tool_confirmation_required',
      ...at,
      cursor: 'c',
      runId: 'r',
      callId: 'l',
      name: 'rm',
      input: {},
      message: 'Sure?',
    } as GatewayEvent;
    const asked = fold(accepted('r'), started('r'), asks, confirms);
    expect(asked.pending.map(({ callId, kind }) => `${callId} ${kind}`)).to.deep.equal([
      'k input',
      'l confirmation',
    ]);
    const answered = reduce(asked, {
      type: 'input_result',
      ...at,
      cursor: 'c',
      runId: 'r',
      callId: 'k',
      name: 'why',
      output: 1,
      by: 'u',
    });
    expect(answered.pending.map(({ callId }) => callId)).to.deep.equal(['l']);
    expect(reduce(answered, ended('r')).pending).to.deep.equal([]);
  });

  it('replaces a data block by its id, and forgets the progress of a tool that answered', () => {
    const data = (id: string, value: unknown): GatewayEvent => ({
      type: 'data',
      ...at,
      cursor: 'c',
      runId: 'r',
      id,
      name: 'n',
      value,
    });
    const progress = {
      type: 'tool_progress',
      ...at,
      cursor: 'c',
      runId: 'r',
      callId: 'k',
      value: 1,
      total: 2,
    } as GatewayEvent;
    const result = {
      type: 'tool_result',
      ...at,
      cursor: 'c',
      runId: 'r',
      callId: 'k',
      name: 't',
      output: 1,
      isError: false,
    } as GatewayEvent;
    const state = fold(accepted('r'), started('r'), data('x', 1), data('y', 2), data('x', 3), progress);
    expect(
      state.run?.message.content.map((block) => block.type === 'data' && [block.id, block.value]),
    ).to.deep.equal([
      ['x', 3],
      ['y', 2],
    ]);
    expect(state.run?.progress).to.deep.equal({ k: { value: 1, total: 2 } });
    expect(reduce(state, result).run?.progress).to.deep.equal({});
  });

  it('ignores what belongs to a run that is not the active one', () => {
    const state = fold(accepted('r'), started('r'));
    for (const event of [
      delta('old', 'x'),
      { type: 'run_error', ...at, cursor: 'c', runId: 'old', code: 'X', message: 'x' } as GatewayEvent,
    ]) {
      expect(reduce(state, event)).to.deep.equal({ ...state, cursor: 'c' });
    }
  });

  it('starts from a snapshot, and is closed until a message comes', () => {
    const state = fold(accepted('r'), started('r'));
    expect(fold({ type: 'snapshot', sessionId: 'main', state })).to.deep.equal(state);
    const closed = reduce(state, { type: 'session_closed', ...at, cursor: 'c', reason: 'x' });
    expect(closed).to.deep.include({ closed: true, run: null, queue: [] });
    expect(reduce(closed, accepted('n')).closed).to.equal(false);
  });

  it('takes unknown events, and changes nothing but the cursor', () => {
    const state = fold(accepted('r'), started('r'));
    expect(reduce(state, { type: 'new_in_version_9', cursor: 'later', x: 1 } as never)).to.deep.equal({
      ...state,
      cursor: 'later',
    });
    expect(reduce(state, { type: 'heartbeat' })).to.equal(state);
  });

  it('never changes the state it was given, whatever comes', () => {
    const runs = fc.constantFrom('r1', 'r2', 'r3');
    const event = fc.oneof(
      fc.tuple(runs, fc.nat(3)).map(([runId, position]) => accepted(runId, position)),
      runs.map(started),
      runs.map((runId) => delta(runId, 'x')),
      runs.map((runId) => ended(runId, [{ type: 'text', text: 'x' }])),
      runs.map(
        (runId) =>
          ({
            type: 'steer',
            ...at,
            cursor: 'c',
            runId,
            messageId: `q-${runId}`,
            consumed: true,
          }) as GatewayEvent,
      ),
      runs.map(
        (runId) =>
          ({ type: 'data', ...at, cursor: 'c', runId, id: 'd', name: 'n', value: 1 }) as GatewayEvent,
      ),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const end = events.reduce((state, next) => reduce(freeze(state), freeze(next)), initialState);
        expect(JSON.parse(JSON.stringify(end)), 'plain JSON').to.deep.equal(
          JSON.parse(JSON.stringify(fold(...events))),
        );
      }),
    );
  });

  it('has an answer follow what its run was steered with, and says so while it grows', () => {
    const steered = (runId: string): GatewayEvent[] => [
      accepted(runId, 1, { onBusy: 'steer', preceding: [message(`p-${runId}`)] }),
      { type: 'steer', ...at, cursor: 'c', runId, messageId: `q-${runId}`, consumed: true },
    ];
    const parents = (state: SessionState) => state.messages.map(({ id, parentId }) => [id, parentId]);
    const first = [accepted('r', 0, { preceding: [message('p')] }), started('r')];
    expect(fold(accepted('r')).queue[0]!.message).to.not.have.property('parentId');
    expect(fold(...first).run!.message.parentId).to.equal('q-r');
    const between = fold(...first, ...steered('s'), ...steered('t'));
    expect(between).to.have.nested.property('run.message.parentId', 'q-t');
    expect(between.tip).to.equal('q-t');
    const done = reduce(between, ended('r', [{ type: 'text', text: 'x' }]));
    expect(parents(done)).to.deep.equal([
      ['p', null],
      ['q-r', 'p'],
      ['p-s', 'q-r'],
      ['q-s', 'p-s'],
      ['p-t', 'q-s'],
      ['q-t', 'p-t'],
      ['a-r', 'q-t'],
    ]);
    expect(done.tip).to.equal('a-r');
    const silent = reduce(between, ended('r'));
    expect([silent.tip, silent.messages.length]).to.deep.equal(['q-t', 6]);
  });

  it('goes on behind a tip whose messages are elsewhere', () => {
    const state = { ...initialState, tip: 'old', hasMore: true };
    const next = [accepted('r'), started('r')].reduce(reduce, state);
    expect(next.messages[0]).to.include({ id: 'q-r', parentId: 'old' });
    expect(next).to.include({ tip: 'q-r', hasMore: true });
  });

  it('keeps messages a path to the tip, whatever comes', () => {
    const runs = fc.constantFrom('r1', 'r2', 'r3');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('accept' as const), run: runs, more: fc.nat(2), place: fc.nat(3) }),
      fc.record({
        kind: fc.constantFrom(...(['start', 'delta', 'end', 'empty', 'steer', 'loose'] as const)),
        run: runs,
      }),
      fc.record({ kind: fc.constantFrom('close' as const, 'unknown' as const) }),
      fc.record({ kind: fc.constant('trim' as const), keep: fc.nat(4) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state: SessionState = initialState;
        let n = 0;
        const seen = new Map<string, string | null>();
        for (const each of steps) {
          n += 1;
          const { run = '' } = each as { run?: string };
          const queued = state.queue.find(({ runId }) => runId === run)?.message.id ?? 'none';
          if (each.kind === 'accept') {
            // A message's own idea of what it follows counts for nothing.
            const preceding = Array.from({ length: each.more }, (_, i) => ({
              ...message(`p${n}.${i}`),
              parentId: 'x',
            }));
            const own = { message: { ...message(`q${n}`), parentId: 'y' }, preceding };
            state = reduce(state, accepted(run, each.place, own));
          } else if (each.kind === 'start')
            state = reduce(state, { ...started(run), messageId: `a${n}` } as GatewayEvent);
          else if (each.kind === 'delta') state = reduce(state, delta(run, 'x'));
          else if (each.kind === 'end' || each.kind === 'empty') {
            const content: Message['content'] = each.kind === 'end' ? [{ type: 'text', text: 'x' }] : [];
            const id = state.run?.message.id ?? `a${n}`;
            state = reduce(
              state,
              ended(run, content, {
                message: { id, parentId: 'z', role: 'assistant', content, createdAt: 1 },
              }),
            );
          } else if (each.kind === 'steer' || each.kind === 'loose') {
            const consumed = each.kind === 'steer';
            state = reduce(state, {
              type: 'steer',
              ...at,
              cursor: 'c',
              runId: run,
              messageId: queued,
              consumed,
            });
          } else if (each.kind === 'close') {
            state = reduce(state, { type: 'session_closed', ...at, cursor: 'c', reason: 'x' });
          } else if (each.kind === 'unknown')
            state = reduce(state, { type: 'of_later', ...at, cursor: 'c' } as never);
          else if (each.kind === 'trim') {
            // As a snapshot shows it: some of the last messages, at least one.
            const kept = state.messages.slice(-1 - each.keep);
            const hasMore = (kept[0]?.parentId ?? null) !== null;
            state = reduce(state, {
              type: 'snapshot',
              sessionId: 'main',
              state: { ...state, messages: kept, hasMore },
            });
          }
          const { messages, tip, hasMore } = state;
          expect(messages.at(-1)?.id ?? null).to.equal(tip);
          for (const [i, { parentId }] of messages.entries())
            if (i > 0) expect(parentId).to.equal(messages[i - 1]!.id);
          expect(hasMore).to.equal((messages[0]?.parentId ?? null) !== null);
          if (state.run) expect(state.run.message.parentId).to.equal(tip);
          for (const { id, parentId = 'absent' } of messages) {
            // What a message follows never changes.
            if (seen.has(id)) expect(parentId).to.equal(seen.get(id));
            seen.set(id, parentId);
          }
        }
        const parents = [...seen.values()];
        expect(new Set(parents).size, 'no two messages follow the same one').to.equal(parents.length);
      }),
      { numRuns: cases(500) },
    );
  });

  it('has of reactions the same after all events as after a snapshot and those behind it, some of them again', () => {
    const given = fc.record({
      messageId: fc.constantFrom('q-r', 'a-r'),
      by: fc.constantFrom('ann', 'ben', 'cyd'),
      value: fc.constantFrom('up', 'down', null),
      comment: fc.option(fc.constant('why'), { nil: undefined }),
    });
    const places = { first: fc.nat(30), again: fc.nat(10) };
    fc.assert(
      fc.property(fc.array(given, { maxLength: 30 }), fc.record(places), (all, { first, again }) => {
        const reactions = all.map(
          ({ comment, ...one }, i): GatewayEvent => ({
            ...{ type: 'reaction', sessionId: 'main', ts: i, cursor: `${i}`, ...one },
            ...(comment !== undefined && { comment }),
          }),
        );
        const begun = fold(accepted('r'), started('r'), ended('r'));
        const whole = freeze(reactions.reduce(reduce, begun));
        const part = reactions.slice(0, first).reduce(reduce, begun);
        const rest = reactions.slice(Math.max(0, first - again));
        expect(rest.reduce(reduce, freeze(part)).messages).to.deep.equal(whole.messages);
        for (const { id, reactions: shown = [] } of whole.messages) {
          const last = new Map(
            all.filter(({ messageId }) => messageId === id).map((one) => [one.by, one.value]),
          );
          const expected = [...last].filter(([, value]) => value !== null);
          expect(new Map(shown.map(({ by, value }) => [by, value]))).to.deep.equal(new Map(expected));
          expect(shown.map(({ at: when }) => when)).to.deep.equal(
            [...shown.map((one) => one.at)].sort((a, b) => a - b),
          );
        }
      }),
      { numRuns: cases(300) },
    );
  });

  it('keeps on an answer how its run ended, and an answer without text where it failed', () => {
    const usage = { inputTokens: 1 };
    const half = ended('r', [{ type: 'text', text: 'ha' }], { stopReason: 'aborted', usage });
    expect(fold(accepted('r'), started('r'), half).messages.at(-1)).to.deep.include({
      runId: 'r',
      app: 'x',
      stopReason: 'aborted',
      usage,
      endedAt: 1,
    });
    const error = { code: 'UPSTREAM_FAILED', message: 'No answer' };
    const failed = fold(
      accepted('r'),
      started('r'),
      { type: 'run_error', ...at, cursor: 'c', runId: 'r', ...error },
      ended('r', [], { stopReason: 'error' }),
    );
    expect(failed.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant']);
    expect(failed.messages.at(-1)).to.deep.include({ content: [], stopReason: 'error', error });
  });
});
