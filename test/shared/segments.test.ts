import { expect } from 'chai';
import fc from 'fast-check';
import { AskedCalls } from '../../shared/asked-calls.js';
import type { GatewayEvent } from '../../shared/events.js';
import { formatSegment, type Piece, parseSegment, Segmenter } from '../../shared/segments.js';
import { FUZZ } from '../support/fuzz.js';

let seq = 0;
const made = (type: string, rest: object = {}): GatewayEvent =>
  ({ type, runId: 'r', sessionId: 'main', ts: 0, cursor: `c${seq++}`, ...rest }) as unknown as GatewayEvent;
const asks = (callId: string, batch?: string): GatewayEvent =>
  made('input_required', { callId, name: 'q', ...(batch && { batch }) });
const answers = (callId: string): GatewayEvent =>
  made('input_result', { callId, name: 'q', output: 1, by: 'a' });
const says = (delta: string): GatewayEvent => made('content_delta', { delta, index: 0 });

/** What was stored together, in order: each reader sees a group whole or not at all. */
type Log = readonly (readonly GatewayEvent[])[];

/** A reader that is at the head behind these groups, and so may end there. */
function read(log: Log, heads: ReadonlySet<number>, through = false): Piece[] {
  const segmenter = new Segmenter('r', { through });
  return log.flatMap((group, at) => [
    ...group.flatMap((event) => segmenter.take(event)),
    ...(heads.has(at) ? segmenter.head() : []),
  ]);
}

const shape = (pieces: readonly Piece[]): unknown[] =>
  pieces.map((piece) => {
    if (piece.type === 'subagent') return piece.subagent;
    return piece.type === 'pause' ? ['pause', piece.asked, piece.cursor] : piece.event.cursor;
  });

/** A run of several turns: each says something, then asks some questions at once; they are answered in some order, while it goes on saying. */
const runs: fc.Arbitrary<Log> = fc
  .array(fc.record({ said: fc.nat(2), asked: fc.integer({ min: 1, max: 3 }), meanwhile: fc.nat(2) }), {
    maxLength: 4,
  })
  .map((turns) => {
    const log: GatewayEvent[][] = [[made('message_start', { messageId: 'm', app: 'a' })]];
    for (const [at, { said, asked, meanwhile }] of turns.entries()) {
      for (let n = 0; n < said; n++) log.push([says('x')]);
      const calls = Array.from({ length: asked }, (_, n) => `${at}-${n}`);
      log.push(
        calls.flatMap((callId) => [
          made('tool_use', { callId, name: 'q', input: 1 }),
          asks(callId, calls[0]),
        ]),
      );
      for (let n = 0; n < meanwhile; n++) log.push([says('y')]);
      for (const callId of calls) log.push([answers(callId)], [says('z')]);
    }
    log.push([made('message_end', { stopReason: 'end', message: {} })]);
    return log;
  });

/** What a child of the run does meanwhile: a step at a time, between groups of the run. */
const child = (runId: string, parentRunId: string): Log => {
  const of = (type: string, rest: object = {}) => made(type, { runId, ...rest });
  const question = { callId: `${runId}-q`, name: 'q' };
  const message = { id: runId, role: 'assistant', content: [{ type: 'text', text: 'found' }], createdAt: 0 };
  return [
    [of('run_spawned', { parentRunId, lane: 1, messageId: runId, app: 'helper', message })],
    [of('content_delta', { delta: 'fou', index: 0 })],
    [of('input_required', question)],
    [of('content_delta', { delta: 'n'.repeat(80), index: 0 })],
    [of('input_result', { ...question, output: 1, by: 'a' })],
    [of('message_end', { stopReason: 'end', message, parentRunId })],
  ];
};

/** A run with two children, one of which is the other's. Each place says whose group comes next. */
const trees: fc.Arbitrary<Log> = fc
  .tuple(runs, fc.array(fc.constantFrom(0, 1, 2), { maxLength: 60 }), fc.boolean())
  .map(([run, order, loses]) => {
    const [end] = run.at(-1)!;
    // The answer to a question may be its run's end.
    const own = child('c1', 'r').filter((_, at) => !(loses && at === 4));
    const lists = [run.slice(0, -1), own, child('c2', 'c1')].map((list) => [...list]);
    const log: (readonly GatewayEvent[])[] = lists[0]!.splice(0, 1);
    log.push(...lists[1]!.splice(0, 1));
    for (const list of [...order, 1, 2]) log.push(...lists[list]!.splice(0, 1));
    log.push(...lists[2]!, ...lists[1]!, ...lists[0]!, [end!]);
    return log;
  });

