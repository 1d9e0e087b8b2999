import { AbstractAgent as Agent1 } from 'ag-ui-client';
import { AbstractAgent as Agent0 } from 'ag-ui-client0';
import { expect } from 'chai';
import fc from 'fast-check';
import { from } from 'rxjs';
import type { AgUiMessage, GivenMessage } from '../../shared/ag-ui/events.js';
import { type SnapshotMessage, snapshots, type Truth } from '../../shared/ag-ui/snapshot.js';
import { cases } from '../support/fuzz.js';

/** What a client of a version has, once it was told of these lists. */
async function applied(
  Agent: any,
  given: readonly GivenMessage[],
  lists: readonly (readonly GivenMessage[])[],
): Promise<unknown> {
  const names = { threadId: 't', runId: 'r' };
  class Told extends (Agent as new (config: object) => any) {
    run() {
      const told = lists.map((messages) => ({ type: 'MESSAGES_SNAPSHOT', messages }));
      return from([{ type: 'RUN_STARTED', ...names }, ...told, { type: 'RUN_FINISHED', ...names }]);
    }
  }
  const agent: any = new Told({ initialMessages: given });
  await agent.runAgent();
  return agent.messages;
}

/** A piece of an answer: what it says, thinks, or calls with a result. */
type Bit = 'text' | 'reasoning' | 'call';

function answerOf(id: string, bits: readonly Bit[]): SnapshotMessage {
  const messages = bits.flatMap((bit, at): AgUiMessage[] => {
    const own = at === 0 ? id : `${id}:${at}`;
    if (bit === 'text') return [{ id: own, role: 'assistant', content: `${own} says` }];
    if (bit === 'reasoning')
      return [{ id: `${id}:reasoning:${at}`, role: 'reasoning', content: `${own} thinks` }];
    const callId = `call-${id}-${at}`;
    const call = { id: callId, type: 'function', function: { name: 'look', arguments: '{}' } } as const;
    return [
      { id: `${id}:${callId}`, role: 'assistant', toolCalls: [call] },
      { id: `${callId}:result`, role: 'tool', toolCallId: callId, content: 'found' },
    ];
  });
  return { id, messages };
}

const bits = fc.array(fc.constantFrom<Bit>('text', 'reasoning', 'call'), { minLength: 1, maxLength: 4 });
/** What became of an answer in its client: how many messages it has of it, and how much of the last one. */
const held = fc.record({ messages: fc.nat(8), isCut: fc.boolean() });
const turns = fc.array(fc.record({ bits, held, foreign: fc.boolean() }), { minLength: 1, maxLength: 4 });

function cutOf(
  messages: readonly AgUiMessage[],
  { messages: count, isCut }: { messages: number; isCut: boolean },
) {
  const kept = messages.slice(0, count) as readonly GivenMessage[];
  const last = kept.at(-1);
  if (!isCut || typeof last?.content !== 'string' || last.role === 'tool') return kept;
  return [...kept.slice(0, -1), { ...last, content: last.content.slice(0, 2) }];
}

describe('what an AG-UI client has', () => {
  for (const [version, Agent] of [
    ['0.0.59', Agent0],
    ['1.0.0', Agent1],
  ] as const)
    it(`becomes what the session has, without what is told then, whatever was missing: ${version}`, () =>
      fc.assert(
        fc.asyncProperty(
          turns,
          fc.option(bits, { nil: null }),
          held,
          fc.nat(4),
          async (all, next, had, since) => {
            const given: GivenMessage[] = [];
            const expected: GivenMessage[] = [];
            const before: SnapshotMessage[] = [];
            const start = Math.min(since, all.length - 1);
            for (const [at, turn] of all.entries()) {
              const user = {
                id: `u${at}`,
                messages: [{ id: `u${at}`, role: 'user', content: 'asks' } as const],
              };
              const answer = answerOf(`a${at}`, turn.bits);
              before.push(user, answer);
              if (at < start) continue;
              const own = turn.foreign ? [{ id: `own-${at}`, role: 'system', content: 'mine' }] : [];
              given.push(...own, ...user.messages, ...cutOf(answer.messages, turn.held));
              expected.push(...own, ...user.messages, ...(answer.messages as readonly GivenMessage[]));
            }
            // The answer that is to be told, and was told in part.
            const last = { id: 'last', role: 'user', content: 'asks' } as const;
            before.push({ id: 'last', messages: [last] });
            const told = next ? cutOf(answerOf('now', next).messages, had) : [];
            given.push(last, ...told);
            expected.push(last);
            const truth: Truth = { before, answerId: next ? 'now' : '', told: [], whole: false };
            const lists = snapshots(given, truth);
            expect(await applied(Agent, given, lists)).to.deep.equal(expected);
            // Once is enough.
            expect(snapshots(expected, truth)).to.deep.equal([]);
            const whole = { ...truth, whole: true };
            const everything = before.flatMap(({ messages }) => messages);
            expect(await applied(Agent, [], snapshots([], whole))).to.deep.equal(everything);
          },
        ),
        { numRuns: cases(80) },
      ));
});
