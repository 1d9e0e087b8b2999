import { expect } from 'chai';
import fc from 'fast-check';
import { readInvoke, readParams } from '../../../server/operations/params.js';
import { readFrame } from '../../../server/transports/frames/frame-wire.js';
import { clientFrameSchema } from '../../../shared/schemas/frames.js';

const odd = fc.constantFrom<unknown>(undefined, null, 0, 1, -1, 1.5, 2 ** 53, '', 'x', true, [], {}, ['x']);
const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8 }),
  fc.constantFrom(1, 256, 257, 1024, 1025).map((length) => 'm'.repeat(length)),
  odd,
);
/** Objects of some fields out of many, each nearly right. */
const fields = (all: Record<string, fc.Arbitrary<unknown>>) => fc.record(all, { requiredKeys: [] });

/** What a reader makes of a value, or the error it answers with. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    const { code, details } = error as { readonly code?: string; readonly details?: unknown };
    return { code, details };
  }
}

describe('what is read by hand', () => {
  it('is of invoke what its schema says', () => {
    const invoke = fields({
      method: text,
      params: odd,
      sessionId: text,
      lastEventId: text,
      other: odd,
    });
    fc.assert(
      fc.property(fc.oneof(odd, invoke, fields({ method: text, params: odd })), (raw) => {
        expect(outcomeOf(() => readInvoke(raw))).to.deep.equal(outcomeOf(() => readParams('invoke', raw)));
      }),
      { numRuns: 2000 },
    );
  });

  it('is of request frames what their schema says', () => {
    const type = fc.constantFrom<unknown>('req', 'req', 'req', 'ping', 'REQ', 1, undefined);
    const frame = fields({ type, id: text, method: text, params: odd, window: odd, traceparent: text });
    fc.assert(
      fc.property(fc.oneof(odd, frame), (raw) => {
        const sent = JSON.stringify(raw) ?? 'null';
        const parsed: unknown = JSON.parse(sent);
        const known = clientFrameSchema.safeParse(parsed);
        const read = outcomeOf(() => readFrame(sent, 64)) as {
          readonly value?: unknown;
          readonly code?: string;
        };
        if (known.success) expect(read.value).to.deep.equal(known.data);
        else expect(read).to.have.property('code', 'INVALID_REQUEST');
      }),
      { numRuns: 2000 },
    );
  });

  it('is as deep as it may be, however many brackets its texts hold', () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const frameOf = (params: string) => `{"type":"req","id":"1","method":"m","params":${params}}`;
    const outcome = (params: string) => outcomeOf(() => readFrame(frameOf(params), 8));
    expect(outcome(deep(7))).to.have.property('value');
    expect(outcome(deep(8))).to.have.property('code', 'INVALID_REQUEST');
    expect(outcome(JSON.stringify('[{'.repeat(100)))).to.have.property('value');
    expect(outcome(`[${'{},'.repeat(100)}{}]`)).to.have.property('value');
  });
});
