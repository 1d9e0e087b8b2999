import { expect } from 'chai';
import fc from 'fast-check';
import type { AppEvent } from '../../server/index.js';
import { toEntry } from '../../server/log/entry.js';
import { AnswerWriter } from '../../server/runs/answer-writer.js';
import type { LiveRun } from '../../server/runs/live-run.js';
import type { EventDraft, GatewayEvent } from '../../shared/events.js';
import { initialState, reduce } from '../../shared/fold.js';
import { cases } from '../support/fuzz.js';

const items: fc.Arbitrary<string | AppEvent> = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.record({ type: fc.constant('reasoning_delta' as const), delta: fc.string({ maxLength: 4 }) }),
  fc.record({
    type: fc.constant('tool_use' as const),
    callId: fc.constant('k'),
    name: fc.constant('t'),
    input: fc.constantFrom<unknown>(1, 10n),
  }),
  fc.record({
    type: fc.constant('data' as const),
    id: fc.constantFrom('a', 'b'),
    name: fc.constant('n'),
    value: fc.constantFrom<unknown>({ x: 1 }, 10n),
  }),
);

/** Blocks as a reader would join them, told without indices. */
function expected(written: readonly (string | AppEvent)[]): string[] {
  const blocks: { kind: string; id?: string; text: string }[] = [];
  for (const item of written) {
    if (typeof item === 'string' || item.type === 'reasoning_delta') {
      const kind = typeof item === 'string' ? 'text' : 'reasoning';
      const text = typeof item === 'string' ? item : item.delta;
      if (text === '') continue;
      if (blocks.at(-1)?.kind === kind) blocks.at(-1)!.text += text;
      else blocks.push({ kind, text });
    } else if (item.type === 'data') {
      const old = blocks.find(({ kind, id }) => kind === 'data' && id === item.id);
      if (!old) blocks.push({ kind: 'data', id: item.id, text: '' });
    } else blocks.push({ kind: item.type, text: '' });
  }
  return blocks.map(({ kind, text }) => `${kind}:${text}`);
}

describe('the writer of an answer', () => {
  it('writes nothing once its run has ended', () => {
    const run = { id: 'r', state: 'active' as LiveRun['state'] };
    const written: unknown[] = [];
    const log = { append: (draft: EventDraft) => written.push(draft), gather: () => written.push('a piece') };
    const writer = new AnswerWriter(run, log, { began: () => {}, maxSize: Number.POSITIVE_INFINITY });
    const say = (): void => {
      writer.text('first ');
      writer.text('next');
      writer.reasoning('why');
      writer.item({ type: 'tool_use', callId: 'c', name: 'act', input: {} });
      writer.event({ type: 'data', runId: 'r', ts: 1, id: 'd', name: 'n', value: 1 });
    };
    say();
    expect(written.length).to.equal(5);
    run.state = 'ended';
    say();
    expect([written.length, writer.blocks]).to.deep.equal([5, 4]);
  });

  it('numbers blocks so that the fold joins what belongs together, also after values that were refused', () => {
    fc.assert(
      fc.property(fc.array(items, { maxLength: 20 }), (list) => {
        const log: GatewayEvent[] = [
          {
            type: 'message_accepted',
            sessionId: 's',
            cursor: 'c',
            ts: 1,
            runId: 'r',
            message: { id: 'q', role: 'user', content: [], createdAt: 1 },
            onBusy: 'queue',
            position: 0,
          },
          { type: 'message_start', sessionId: 's', cursor: 'c', ts: 1, runId: 'r', messageId: 'm', app: 'a' },
        ];
        const writer = new AnswerWriter(
          { id: 'r', state: 'active' },
          {
            append: (draft) => log.push(toEntry(draft).event),
            gather: (piece) => log.push(toEntry(piece).event),
          },
          { began: () => {}, maxSize: Number.POSITIVE_INFINITY },
        );
        const written: (string | AppEvent)[] = [];
        for (const item of list) {
          try {
            // What is checked on its way comes as an event.
            if (typeof item === 'object' && item.type === 'data')
              writer.event({ ...item, runId: 'r', ts: 1 } as EventDraft);
            else writer.item(item);
            written.push(item);
          } catch (error) {
            expect(error, 'what is not JSON').to.be.instanceOf(TypeError);
          }
        }
        const { content } = log.reduce(reduce, initialState).run!.message;
        expect(content.length).to.equal(writer.blocks);
        expect(
          [...content].every((block) => block !== undefined),
          'no hole',
        ).to.equal(true);
        const shown = content.map(
          (block) => `${block.type}:${block.type === 'text' || block.type === 'reasoning' ? block.text : ''}`,
        );
        expect(shown).to.deep.equal(expected(written));
      }),
      { numRuns: cases(300) },
    );
  });
});
