import { expect } from 'chai';
import fc from 'fast-check';
import { type AnswerMark, type Application, defineApp, memoryStore } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import { type ContentBlock, type Message, textOf } from '../../shared/messages.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { cases } from '../support/fuzz.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { refusalOf } from '../support/refused.js';

type Act =
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'think'; readonly text: string }
  | { readonly do: 'data'; readonly id: string }
  | { readonly do: 'mark' }
  | { readonly do: 'retract'; readonly to: number }
  | { readonly do: 'wait' };

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('say' as const), text: fc.string({ minLength: 1, maxLength: 3 }) }),
    fc.record({ do: fc.constant('think' as const), text: fc.string({ minLength: 1, maxLength: 3 }) }),
    fc.record({ do: fc.constant('data' as const), id: fc.constantFrom('a', 'b') }),
    fc.record({ do: fc.constant('mark' as const) }),
    fc.record({ do: fc.constant('retract' as const), to: fc.nat({ max: 3 }) }),
    fc.record({ do: fc.constant('wait' as const) }),
  ),
  { maxLength: 24 },
);

interface Answer {
  readonly content: readonly ContentBlock[];
  /** Whether the next text joins the last block. */
  readonly open: boolean;
}

/** What an answer has in the end, as a reader would think of it. */
function expected(all: readonly Act[]): readonly ContentBlock[] {
  let answer: Answer = { content: [], open: false };
  const marks: Answer[] = [];
  for (const act of all) {
    const { content, open } = answer;
    const last = content.at(-1);
    if (act.do === 'mark') marks.push(answer);
    else if (act.do === 'retract') {
      const to = marks[act.to] ? act.to : -1;
      answer = marks[to] ?? { content: [], open: false };
      marks.fill(answer, to + 1);
    } else if (act.do === 'data') {
      const block = { type: 'data', id: act.id, name: 'n', value: 1 } as const;
      if (!content.some((each) => each.type === 'data' && each.id === act.id))
        answer = { content: [...content, block], open: false };
    } else if (act.do === 'say' || act.do === 'think') {
      const type = act.do === 'say' ? 'text' : 'reasoning';
      if (open && last?.type === type)
        answer = { content: [...content.slice(0, -1), { type, text: last.text + act.text }], open };
      else answer = { content: [...content, { type, text: act.text }], open: true };
    }
  }
  return answer.content;
}

const playing = (all: readonly Act[], guarded: boolean): Application =>
  defineApp({
    ...(guarded && { guard: { check: () => undefined, window: { chars: 2 } } }),
    async *run(turn) {
      const marks: AnswerMark[] = [];
      for (const act of all) {
        if (act.do === 'say') yield act.text;
        else if (act.do === 'think') yield { type: 'reasoning_delta', delta: act.text } as const;
        else if (act.do === 'data') turn.data('n', 1, { id: act.id });
        else if (act.do === 'mark') marks.push(turn.mark());
        else if (act.do === 'retract') turn.retract(marks[act.to]);
        else await new Promise(setImmediate);
      }
    },
  });

