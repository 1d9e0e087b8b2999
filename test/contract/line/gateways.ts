import { expect } from 'chai';
import {
  defineApp,
  type Gateway,
  type GatewayConfig,
  type SessionHandle,
  type Store,
} from '../../../server/index.js';
import type { Message } from '../../../shared/messages.js';
import { isToday } from '../../support/daily.js';
import { embedGateway } from '../../support/embedded.js';
import { until } from '../../support/until.js';
import type { Cut, Hit } from './cut-line.js';

/** Two stores on one server: one through a line that is hit, and one beside it. */
export interface StoresOnALine {
  readonly store: Store;
  readonly beside: Store;
  arm(hit: Hit): void;
  disarm(): boolean | Promise<boolean>;
}

/** Which gateway holds the session when it is asked: the one whose line is hit, or the other one. */
type HeldBy = 'the gateway that is asked' | 'the other gateway' | 'nobody';

interface Operation {
  readonly name: string;
  /** What was said before. */
  readonly before: 'nothing' | 'a turn' | 'two turns' | 'a run that goes on' | 'a run that asks';
  ask(session: SessionHandle, world: World): Promise<unknown>;
  /** Whether it was done, as it is read afterwards. */
  done(session: SessionHandle, world: World): Promise<boolean>;
}

interface World {
  /** Of the first turn, or of the run that goes on. */
  readonly runId: string;
  readonly answerId: string;
  /** As lists have it. */
  title(): Promise<string | undefined>;
}

const USER = { id: 'ada' };
const textOf = ({ content }: Message): string =>
  content.map((part) => ('text' in part ? part.text : '')).join('');

async function texts(session: SessionHandle): Promise<string[]> {
  return (await session.history({ limit: 100 })).messages.map(textOf);
}

const resultText = async (session: SessionHandle, runId: string): Promise<string> => {
  const { message } = await session.run(runId).result;
  return message ? textOf(message) : '';
};

const OPERATIONS: readonly Operation[] = [
  {
    name: 'a send that begins a session',
    before: 'nothing',
    ask: (session) => session.send('pay').accepted,
    done: async (session) => (await texts(session)).includes('pay'),
  },
  {
    name: 'a send',
    before: 'a turn',
    ask: (session) => session.send('pay').accepted,
    done: async (session) => (await texts(session)).includes('pay'),
  },
  {
    name: 'a send that interrupts',
    before: 'a run that goes on',
    ask: (session) => session.send('pay', { onBusy: 'interrupt' }).accepted,
    done: async (session) => (await texts(session)).includes('pay'),
  },
  {
    name: 'regenerate',
    before: 'a turn',
    ask: (session) => session.regenerate().accepted,
    done: async (session) => {
      const { messages } = await session.history({ limit: 100 });
      return messages.some(({ versions }) => (versions?.length ?? 0) > 1);
    },
  },
  {
    name: 'move',
    before: 'two turns',
    ask: (session, { answerId }) => session.move(answerId),
    done: async (session) => !(await texts(session)).includes('second'),
  },
  {
    name: 'fork',
    before: 'a turn',
    ask: (session) => session.fork(`${session.id}-copy`),
    done: async () => true,
  },
  {
    name: 'update',
    before: 'a turn',
    ask: (session) => session.update({ title: 'Renamed' }),
    done: async (_, { title }) => (await title()) === 'Renamed',
  },
  {
    name: 'abort',
    before: 'a run that goes on',
    ask: (session, { runId }) => session.abort({ runId }),
    done: async (session, { runId }) => (await session.run(runId).result).stopReason === 'aborted',
  },
  {
    name: 'an answer to a question',
    before: 'a run that asks',
    ask: (session) => session.respond('call', { approved: true }),
    done: async (session, { runId }) => (await resultText(session, runId)).includes('approved'),
  },
  {
    name: 'close',
    before: 'a turn',
    ask: (session) => session.close(),
    done: async (session) => !(await texts(session)).includes('first'),
  },
  {
    name: 'delete',
    before: 'a turn',
    ask: (session) => session.delete(),
    done: async (session) => !(await texts(session)).includes('first'),
  },
];

const app = defineApp({
  async *run(turn) {
    if (turn.text === 'go on') {
      yield 'going';
      await new Promise((_, reject) => turn.signal.addEventListener('abort', reject, { once: true }));
    }
    if (turn.text === 'ask') {
      const { approved } = await turn.confirm({ callId: 'call', name: 'pay', input: {} });
      yield approved ? 'approved' : 'denied';
      return;
    }
    yield `heard ${turn.text}`;
  },
});

