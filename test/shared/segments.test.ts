import { expect } from 'chai';
import fc from 'fast-check';
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
  pieces.map((piece) => (piece.type === 'pause' ? ['pause', piece.asked, piece.cursor] : piece.event.cursor));

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
    expect(pieces.map((piece) => (piece.type === 'pause' ? piece.asked : piece.event.type))).to.deep.equal([
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
    expect(passed.map((piece) => (piece.type === 'event' ? piece.settled : piece.passed))).to.deep.equal([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('have ids that are read as they were written; nothing else is one', () => {
    const name = { sessionId: 'helper:my-chat', runId: 'run_1', index: 2 };
    expect(parseSegment(formatSegment(name))).to.deep.equal(name);
    for (const text of ['', 'main', '~~', 'a~b', 'a~b~', 'a~b~x', 'a~b~1~2', `a~b~${'9'.repeat(10)}`])
      expect(parseSegment(text), text).to.equal(null);
  });
});
