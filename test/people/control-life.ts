import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Client, isGatewayError } from '../../client/index.js';
import { sessionControl, sessionSharing } from '../../client/people/index.js';
import { defineApp } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';

/** An agent that streams: some words, a step and a tool's result in each answer. */
export const streaming = (resumable: boolean) =>
  defineApp({
    resumable,
    async *run(turn) {
      for (let n = 0; n < 8; n++) {
        yield `w${n} `;
        await turn.step(`step ${n}`, () => delay(1));
        if (n % 4 === 3) {
          yield { type: 'tool_use', callId: `c${n}`, name: 'look', input: {} };
          await delay(1);
          yield { type: 'tool_result', callId: `c${n}`, name: 'look', output: n, isError: false };
        }
      }
      turn.emit('said', turn.text);
    },
  });

/** Links for guests, of whom each has a session shared with it as a member. */
export const shareLinks = { upTo: 'member' } as const;

/** Gateways of one store. Ends are those of real deployments: whoever asks meanwhile waits. */
export interface Gateways {
  /** A client of a user at one of them. */
  client(user: string, at: number): Client;
  /** A client of whoever has a link. */
  guest(token: string, at: number): Client;
  /** Ends one of them, and starts another one in its place. */
  end(how: End, at: number): Promise<void>;
}

export type End = 'restart' | 'kill';

const USERS = ['ann', 'ben', 'guest', 'link'] as const;
const WORK = ['send', 'send', 'take', 'take', 'race', 'back', 'answer'] as const;

/** @param ends Whether gateways end meanwhile */
export const stepsOf = (length: number, ends: boolean) =>
  fc.array(
    fc.record({
      /** What is done at once, each by somebody at some gateway. */
      works: fc.array(
        fc.record({ who: fc.constantFrom(...USERS), what: fc.constantFrom(...WORK), at: fc.nat(1) }),
        { minLength: 1, maxLength: 3 },
      ),
      pauseMs: fc.nat(6),
      end: ends
        ? fc.option(fc.record({ how: fc.constantFrom<End>('restart', 'kill'), at: fc.nat(1) }), { freq: 3 })
        : fc.constant(null),
    }),
    { minLength: length, maxLength: length },
  );

type Steps = readonly {
  readonly works: readonly {
    readonly who: (typeof USERS)[number];
    readonly what: (typeof WORK)[number];
    readonly at: number;
  }[];
  readonly pauseMs: number;
  readonly end: { readonly how: End; readonly at: number } | null;
}[];