/** A call makes no more requests than these. */
const MOST_REQUESTS = 20;
/** Tries of somebody who comes again as 503 says. */
const TRIES = 20;

type Outcome = 'answered' | 'refused' | 'unknown';

async function outcomeOf(
  asked: Promise<unknown>,
): Promise<{ readonly outcome: Outcome; readonly why: string }> {
  try {
    await asked;
    return { outcome: 'answered', why: '' };
  } catch (error) {
    const { code, message, details } = error as {
      code: string;
      message: string;
      details?: { outcome?: string };
    };
    return { outcome: details?.outcome === 'unknown' ? 'unknown' : 'refused', why: `${code}: ${message}` };
  }
}

/** What callers of gateways are told where the line of one to the store is cut at one request. */
export function describeGateways(make: () => { open(): Promise<StoresOnALine> }): void {
  let line: StoresOnALine;
  let asked: Gateway<any, any, any>;
  let other: Gateway<any, any, any>;
  let count = 0;

  beforeEach(async () => {
    line = await make().open();
    const start = (store: Store, config: Partial<GatewayConfig<any, any, any>> = {}) =>
      embedGateway({ app, store, ...config });
    [asked, other] = [start(line.store), start(line.beside)];
  });

  /** Says what was said before, at whoever is to hold the session. */
  async function prepare(session: SessionHandle, before: Operation['before']): Promise<Omit<World, 'title'>> {
    if (before === 'nothing') return { runId: '', answerId: '' };
    if (before === 'a run that goes on' || before === 'a run that asks') {
      const run = session.send(before === 'a run that asks' ? 'ask' : 'go on');
      const sign = before === 'a run that asks' ? 'tool_confirmation_required' : 'content_delta';
      for await (const { type } of run) if (type === sign) break;
      return { runId: (await run.accepted).runId, answerId: '' };
    }
    const { runId, message } = await session.send('first').result;
    if (before === 'two turns') await session.send('second').result;
    return { runId, answerId: message.id };
  }

  /** Somebody who comes to the other gateway, and again where that says so. */
  async function probe(session: SessionHandle, where: string): Promise<void> {
    const told: string[] = [];
    for (let i = 0; i < TRIES; i++) {
      const run = session.send('probe', { onBusy: 'interrupt' });
      const { outcome, why } = await outcomeOf(run.accepted);
      if (outcome === 'answered') return void (await run.result);
      told.push(why);
      // What its own work left on the line may be what has failed: the store is reached anew.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect.fail(`${where}: nobody can use the session any more: ${told.join('; ')}`);
  }

  async function check(operation: Operation, heldBy: HeldBy, cut: Cut): Promise<void> {
    const seen = new Set<Outcome>();
    for (let nth = 1; nth <= MOST_REQUESTS; nth++) {
      const name = `s${++count}`;
      const here = asked.session(name, { user: USER });
      const there = other.session(name, { user: USER });
      const prepared = await prepare(heldBy === 'the gateway that is asked' ? here : there, operation.before);
      const title = async (): Promise<string | undefined> => {
        const { sessions } = await other.sessions({ user: USER, limit: 100 });
        return sessions.find(({ sessionId }) => sessionId === there.id)?.title;
      };
      const world = { ...prepared, title };
      line.arm({ cut, nth });
      const { outcome, why } = await outcomeOf(operation.ask(here, world));
      if (!(await line.disarm())) {
        expect(nth, 'it makes requests').to.be.greaterThan(1);
        expect(outcome, why).to.equal('answered');
        return;
      }
      seen.add(outcome);
      const where = `${operation.name}, request ${nth} ${cut}, ${outcome} ${why}`;
      await probe(there, where);
      if (outcome !== 'unknown')
        expect(await operation.done(there, world), where).to.equal(
          outcome === 'answered' || (operation.name === 'fork' && outcome === 'refused'),
        );
      const read = await texts(there);
      expect(read.filter((text) => text === 'pay').length, `${where}: done twice`).to.be.most(1);
      // Both have it so.
      await until(async () => JSON.stringify(await texts(here)) === JSON.stringify(read));
    }
  }

  // A quarter of them a day, in which each operation is.
  let number = 0;
  for (const cut of ['before', 'after'] as const)
    for (const heldBy of ['the gateway that is asked', 'the other gateway'] as const)
      describe(`whose line is cut ${cut} one request, of a session that ${heldBy} holds`, () => {
        for (const operation of OPERATIONS) {
          if (!isToday(number++, 4)) continue;
          it(`${operation.name}: what is refused was not done, and nobody is locked out`, () =>
            check(operation, heldBy, cut)).timeout(120_000);
        }
      });
}
