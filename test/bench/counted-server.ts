import { getHeapStatistics } from 'node:v8';
import { createDelta, reply } from '../../bench/peers/application.js';
import { createPeer } from '../../bench/peers/gateway.js';
import { Pipe } from '../../bench/peers/pipe.js';
import { Counter } from './counter.js';

// A gateway in a process of its own that says what it made for a piece of work. Without optimised code (`--no-opt`) and with room for
// all that is made, so that nothing is collected, its allocations are the same from run to run.

export type CountCommand =
  /** Produces events, some in every fourth turn of the event loop, so that it shows which writes are late. */
  | { readonly do: 'emit'; readonly turns: number; readonly perTurn: number; readonly sessions: number }
  | { readonly do: 'start' }
  | { readonly do: 'stop' }
  /** What events cost their producer alone, as they do when nobody serves them. */
  | { readonly do: 'emitBase'; readonly turns: number; readonly perTurn: number; readonly sessions: number }
  | { readonly do: 'replyBase'; readonly message: string };

const [port = '', socketPath = '', variant = '', what = ''] = process.argv.slice(2);
const countsAllocations = what === 'allocations';
const counter = new Counter();
const peer = createPeer({
  async server() {
    const server = await import('../../server/index.js');
    // Each event is counted by itself.
    (server.DEFAULT_LIMITS as { gatherMs: number }).gatherMs = 0;
    return server;
  },
  sqlite: () => import('../../server/stores/sqlite/index.js'),
  redis: () => import('../../server/stores/redis/index.js'),
  postgres: () => import('../../server/stores/postgres/index.js'),
});
const served = await peer.start({ port: Number(port), socketPath, variant });

/** Turns of the event loop from one that produces events to the next. */
const EVERY = 4;
let turn = 0;
/** How many writes came so many turns after the one that produced an event. */
const late = new Uint32Array(64);
let emittedIn = 0;
let heapBefore = 0;
counter.onWrite = () => {
  const turns = Math.min(turn - emittedIn, late.length - 1);
  late[turns] = late[turns]! + 1;
};

/** How late all writes are but a quarter: a store that is putting its pages on the disk holds up a few, for as long as the disk takes. */
function lateness(): number {
  let left = late.reduce((sum, count) => sum + count, 0) / 4;
  let turns = late.length - 1;
  while (turns > 0 && late[turns]! <= left) left -= late[turns--]!;
  return turns;
}

function emit(
  { turns, perTurn, sessions }: Extract<CountCommand, { do: 'emit' | 'emitBase' }>,
  push: (session: string) => void,
): Promise<void> {
  let emitted = 0;
  const last = turn + turns * EVERY;
  return new Promise((resolve) => {
    const next = (): void => {
      turn += 1;
      if (turn > last) return resolve();
      if (turn % EVERY === 0) {
        emittedIn = turn;
        for (let n = 0; n < perTurn; n++) push(`s${emitted++ % sessions}`);
      }
      setImmediate(next);
    };
    setImmediate(next);
  });
}

const heardByNobody = new Map<string, Pipe>();

function pushToNobody(session: string): void {
  let pipe = heardByNobody.get(session);
  if (!pipe) {
    pipe = new Pipe();
    heardByNobody.set(session, pipe);
    const events = pipe;
    void (async () => {
      for await (const _ of events);
    })();
  }
  pipe.push(createDelta());
}

async function answer(command: CountCommand): Promise<object> {
  switch (command.do) {
    case 'emit':
      await emit(command, (session) => served.emit!(session, createDelta()));
      return {};
    case 'emitBase':
      await emit(command, pushToNobody);
      return {};
    case 'replyBase':
      for await (const _ of reply(command.message));
      return {};
    case 'start':
      globalThis.gc!();
      late.fill(0);
      heapBefore = getHeapStatistics().used_heap_size;
      counter.start(!countsAllocations);
      return {};
    case 'stop': {
      const made = counter.stop();
      const { used_heap_size: heap } = getHeapStatistics();
      return { ...made, lateness: lateness(), allocated: heap - heapBefore };
    }
  }
}

process.on('message', (command: CountCommand) => {
  answer(command).then((said) => process.send!(said));
});
process.on('disconnect', () => process.exit(0));
process.send!({});
