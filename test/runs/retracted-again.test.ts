import { expect } from 'chai';
import fc from 'fast-check';
import { retractionsIn } from '../../server/held/former-retractions.js';
import type { AnswerMark } from '../../server/index.js';
import { toEntry } from '../../server/log/entry.js';
import type { LogView } from '../../server/log/log-view.js';
import { AnswerWriter } from '../../server/runs/answer-writer.js';
import { Marks } from '../../server/runs/marks.js';
import { Resumption } from '../../server/runs/resumption.js';
import type { EventDraft } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import type { ContentBlock } from '../../shared/messages.js';
import { cases } from '../support/fuzz.js';

type Act =
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'think'; readonly text: string }
  | { readonly do: 'data'; readonly id: string; readonly value: number }
  | { readonly do: 'call'; readonly input: number }
  | { readonly do: 'mark' }
  | { readonly do: 'retract'; readonly to: number };

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 });
const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('say' as const), text }),
    fc.record({ do: fc.constant('think' as const), text }),
    fc.record({ do: fc.constant('data' as const), id: fc.constantFrom('x', 'y'), value: fc.constant(1) }),
    fc.record({ do: fc.constant('call' as const), input: fc.constantFrom(1, 2) }),
    fc.record({ do: fc.constant('mark' as const) }),
    fc.record({ do: fc.constant('retract' as const), to: fc.nat({ max: 2 }) }),
  ),
  { maxLength: 16 },
);

/** A log of one run, and what its tools have done. */
class Log {
  readonly stored: any[] = [];
  state: SessionState = initialState;
  calls = 0;

  constructor() {
    const message = { id: 'q', role: 'user', content: [], createdAt: 1 } as const;
    const base = { runId: 'r', ts: 1 };
    this.append({ type: 'message_accepted', ...base, message, onBusy: 'queue', position: 0 } as EventDraft);
    this.append({ type: 'message_start', ...base, messageId: 'm', app: 'a' } as EventDraft);
  }

  append(draft: EventDraft): number {
    const { record, event } = toEntry(draft);
    this.stored.push({ ...record, seq: this.stored.length + 1 });
    this.state = reduce(this.state, event);
    return 1;
  }

  get content(): readonly ContentBlock[] {
    return this.state.run!.message.content;
  }

  get view(): LogView {
    const read = async (after: number) => this.stored.slice(after);
    return { first: 1, head: this.stored.length, read } as unknown as LogView;
  }
}

/** Plays the acts of an app, up to where its process ends. */
async function play(log: Log, all: readonly Act[], isFirst: boolean): Promise<void> {
  const answer = new AnswerWriter(
    { id: 'r', state: 'active' },
    { append: (draft) => log.append(draft), gather: (piece) => log.append(piece) },
    { began: () => {}, maxSize: Number.POSITIVE_INFINITY },
  );
  const commit = (plan: (state: SessionState) => readonly EventDraft[]) => {
    for (const draft of plan(log.state)) log.append(draft);
    return Promise.resolve();
  };
  const marks = new Marks({
    runId: 'r',
    ended: false,
    gate: null,
    answer,
    port: { log: { commit } },
  } as never);
  let resumption: Resumption | null = null;
  if (!isFirst) {
    const { message } = log.state.run!;
    answer.resume(message);
    resumption = new Resumption(message, [], { steps: [], goesOn: false });
    resumption.learn({ answered: [], taken: await retractionsIn(log.view, 'r', 0) });
    resumption.passed = (callId) => marks.pass(callId);
    answer.again(resumption.taken);
  }
  const base = { runId: 'r', ts: 1 };
  const made: AnswerMark[] = [];
  for (const act of all) {
    if (act.do === 'say') answer.text(act.text);
    else if (act.do === 'think') answer.reasoning(act.text);
    else if (act.do === 'data') {
      const { id, value } = act;
      answer.event({ type: 'data', ...base, id, name: 'n', value } as EventDraft);
    } else if (act.do === 'mark') made.push(marks.make());
    else if (act.do === 'retract') marks.goBack(made[act.to]);
    else if (!resumption?.takeResult('look', act.input)) {
      const call = { ...base, callId: `call${++log.calls}`, name: 'look' };
      answer.event({ type: 'tool_use', ...call, input: act.input } as EventDraft);
      answer.event({ type: 'tool_result', ...call, output: 'seen', isError: false } as EventDraft);
    }
  }
}

/** What a reader is shown: texts that follow each other joined. */
function shown(content: readonly ContentBlock[]): string[] {
  const told: string[] = [];
  let last = '';
  for (const block of content) {
    const isText = block.type === 'text' || block.type === 'reasoning';
    if (isText && last === block.type) told[told.length - 1] += block.text;
    else told.push(isText ? `${block.type} ${block.text}` : JSON.stringify(block));
    last = block.type;
  }
  return told;
}

describe('an answer that is said again, and was taken back in places', () => {
  it('is as if one process had said it, wherever others ended', async () => {
    await fc.assert(
      fc.asyncProperty(
        acts,
        fc.array(fc.nat({ max: 16 }), { minLength: 1, maxLength: 2 }),
        async (all, ends) => {
          const whole = new Log();
          await play(whole, all, true);
          const log = new Log();
          for (const [at, end] of ends.entries()) await play(log, all.slice(0, end), at === 0);
          const before = log.stored.length;
          const isOver = Math.max(...ends) >= all.length;
          await play(log, all, false);
          expect(shown(log.content)).to.deep.equal(shown(whole.content));
          expect(log.calls).to.equal(whole.calls);
          // A value may be given again, which changes nothing.
          const added = log.stored.slice(before).filter(({ type }) => type !== 'data');
          if (isOver) expect(added).to.deep.equal([]);
        },
      ),
      { numRuns: cases(400) },
    );
  });
});
