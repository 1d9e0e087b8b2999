import { readUIMessageStream } from 'ai';
import { expect } from 'chai';
import fc from 'fast-check';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce } from '../../shared/fold.js';
import type { UiChunk } from '../../shared/ui-stream/chunks.js';
import { toUiMessage } from '../../shared/ui-stream/messages.js';
import { UiMessageStream } from '../../shared/ui-stream/stream.js';
import { FUZZ } from '../support/fuzz.js';
import { acts, ends, runOf } from './acting.js';

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
        // What was denied before is told whole by the history alone: version 6 has no words for it in a stream.
        const { events } = runOf(doing, end, { denies: false });
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
        const { events } = runOf(doing, 'end');
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

  it('shows the same children from a snapshot at any place', () => {
    const message = (id: string, text: string) => ({
      ...{ id, role: 'assistant', content: text === '' ? [] : [{ type: 'text', text }], createdAt: 0 },
    });
    let place = 0;
    const made = (type: string, runId: string, rest: object = {}): GatewayEvent =>
      ({ type, runId, sessionId: 'main', ts: 0, cursor: `AAAAAAAAAAA.1.${++place}`, ...rest }) as never;
    const child = (runId: string, parentRunId: string, lane: number) =>
      made('run_spawned', runId, {
        parentRunId,
        lane,
        name: runId,
        messageId: runId,
        app: 'a',
        message: message('q', 'x'),
      });
    const question = { callId: 'c', name: 'colour' };
    const end = (runId: string, text: string, rest: object = {}) =>
      made('message_end', runId, { stopReason: 'end', message: message(runId, text), ...rest });
    const events = [
      made('message_start', 'r', { messageId: 'm', app: 'main' }),
      child('c1', 'r', 1),
      child('c2', 'c1', 2),
      made('content_delta', 'c2', { delta: 'deep', index: 0 }),
      made('content_delta', 'r', { delta: 'own', index: 0 }),
      made('input_required', 'c1', question),
      made('input_result', 'c1', { ...question, output: 'red', by: 'a' }),
      made('content_delta', 'c1', { delta: 'found', index: 0 }),
      end('c2', 'deep', { parentRunId: 'c1', lane: 2 }),
      end('c1', 'found', { parentRunId: 'r', lane: 1 }),
      end('r', 'own'),
    ];
    const shown = (chunks: readonly UiChunk[]) =>
      Object.fromEntries(
        chunks.flatMap((chunk) =>
          chunk.type === 'data-subagent' ? [[(chunk as any).id, (chunk as any).data]] : [],
        ),
      );
    const told = shown(whole(events));
    expect(told.c1).to.deep.include({ state: 'ended', text: 'found', stopReason: 'end', parentRunId: 'r' });
    for (let at = 1; at <= events.length; at++) {
      const stream = new UiMessageStream('r', 'whole', {});
      const chunks = stream.begin(events.slice(0, at).reduce(reduce, initialState)) ?? [];
      for (const event of events.slice(at)) chunks.push(...stream.take(event));
      expect(shown(chunks), `from ${at}`).to.deep.equal(told);
    }
  });
});
