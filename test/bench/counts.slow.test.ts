import { expect } from 'chai';
import type { EventDoor } from '../../bench/peers/peer.js';
import { describeDaily } from '../support/daily.js';
import { type Counted, CountedGateway, type CountOptions, doors } from './counted-gateway.js';

/**
 * What the gateway made for one event or one call, on its own: without what the application, or a producer alone, makes. These are
 * figures of a run, to be lowered when the code is better (`COUNTS=1 npx mocha test/bench/counts.slow.test.ts` prints them); `MARGINS` says
 * how far above them a figure may be.
 *
 * `promises`, `ticks` (callbacks of process.nextTick), `immediates`, `timers`: how many are made. `writes`: how often bytes are handed to
 * the operating system, for each viewer. `bytes`: what a viewer or caller reads. `lateness`: turns of the event loop between an event and
 * its write, for all but a quarter. `allocated`: bytes taken from the heap, in code that is not optimised.
 */
// biome-ignore format: a table
const MEASURED: Readonly<Record<string, Figures>> = {
  'an event, SSE': { promises: 0, ticks: 0, immediates: 1, timers: 0, writes: 1, bytes: 138, lateness: 1, allocated: 14250 },
  'an event, WebSocket': { promises: 0, ticks: 0, immediates: 1, timers: 0, writes: 1, bytes: 143, lateness: 1, allocated: 14900 },
  'an event, Unix socket': { promises: 0, ticks: 0, immediates: 1, timers: 0, writes: 1, bytes: 140, lateness: 1, allocated: 14250 },
  'an event of a turn with 8, SSE': { promises: 0, ticks: 0, immediates: 0.13, timers: 0, writes: 0.125, bytes: 134, lateness: 1, allocated: 3950 },
  'an event of a turn with 8, WebSocket': { promises: 0, ticks: 0, immediates: 0.13, timers: 0, writes: 0.125, bytes: 144, lateness: 1, allocated: 4160 },
  'an event of each of 20 sessions, SSE': { promises: 0, ticks: 0, immediates: 0.05, timers: 0, writes: 1, bytes: 139, lateness: 1, allocated: 5950 },
  'an event of each of 20 sessions, SQLite': { promises: 4, ticks: 0, immediates: 0.1, timers: 0, writes: 1, bytes: 148, lateness: 2, allocated: 10200 },
  'an event of a send': { promises: 0.11, ticks: 0.01, immediates: 1, timers: 0.01, writes: 1, bytes: 191, lateness: 0, allocated: 7900 },
  'a send of one event': { promises: 58, ticks: 7, immediates: 2, timers: 3, writes: 2, bytes: 1241, lateness: 0, allocated: 143800 },
  'a call, HTTP': { promises: 2, ticks: 7, immediates: 0, timers: 1, writes: 1, bytes: 339, lateness: 0, allocated: 23000 },
  'a call, WebSocket': { promises: 2, ticks: 1, immediates: 0, timers: 0, writes: 1, bytes: 97, lateness: 0, allocated: 10600 },
};

type Figures = Readonly<Record<keyof typeof MARGINS, number>>;

/** How far above what was measured a figure may be, in parts of it and by itself, and what to look at where it is further. */
const MARGINS = {
  promises: {
    times: 1.05,
    plus: 0.2,
    look: 'a new `await`, or an async function, between the append and the sink',
  },
  ticks: {
    times: 1.05,
    plus: 0.2,
    look: 'flushes that are no longer one for a turn (server/delivery), or streams of Node between',
  },
  immediates: { times: 1.05, plus: 0.05, look: 'a wait for a later turn of the event loop' },
  timers: { times: 1.05, plus: 0.05, look: 'a time-out of each event or call' },
  writes: {
    times: 1,
    plus: 0.05,
    look: 'events of a turn that are no longer written together (server/delivery, the sinks)',
  },
  bytes: { times: 1.03, plus: 1, look: 'what the wire says twice (server/delivery/wire-form.ts)' },
  lateness: {
    times: 1,
    plus: 0,
    look: 'a flush that waits longer than for the end of a turn of the event loop',
  },
  allocated: {
    times: 1.3,
    plus: 300,
    look: 'copies, closures and objects on the way; `node --heap-prof` names them',
  },
} as const;

