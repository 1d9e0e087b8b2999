import { expect } from 'chai';
import fc from 'fast-check';
import { memoryStore } from '../../server/stores/memory.js';
import type { StoredEvent } from '../../server/stores/stored.js';
import { checkpointAt, record, refOf, TestWriter } from '../../testing/stores/records.js';
import { cases } from '../support/fuzz.js';

/** Texts of one, two and three bytes a character, as short as a piece and longer than a chunk. */
const text = fc
  .tuple(fc.constantFrom('a', 'é', '語', '🙂'), fc.oneof(fc.nat(40), fc.nat(700), fc.nat(20_000)))
  .map(([character, length]) => character.repeat(length));
const event = fc.record({
  text,
  type: fc.constantFrom('content_delta', 'custom'),
  runId: fc.constantFrom('r1', undefined),
});

describe('events in memory', () => {
  it('are read as they were written, from any place and in pages of any size, whatever is cut', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ append: fc.array(event, { minLength: 1, maxLength: 40 }) }) },
      { weight: 2, arbitrary: fc.constant('another writer' as const) },
      { weight: 2, arbitrary: fc.record({ cut: fc.double({ min: 0, max: 1, noNaN: true }) }) },
    );
    const page = fc.record({
      from: fc.double({ min: 0, max: 1, noNaN: true }),
      limit: fc.integer({ min: 1, max: 60 }),
      characters: fc.integer({ min: 1, max: 30_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }),
        fc.array(page, { minLength: 5, maxLength: 10 }),
        async (steps, pages) => {
          const store = memoryStore();
          let writer = await TestWriter.acquire(store, refOf());
          const { log } = writer;
          let kept: StoredEvent[] = [];
          let head = 0;
          for (const next of steps) {
            if (next === 'another writer') writer = await TestWriter.acquire(store, refOf(), null);
            else if ('append' in next) {
              const events = next.append.map((made, n) => ({
                ...record(head + 1 + n),
                type: made.type as StoredEvent['type'],
                runId: made.runId,
                body: JSON.stringify({ text: made.text }),
              }));
              await writer.append(events);
              head += events.length;
              kept.push(...events.map((each) => ({ ...each })));
            } else if (kept.length > 0) {
              const seq = kept[Math.floor(next.cut * (kept.length - 1))]!.seq;
              await store.cut(log, checkpointAt(seq, null), [], writer.term);
              kept = kept.filter((each) => each.seq > seq);
            }
          }
          const first = kept[0]?.seq ?? head + 1;
          expect(await store.head(refOf())).to.include({ first, head });
          expect((await store.usage(log)).session).to.equal(
            kept.reduce((size, { body }) => size + body.length, 0),
          );
          const all = { from: 0, limit: Number.MAX_SAFE_INTEGER, characters: Number.MAX_SAFE_INTEGER };
          for (const { from, limit, characters } of [all, ...pages]) {
            const after = Math.floor(from * head);
            let size = 0;
            const expected = kept
              .filter(({ seq }) => seq > after)
              .slice(0, limit)
              .filter(({ body }) => {
                const fits = size < characters;
                size += body.length;
                return fits;
              });
            expect(await store.read(log, after, limit, characters)).to.deep.equal(expected);
          }
        },
      ),
      { numRuns: cases(60) },
    );
  });
});