/** Asks again until a gateway is there that takes it. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isGatewayError(error) || !error.retryable) throw error;
      await delay(50);
    }
  }
}

/** Lives through a schedule in a session of its own, and judges its log and its history. */
export async function live(gateways: Gateways, sessionId: string, steps: Steps): Promise<void> {
  const acknowledged = new Set<string>();
  const begin = await gateways.client('guest', 0).send(sessionId, { id: 'first', content: 'first' }).accepted;
  acknowledged.add(begin.message.id);
  const { token, grant } = await sessionSharing(gateways.client('ann', 0), sessionId).share({
    with: { link: true },
    as: 'member',
  });
  let sent = 0;
  const does = async (who: string, what: (typeof WORK)[number], at: number): Promise<'done' | 'lost'> => {
    const isLink = who === 'link';
    const client = isLink ? gateways.guest(token!, at) : gateways.client(who, at);
    const id = isLink ? grant.sessionId : sessionId;
    const control = sessionControl(client, id);
    try {
      if (what === 'send') {
        const messageId = `m${++sent}`;
        const message = { id: messageId, content: `${who} ${messageId}` };
        // A client gives up before a gateway is back that starts on a busy machine.
        await insist(() => client.send(id, message, { idempotencyKey: messageId }).accepted);
        acknowledged.add(messageId);
      } else if (what === 'take') await insist(() => control.takeOver());
      else await insist(() => control.handBack({ answer: what === 'answer' }));
      expect(isLink && what !== 'send', 'a member moves control').to.equal(false);
      return 'done';
    } catch (error) {
      // Whoever lost is told so in a code, and by whom.
      const { code, details } = error as { code: string; details: { by: string } };
      // A member may send, and neither take over nor hand back.
      if (isLink && what !== 'send') {
        expect(isGatewayError(error) && code, String(error)).to.equal('ACCESS_DENIED');
        return 'lost';
      }
      expect(isGatewayError(error) && code, String(error)).to.equal('CONTROL_TAKEN');
      expect(details.by).to.be.oneOf(['ann', 'ben', 'guest']);
      return 'lost';
    }
  };
  for (const { works, pauseMs, end } of steps) {
    const ending = end && gateways.end(end.how, end.at);
    const done = works.map(async ({ who, what, at }) => {
      if (what !== 'race') return does(who, what, at);
      const won = await Promise.all([does('ann', 'take', at), does('ben', 'take', 1 - at)]);
      // Where nothing else moves it there is one winner.
      if (works.length === 1) {
        const isOthers =
          (await insist(() => gateways.client('guest', at).session(sessionId).state())).control?.by ===
          'guest';
        expect(won.filter((outcome) => outcome === 'done')).to.have.length(isOthers ? 0 : 1);
      }
      return 'done';
    });
    await Promise.all([ending, ...done]);
    await delay(pauseMs);
  }
  const last = gateways.client('ann', 0);
  await does('ann', 'back', 0);
  await does('ben', 'back', 0);
  await does('guest', 'back', 0);
  await last.send(sessionId, { id: 'last', content: 'last' }).result;
  acknowledged.add('last');
  judgeLog(await readLog(last, sessionId));
  const ids: string[] = [];
  for (let before: string | undefined, more = true; more; ) {
    const page = await last.session(sessionId).history({ limit: 1000, ...(before && { before }) });
    ids.unshift(...page.messages.map(({ id }) => id));
    before = page.cursor ?? undefined;
    more = before !== undefined;
  }
  expect(new Set(ids).size, 'each message once').to.equal(ids.length);
  expect(ids).to.include.members([...acknowledged]);
}

async function readLog(client: Client, sessionId: string): Promise<readonly GatewayEvent[]> {
  const log: GatewayEvent[] = [];
  for await (const event of client.events(sessionId, { from: 'earliest' })) {
    if (event.type === 'gap') throw new Error('the log was cut');
    log.push(event);
    const ended = log.findLast(({ type }) => type === 'message_accepted');
    if (event.type !== 'message_end' || ended?.type !== 'message_accepted') continue;
    if (ended.message.id === 'last' && event.runId === ended.runId) return log;
  }
  throw new Error('the log has no end');
}

/** While a person has control there is nothing of a run but messages that are kept. */
export function judgeLog(log: readonly GatewayEvent[]): void {
  let control: string | null = null;
  const open = new Set<string>();
  for (const event of log) {
    if (!('runId' in event) && event.type !== 'control_moved') continue;
    if (event.type === 'control_moved') {
      const { to, by } = event;
      if (to === null) expect(by, 'handed back by who has it').to.equal(control);
      else if (control !== null) expect(to, 'taken from nobody').to.equal(control);
      control = to;
      if (to !== null) expect([...open], 'runs that go on').to.deep.equal([]);
      continue;
    }
    const runId = event.runId!;
    if (event.type === 'message_accepted') open.add(runId);
    else expect([...open], `${event.type} of a run that is over`).to.include(runId);
    if (event.type === 'message_end') {
      open.delete(runId);
      if (control !== null) {
        expect(event.stopReason).to.equal('taken_over');
        expect(event.message.content).to.deep.equal([]);
      }
    } else if (control !== null) expect(event.type, 'of a run').to.equal('message_accepted');
    if (event.type === 'message_accepted' && control !== null) {
      const { role, senderId } = event.message;
      expect(role).to.equal(senderId === control ? 'assistant' : 'user');
    }
  }
}