function check(what: string, counted: Readonly<Partial<Figures>>): void {
  if (process.env.COUNTS)
    console.log(
      what,
      JSON.stringify(counted, (_, it) => (it.toFixed ? round(it) : it)),
    );
  const wrong = Object.entries(counted).flatMap(([name, value]) => {
    const { times, plus, look } = MARGINS[name as keyof Figures];
    const measured = MEASURED[what]![name as keyof Figures];
    const limit = measured * times + plus;
    if (value <= limit) return [];
    return [`${name} is ${round(value)}, was ${measured}, may be ${round(limit)}; it may be ${look}`];
  });
  expect(wrong, `${what} costs more than it did:\n${wrong.join('\n')}\n`).to.deep.equal([]);
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** What one costs of `count`, without what a producer costs that nobody listens to. */
function each(
  counted: Counted,
  base: Counted | undefined,
  count: number,
  writers = 1,
): Omit<Figures, 'bytes'> {
  const one = (of: (made: Counted) => number) => (of(counted) - (base ? of(base) : 0)) / count;
  return {
    promises: one(({ promises }) => promises),
    ticks: one(({ ticks }) => ticks),
    immediates: one(({ immediates }) => immediates),
    timers: one(({ timers }) => timers),
    writes: one(({ writes }) => writes) / writers,
    allocated: one(({ allocated }) => allocated),
    lateness: counted.lateness,
  };
}

const COUNTS = [{ allocations: false }, { allocations: true }] as const;

/** Of the figures, those that were counted. */
function counted(figures: Figures, { allocations }: CountOptions): Partial<Figures> {
  const { allocated, ...others } = figures;
  return allocations ? { allocated } : others;
}

describeDaily('what the gateway makes', 2, () => {
  const events = (
    what: string,
    door: EventDoor,
    { viewers = 10, sessions = 1, perTurn = 1, ...options }: CountOptions & Emitted = {},
  ): void => {
    it(`for ${what} is what it was`, async () => {
      for (const counts of COUNTS) {
        const gateway = await CountedGateway.start({ ...options, ...counts });
        const scripts = Array.from({ length: viewers }, (_, n) => doors[door]!(`s${n % sessions}`, n));
        const clients = await gateway.clients(door, scripts);
        // Few at a time, so that no viewer is ever behind.
        const turns = 50;
        const times = perTurn > 1 ? 4 : 12;
        const emit = async (command: 'emit' | 'emitBase'): Promise<void> => {
          for (let n = 1; n <= times; n++) {
            await gateway.tell({ do: command, turns, perTurn, sessions });
            if (command === 'emit') await clients.count((n * turns * perTurn * viewers) / sessions, 60_000);
          }
        };
        await emit('emitBase');
        await emit('emit');
        const base = await gateway.count(() => emit('emitBase'));
        clients.zero(false);
        const made = await gateway.count(() => emit('emit'));
        const count = turns * times * perTurn;
        expect(clients.counts.events, 'events that viewers read').to.equal((count * viewers) / sessions);
        const bytes = clients.counts.bytes / clients.counts.events;
        check(what, counted({ ...each(made, base, count, viewers / sessions), bytes }, counts));
      }
    });
  };

  events('an event, SSE', 'sse');
  events('an event, WebSocket', 'ws');
  events('an event, Unix socket', 'unix');
  events('an event of a turn with 8, SSE', 'sse', { perTurn: 8 });
  events('an event of a turn with 8, WebSocket', 'ws', { perTurn: 8 });
  events('an event of each of 20 sessions, SSE', 'sse', { viewers: 20, sessions: 20, perTurn: 20 });
  events('an event of each of 20 sessions, SQLite', 'sse', {
    viewers: 20,
    sessions: 20,
    perTurn: 20,
    variant: 'sqlite',
  });

  const sends = (what: string, message: string, perSend: number, times: number): void => {
    it(`for ${what} is what it was`, async () => {
      for (const counts of COUNTS) {
        const gateway = await CountedGateway.start(counts);
        const clients = await gateway.clients('send', [doors.send!(message, 0)]);
        await clients.requests(times, 'http', 60_000);
        const base = await gateway.count(async () => {
          for (let n = 0; n < times; n++) await gateway.tell({ do: 'replyBase', message });
        });
        const made = await gateway.count(() => clients.requests(times, 'http', 60_000));
        const { requests, refused, bytes } = clients.counts;
        expect({ requests, refused }).to.deep.equal({ requests: times, refused: 0 });
        const count = times * perSend;
        const { lateness: _, ...figures } = each(made, base, count);
        check(what, counted({ ...figures, lateness: 0, bytes: bytes / count }, counts));
      }
    });
  };

  sends('an event of a send', 'turn:500', 500, 4);
  sends('a send of one event', 'turn:1', 1, 100);

  const calls = (what: string, door: 'invoke' | 'invokeWs', answers: 'http' | 'marked'): void => {
    it(`for ${what} is what it was`, async () => {
      for (const counts of COUNTS) {
        const gateway = await CountedGateway.start(counts);
        const clients = await gateway.clients(door, [doors[door]!()]);
        const times = 200;
        await clients.requests(times, answers, 60_000);
        const made = await gateway.count(() => clients.requests(times, answers, 60_000));
        const { requests, refused, bytes } = clients.counts;
        expect({ requests, refused }).to.deep.equal({ requests: times, refused: 0 });
        const { lateness: _, ...figures } = each(made, undefined, times);
        check(what, counted({ ...figures, lateness: 0, bytes: bytes / times }, counts));
      }
    });
  };

  calls('a call, HTTP', 'invoke', 'http');
  calls('a call, WebSocket', 'invokeWs', 'marked');
});

interface Emitted {
  readonly viewers?: number;
  readonly sessions?: number;
  /** Events of a turn, over all sessions. */
  readonly perTurn?: number;
}
