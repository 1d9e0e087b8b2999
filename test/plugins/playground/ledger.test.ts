import { expect } from 'chai';
import fc from 'fast-check';
import { type Account, EMPTY_LEDGER, enter } from '../../../playground/network/ledger.js';
import type { GatewayEvent } from '../../../shared/events.js';

const EPOCH = 'abcdefghijk';

function event(seq: number, epoch = EPOCH): GatewayEvent {
  return {
    type: 'content_delta',
    sessionId: 'main',
    ts: 0,
    cursor: `${epoch}.1.${seq}`,
    delta: '',
    index: 0,
  };
}

function accountOf(events: readonly GatewayEvent[]): Account {
  return events.reduce(enter, EMPTY_LEDGER).account;
}

const gap: GatewayEvent = {
  type: 'gap',
  reason: 'truncated',
  requested: null,
  epoch: EPOCH,
  first: 1,
  head: 9,
};

describe('the playground’s count of events', () => {
  it('finds exactly what a stream loses and doubles, wherever that is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.integer({ min: 1, max: 60 })),
        fc.array(fc.integer({ min: 1, max: 60 })),
        (length, lost, doubled) => {
          // The last shows that those before it are missing.
          const missing = new Set(lost.filter((seq) => seq > 1 && seq < length));
          const again = new Set(doubled.filter((seq) => seq <= length && !missing.has(seq)));
          const events = Array.from({ length }, (_, at) => at + 1)
            .filter((seq) => !missing.has(seq))
            .flatMap((seq) => (again.has(seq) ? [event(seq), event(seq)] : [event(seq)]));
          expect(accountOf(events)).to.deep.equal({
            delivered: events.length,
            lost: missing.size,
            doubled: again.size,
            gaps: 0,
          });
        },
      ),
    );
  });

  it('counts a whole stretch that comes again', () => {
    expect(accountOf([1, 2, 3, 2, 3, 4].map((seq) => event(seq)))).to.include({ lost: 0, doubled: 2 });
  });

  it('takes a log that is read from its middle as it comes, and one that begins anew from 1', () => {
    expect(accountOf([event(40), event(41)])).to.include({ lost: 0, doubled: 0 });
    expect(accountOf([event(40), event(1, 'lmnopqrstuv'), event(2, 'lmnopqrstuv')])).to.include({ lost: 0 });
    expect(accountOf([event(40), event(3, 'lmnopqrstuv')])).to.include({ lost: 2 });
  });

  it('counts a gap that was announced apart', () => {
    expect(accountOf([event(1), gap, event(7), event(8)])).to.deep.equal({
      delivered: 3,
      lost: 0,
      doubled: 0,
      gaps: 1,
    });
  });
});