describe('segments', () => {
  it('end at the same places for every reader, wherever it was at the head', () => {
    fc.assert(
      fc.property(runs, fc.array(fc.nat(30)), (log, heads) => {
        const replayed = shape(read(log, new Set()));
        expect(shape(read(log, new Set(heads)))).to.deep.equal(replayed);
        expect(shape(read(log, new Set(log.keys())))).to.deep.equal(replayed);
      }),
      { numRuns: 300 * Math.max(1, FUZZ) },
    );
  });

  it('end at the same places, questions of children included, and tell children the same to every reader', () => {
    fc.assert(
      fc.property(trees, fc.array(fc.nat(60)), (log, heads) => {
        const replayed = shape(read(log, new Set()));
        expect(shape(read(log, new Set(heads)))).to.deep.equal(replayed);
        expect(shape(read(log, new Set(log.keys())))).to.deep.equal(replayed);
        const told = read(log, new Set()).flatMap((piece) => ('subagent' in piece ? [piece.subagent] : []));
        for (const runId of ['c1', 'c2']) {
          const of = told.filter((one) => one.runId === runId);
          expect(
            of.map(({ state }) => state).filter((state, at, all) => state !== all[at - 1]),
          ).to.deep.equal(
            of.length > 4 ? ['running', 'waiting', 'running', 'ended'] : ['running', 'waiting', 'ended'],
          );
          expect(of.at(-1)).to.include({ text: 'found', stopReason: 'end', app: 'helper' });
        }
      }),
      { numRuns: 300 * Math.max(1, FUZZ) },
    );
  });

  it('pass a question of a child that has ended without an answer, as one that nobody can answer', () => {
    const log = child('c1', 'r').filter((_, at) => at !== 4);
    const pieces = read(log, new Set([5]), true);
    expect(pieces.flatMap((piece) => ('settled' in piece ? [piece.settled] : []))).to.deep.equal([true]);
    const asked = new AskedCalls('r');
    for (const event of log.flat()) asked.take(event);
    expect(asked.open).to.deep.equal([]);
    expect(asked.batches).to.have.length(1);
  });

  it('hold all of a run and nothing twice', () => {
    fc.assert(
      fc.property(runs, (log) => {
        const events = read(log, new Set()).flatMap((piece) =>
          piece.type === 'event' ? [piece.event.cursor] : [],
        );
        expect(events).to.deep.equal(log.flat().map(({ cursor }) => cursor));
      }),
    );
  });

  it('end behind the last question of a batch, and what was logged behind that is of the next one', () => {
    const log = [[asks('a', 'a'), asks('b', 'a')], [says('later')], [answers('b')], [answers('a')]];
    const pieces = read(log, new Set([0]));
    expect(
      pieces.map((piece) => ('asked' in piece ? piece.asked : 'event' in piece && piece.event.type)),
    ).to.deep.equal([
      'input_required',
      'input_required',
      ['a', 'b'],
      'content_delta',
      'input_result',
      'input_result',
    ]);
  });

  it('end at every question that has no batch', () => {
    const pieces = read([[asks('a'), asks('b')]], new Set([0]));
    expect(pieces.filter(({ type }) => type === 'pause')).to.have.length(2);
  });

  it('are passed through by who reads the whole run, where all was answered, and not where a question is open', () => {
    const log = [[asks('a', 'a'), asks('b', 'a')], [answers('a')], [says('more')]];
    const open = read(log, new Set([2]), true);
    expect(open.at(-1)).to.deep.include({ type: 'pause', passed: false });
    expect(open.map((piece) => (piece.type === 'event' ? piece.settled : null))).to.deep.equal([
      true,
      false,
      null,
    ]);
    const passed = read([...log, [answers('b')]], new Set([3]), true);
    expect(
      passed.map((piece) => ('settled' in piece ? piece.settled : 'passed' in piece && piece.passed)),
    ).to.deep.equal([true, true, true, false, false, false]);
  });

  it('have ids that are read as they were written; nothing else is one', () => {
    for (const sessionId of ['helper:my-chat', '~a-grant', 'helper:~a-grant']) {
      const name = { sessionId, runId: 'run_1', index: 2 };
      expect(parseSegment(formatSegment(name))).to.deep.equal(name);
    }
    for (const text of [
      '',
      'main',
      '~~',
      'a~b',
      'a~b~',
      'a~b~x',
      'a~b~01',
      'a~b~1~2',
      `a~b~${'9'.repeat(10)}`,
    ])
      expect(parseSegment(text), text).to.equal(null);
  });
});
