import { readUIMessageStream } from 'ai';
import { expect } from 'chai';
import fc from 'fast-check';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce } from '../../shared/fold.js';
import type { UiChunk } from '../../shared/ui-stream/chunks.js';
import { toUiMessage } from '../../shared/ui-stream/messages.js';
import { UiMessageStream } from '../../shared/ui-stream/stream.js';
import { FUZZ } from '../support/fuzz.js';

/** What an app does next. */
type Act =
  | { readonly say: 'content_delta' | 'reasoning_delta'; readonly deltas: readonly string[] }
  | { readonly call: 'own' | 'client' | 'confirmed'; readonly isError: boolean; readonly parallel: number }
  | { readonly data: number };

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    fc.record({
      say: fc.constantFrom('content_delta' as const, 'reasoning_delta' as const),
      deltas: fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      call: fc.constantFrom('own' as const, 'client' as const, 'confirmed' as const),
      isError: fc.boolean(),
      parallel: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({ data: fc.nat(2) }),
  ),
  { maxLength: 8 },
);

/** The events of a run that does this, as a session logs them. */
function eventsOf(
  doing: readonly Act[],
  end: { readonly stopReason: string; readonly error?: boolean },
): GatewayEvent[] {
  const events: GatewayEvent[] = [];
  let index = 0;
  let open = '';
  const log = (type: string, rest: object): void => {
    const cursor = `AAAAAAAAAAA.1.${events.length + 1}`;
    events.push({
      type,
      sessionId: 'main',
      runId: 'r',
      ts: events.length,
      cursor,
      ...rest,
    } as unknown as GatewayEvent);
  };
  const message = { id: 'u', role: 'user', content: [{ type: 'text', text: 'x' }], createdAt: 0 };
  log('message_accepted', { message, onBusy: 'queue', position: 0 });
  log('message_start', { messageId: 'm', app: 'a' });
  const named = new Set<number>();
  for (const [at, act] of doing.entries()) {
    if ('say' in act) {
      if (open !== act.say && open !== '') index += 1;
      open = act.say;
      for (const delta of act.deltas) log(act.say, { delta, index });
      continue;
    }
    if (open !== '') index += 1;
    open = '';
    if ('data' in act) {
      if (!named.has(act.data)) index += 1;
      named.add(act.data);
      log('data', { id: `d${act.data}`, name: 'n', value: at });
      continue;
    }
    const calls = Array.from({ length: act.parallel }, (_, n) => `${at}-${n}`);
    const call = (callId: string) => ({ callId, name: 'tool' });
    const mark = act.call === 'client' && { runsOn: 'client' };
    for (const id of calls) log('tool_use', { ...call(id), input: { at }, ...mark });
    const batch = calls[0];
    for (const id of calls) {
      if (act.call === 'client') log('input_required', { ...call(id), payload: { at }, batch });
      if (act.call === 'confirmed') log('tool_confirmation_required', { ...call(id), input: { at }, batch });
    }
    for (const id of calls) {
      if (act.call === 'client') log('input_result', { ...call(id), output: at, by: 'u' });
      if (act.call === 'confirmed') log('tool_confirmation_result', { ...call(id), approved: true, by: 'u' });
    }
    for (const id of calls)
      log('tool_result', { ...call(id), output: act.isError ? 'no' : at, isError: act.isError });
    index += 2 * act.parallel;
  }
  if (end.error) log('run_error', { code: 'INTERNAL', message: 'broke' });
  const before = events.reduce(reduce, initialState);
  log('message_end', { stopReason: end.stopReason, message: before.run!.message, usage: { inputTokens: 1 } });
  return events;
}

const ends = fc.constantFrom(
  { stopReason: 'end' },
  { stopReason: 'aborted' },
  { stopReason: 'error', error: true },
  { stopReason: 'lost' },
);

const whole = (events: readonly GatewayEvent[]): UiChunk[] => {
  const stream = new UiMessageStream('r', 'whole', {});
  return events.flatMap((event) => stream.take(event));
};

/** What the SDK makes of chunks. */
async function folded(chunks: readonly UiChunk[]): Promise<any> {
  const stream = new ReadableStream<any>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: unknown;
  for await (const message of readUIMessageStream({ stream, onError: () => {} }))
    last = structuredClone(message);
  return JSON.parse(JSON.stringify(last), (key, value) =>
    key === 'preliminary' || key === 'cursor' ? undefined : value,
  );
}

describe('a UI message stream', () => {
  it("folds, in the SDK's own hands, to the message that the history has", async () => {
    await fc.assert(
      fc.asyncProperty(acts, ends, async (doing, end) => {
        fc.pre(doing.length > 0);
        const events = eventsOf(doing, end);
        const { messages } = events.reduce(reduce, initialState);
        const { parts, metadata } = JSON.parse(JSON.stringify(toUiMessage(messages.at(-1)!)));
        const told = await folded(whole(events));
        expect(told.parts).to.deep.equal(parts);
        expect(told.metadata).to.deep.equal(metadata);
      }),
      { numRuns: 200 * Math.max(1, FUZZ) },
    );
  });

  it('says the same in its segments, each but the last ending where its client has to act, and from a snapshot', async () => {
    await fc.assert(
      fc.asyncProperty(acts, fc.nat(40), async (doing, at) => {
        const events = eventsOf(doing, { stopReason: 'end' });
        const told = whole(events);
        const segments: UiChunk[][] = [];
        for (let index = 0; segments.at(-1)?.length !== 0; index++) {
          const stream = new UiMessageStream('r', index, {});
          segments.push(events.flatMap((event) => stream.take(event)));
        }
        const text = (chunks: readonly UiChunk[]): string =>
          chunks.map((chunk) => ('delta' in chunk ? chunk.delta : '')).join('');
        expect(text(segments.flat())).to.equal(text(told));
        // Behind each segment but the last one, its client has to act.
        const finishes = segments.slice(0, -1).map((chunks) => chunks.at(-1));
        expect(
          finishes
            .slice(0, -1)
            .every((chunk) => chunk?.type === 'finish' && chunk.finishReason === 'tool-calls'),
        ).to.equal(true);
        const from = Math.min(at, events.length - 2) + 1;
        const state = events.slice(0, from).reduce(reduce, initialState);
        fc.pre(state.run !== null && state.pending.length === 0);
        const stream = new UiMessageStream('r', 'whole', {});
        const chunks = [
          ...stream.begin(state)!,
          ...events.slice(from).flatMap((event) => stream.take(event)),
        ];
        expect(text(chunks)).to.equal(text(told));
        expect(chunks.at(-1)).to.deep.equal(told.at(-1));
      }),
      { numRuns: 200 * Math.max(1, FUZZ) },
    );
  });
});
