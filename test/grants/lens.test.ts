import { expect } from 'chai';
import fc from 'fast-check';
import { Lens } from '../../server/grants/lens.js';
import { View } from '../../server/grants/view.js';
import { parseEvent, toEntry } from '../../server/log/entry.js';
import type { StoredEvent } from '../../server/stores/stored.js';
import type { EventDraft } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import { HIDDEN_PARTS } from '../../shared/grants.js';
import type { ContentBlock } from '../../shared/messages.js';
import { cases } from '../support/fuzz.js';

/** What an app does next in its answer. */
const step = fc.oneof(
  fc.record({ type: fc.constantFrom('text', 'reasoning'), text: fc.string() }),
  fc.record({ type: fc.constant('tool'), progress: fc.boolean() }),
  fc.record({ type: fc.constantFrom('data', 'ask', 'question', 'grant', 'update') }),
);
const runs = fc.array(fc.array(step, { maxLength: 12 }), { minLength: 1, maxLength: 3 });

/** The log of runs that did so. */
function logOf(
  answers: readonly (readonly { type: string; text?: string; progress?: boolean }[])[],
): StoredEvent[] {
  const drafts: EventDraft[] = [];
  const log = (draft: object): void => void drafts.push({ ts: drafts.length, ...draft } as EventDraft);
  for (const [n, steps] of answers.entries()) {
    const runId = `run_${n}`;
    const question = {
      id: `q${n}`,
      role: 'user',
      content: [{ type: 'text', text: 'hi' }],
      createdAt: 0,
    } as const;
    log({
      type: 'message_accepted',
      runId,
      message: { ...question, metadata: { a: 1 } },
      onBusy: 'queue',
      position: 0,
      metadata: { a: 1 },
    });
    log({ type: 'message_start', runId, messageId: `a${n}`, app: 'default' });
    const content: ContentBlock[] = [];
    for (const [i, { type, text = '', progress }] of steps.entries()) {
      const callId = `call_${n}_${i}`;
      if (type === 'text' || type === 'reasoning') {
        const last = content.at(-1);
        if (last?.type === type)
          content[content.length - 1] = { type, text: (last as { text: string }).text + text };
        else content.push({ type, text } as ContentBlock);
        log({
          type: type === 'text' ? 'content_delta' : 'reasoning_delta',
          runId,
          delta: text,
          index: content.length - 1,
        });
      } else if (type === 'tool') {
        const use = { type: 'tool_use', callId, name: 't', input: { a: i } } as const;
        const result = { type: 'tool_result', callId, name: 't', output: i, isError: false } as const;
        content.push(use, result);
        log({ runId, ...use });
        if (progress) log({ type: 'tool_progress', runId, callId, value: 1, message: 'half' });
        log({ runId, ...result });
      } else if (type === 'data') {
        const data = { type: 'data', id: callId, name: 'd', value: i } as const;
        content.push(data);
        log({ runId, ...data });
      } else if (type === 'ask') {
        log({
          type: 'tool_confirmation_required',
          runId,
          callId,
          name: 't',
          input: { a: i },
          message: 'sure?',
          policy: { approvals: 1, inputHash: 'h' },
        });
        if (i % 2 === 0)
          log({
            type: 'tool_confirmation_result',
            runId,
            callId,
            name: 't',
            approved: true,
            input: 1,
            by: 'ann',
          });
      } else if (type === 'question') {
        log({ type: 'input_required', runId, callId, name: 't', payload: { a: i }, schema: {} });
        if (i % 2 === 0) log({ type: 'input_result', runId, callId, name: 't', output: i, by: 'ann' });
      } else if (type === 'grant')
        log({ type: 'grant_added', grantId: 'g', as: 'viewer', with: 'link', by: 'ann' });
      else log({ type: 'session_updated', metadata: i % 2 ? { a: i } : null });
    }
    const usage = { inputTokens: 1 };
    const message = { id: `a${n}`, role: 'assistant', content, createdAt: 1, usage };
    log({ type: 'message_end', runId, stopReason: 'end', usage, message });
  }
  return drafts.map((draft, i) => ({ ...toEntry(draft).record, seq: i + 1, term: 1 }));
}

const fold = (events: readonly StoredEvent[], from: SessionState = initialState): SessionState =>
  events.reduce((state, event) => reduce(state, parseEvent(event)), from);
const plain = (state: SessionState): unknown => JSON.parse(JSON.stringify(state));

describe('the view of a grant', () => {
  it('is the same of events and of the state that they make, from any place on, in any batches', () => {
    const given = fc.tuple(
      runs,
      fc.subarray([...HIDDEN_PARTS]),
      fc.nat(),
      fc.nat(),
      fc.array(fc.integer({ min: 1, max: 5 })),
    );
    fc.assert(
      fc.property(given, ([answers, hide, place, end, sizes]) => {
        // An answer that is being written, too.
        const whole = logOf(answers);
        const events = whole.slice(0, whole.length - (end % whole.length));
        const view = new View(hide, 'viewer');
        const from = place % (events.length + 1);
        const lens = new Lens(view, true);
        const shown: StoredEvent[] = [];
        for (let at = from, n = 0; at < events.length; n++) {
          const size = sizes[n] ?? 3;
          shown.push(...lens.of(events.slice(at, at + size)));
          at += size;
        }
        const before = view.state(fold(events.slice(0, from)));
        expect(plain(fold(shown, before))).to.deep.equal(plain(view.state(fold(events))));
        let seq = from;
        for (const [i, event] of shown.entries()) {
          const isHidden = (event.type as string) === 'hidden';
          expect(event.seq).to.equal(seq + (isHidden ? JSON.parse(event.body).count : 1));
          if (isHidden) expect(shown[i + 1]?.type).to.not.be.oneOf(['hidden', undefined]);
          seq = event.seq;
        }
        expect(seq + lens.pending).to.equal(events.length);
      }),
      { numRuns: cases(300) },
    );
  });
});