describe('turn.retract', () => {
  for (const guarded of [false, true])
    it(`leaves every reader with the same answer, wherever it was${guarded ? ', behind a guard' : ''}`, async function () {
      this.timeout(60_000);
      await fc.assert(
        fc.asyncProperty(acts, async (all) => {
          const { gateway } = await startGateway({ app: playing(all, guarded), store: memoryStore() });
          const session = gateway.session('main');
          const { message, stopReason } = await (await session.send('go')).result;
          expect(stopReason).to.equal('end');
          const content = expected(all);
          expect(message.content).to.deep.equal(content);
          const history = (await session.history()).messages;
          if (content.length > 0) expect(history.at(-1)!.content).to.deep.equal(content);
          const events: GatewayEvent[] = [];
          for await (const event of session.events({ from: 'earliest' })) {
            events.push(event);
            if (event.type === 'message_end') break;
          }
          // A reader that was at each place, and one that began with the state there.
          const states: SessionState[] = [];
          for (const event of events) states.push(reduce(states.at(-1) ?? initialState, event));
          const before = states.at(-2)!;
          expect(before.run!.message.content).to.deep.equal(content);
          for (const at of [0, Math.floor(events.length / 2), events.length - 2]) {
            let state = JSON.parse(JSON.stringify(states[at]!)) as SessionState;
            for (const event of events.slice(at + 1)) state = reduce(state, event);
            expect(state).to.deep.equal(states.at(-1));
          }
          await gateway.close();
        }),
        { numRuns: cases(40) },
      );
    });

  it('has a half answer followed by a clean one, and the next run see that alone', async () => {
    const histories: (readonly Message[])[] = [];
    const app = defineApp({
      async *run(turn) {
        histories.push(turn.history);
        yield 'Let me see. ';
        const mark = turn.mark();
        yield 'The capital of Norway is Stockh';
        await new Promise(setImmediate);
        turn.retract(mark);
        yield 'The capital of Norway is Oslo.';
      },
    });
    const { gateway } = await startGateway({ app, store: memoryStore() });
    const session = gateway.session('main');
    for (const text of ['first', 'second']) await (await session.send(text)).result;
    const said = 'Let me see. The capital of Norway is Oslo.';
    expect(textOf(histories[1]!.at(-1)!)).to.equal(said);
  });

  it('goes no further than what is left, with a mark that was taken back itself', async () => {
    const app = defineApp({
      async *run(turn) {
        turn.data('n', 1, { id: 'a' });
        const mark = turn.mark();
        turn.retract();
        turn.retract(mark);
        yield 'clean';
      },
    });
    const { gateway } = await startGateway({ app, store: memoryStore() });
    const { message } = await (await gateway.session('main').send('go')).result;
    expect(message.content).to.deep.equal([{ type: 'text', text: 'clean' }]);
  });

  it('takes back in a child what its parent shows of it', async () => {
    const app = defineApp({
      async run(turn) {
        const child = turn.spawn('inner', {
          message: 'go',
          async *run(inner) {
            yield 'half';
            await new Promise(setImmediate);
            inner.retract();
            yield 'whole';
          },
        });
        return (await child.result).text;
      },
    });
    const { gateway } = await startGateway({ app, store: memoryStore() });
    const { message } = await (await gateway.session('main').send('go')).result;
    expect(textOf(message)).to.equal('whole');
    const [, answer] = (await gateway.session('main').history()).messages;
    expect(textOf(answer!.children![0]!.message)).to.equal('whole');
  });

  it('is done again by a run that another process takes up, with the same end', async () => {
    const path = newDatabase();
    const stands = gate();
    const appOf = (wait: () => Promise<void>) =>
      defineApp({
        resumable: true,
        async *run(turn) {
          const mark = turn.mark();
          yield 'half of it';
          await new Promise(setImmediate);
          turn.retract(mark);
          yield 'all of';
          await wait();
          yield ' it';
        },
      });
    const first = await startDurable(path, {
      app: appOf(() => {
        stands.open();
        return new Promise(() => {});
      }),
    });
    const session = first.gateway.session('main');
    const { runId } = await session.send('go').accepted;
    await stands.passed;
    // What was said is in the file once a reader has it.
    for await (const event of session.events({ from: 'earliest' }))
      if (event.type === 'content_delta' && event.delta === 'all of') break;
    const { gateway } = await startDurable(crashed(path), { app: appOf(async () => {}) });
    const { message, stopReason } = await gateway.session('main').run(runId).result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'all of it']);
  });

  it('refuses a mark of another turn', async () => {
    let former: AnswerMark | undefined;
    const app = defineApp({
      run: async (turn) => {
        const mark = former;
        former = turn.mark();
        return mark ? (await refusalOf(() => turn.retract(mark))).message : '';
      },
    });
    const { gateway } = await startGateway({ app, store: memoryStore() });
    const session = gateway.session('main');
    await (await session.send('one')).result;
    const { message } = await (await session.send('two')).result;
    expect(textOf(message)).to.equal('from: must be a mark of this turn');
  });
});
