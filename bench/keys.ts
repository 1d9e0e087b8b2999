import {
  measureAccepted,
  measureAppend,
  measureBehind,
  measureHot,
  measureNodes,
} from './measure/cluster.js';
import { type FanOut, measureFanOut } from './measure/fan-out.js';
import { measureInstalled } from './measure/installed.js';
import { measureConnections, measureSessions } from './measure/memory.js';
import { measureAtLoad, measureCarried, type OpenDoor } from './measure/open-loop.js';
import { measureReplay } from './measure/replay.js';
import { type Call, measureInvoke, measureSend } from './measure/requests.js';
import type { Sample, Settings } from './measure/sample.js';
import { measureStartup } from './measure/startup.js';
import { measureViewers } from './measure/viewers.js';

/** A row of a key's table. */
export interface Contender {
  readonly label: string;
  /** The peer that runs, with its variant. */
  readonly peer: string;
  measure(peer: string, settings: Settings): Promise<Sample>;
}

export interface Key {
  readonly title: string;
  readonly unit: string;
  /** All but `main` are measured where they are asked for. */
  readonly group: 'main' | 'open' | 'quiet' | 'growth' | 'steady' | 'observed' | 'cluster';
  /** The first one is what the others are compared with. */
  readonly contenders: readonly Contender[];
  /** Most rounds that are worth their time. */
  readonly rounds?: number;
}

type Measure = (peer: string, settings: Settings) => Promise<Sample>;

const peers = (names: string, measure: Measure): Contender[] =>
  names.split(' ').map((name) => ({ label: name, peer: name, measure }));

const main = (title: string, unit: string, contenders: readonly Contender[], rounds?: number): Key => ({
  title,
  unit,
  group: 'main',
  contenders,
  ...(rounds !== undefined && { rounds }),
});

const fanOut = (title: string, names: string, what: FanOut): Key =>
  main(
    title,
    'deliveries/s',
    peers(names, (peer, settings) => measureFanOut(peer, what, settings)),
  );

const one = (door: FanOut['door'], subscribers: number): FanOut => ({
  door,
  subscribers,
  sessions: 1,
  perTurn: 1,
});

const each = (door: FanOut['door']): FanOut => ({ door, subscribers: 1000, sessions: 1000, perTurn: 8 });

const send = (title: string, names: string, message: string, clients: number, rounds: number): Key =>
  main(
    title,
    'sends/s',
    peers(names, (peer, settings) => measureSend(peer, { message, clients, rounds }, settings)),
  );

const invoke = (title: string, names: string, door: Call): Key =>
  main(
    title,
    'calls/s',
    peers(names, (peer, settings) => measureInvoke(peer, { door, clients: 32 }, settings)),
  );

const replay = (title: string, clients: number): Key =>
  main(
    title,
    'events/s',
    peers('raw gateway:unbounded', (peer, settings) =>
      measureReplay(peer, { events: 100_000, clients }, settings),
    ),
  );

/** Sizes of one thing, each a row; the peer is the gateway. */
const growth = (
  title: string,
  sizes: readonly number[],
  at: (size: number) => FanOut,
  peer = 'gateway',
): Key => ({
  title,
  unit: 'deliveries/s',
  group: 'growth',
  contenders: sizes.map((size) => ({
    label: size.toLocaleString('en'),
    peer,
    measure: (name, settings) => measureFanOut(name, at(size), settings),
  })),
});

const STEADY = { message: 'turn:500', clients: 32, rounds: 4 } as const;
const steady = (
  label: string,
  peer: string,
  before: Parameters<typeof measureSend>[1]['before'],
): Contender => ({
  label,
  peer,
  measure: (name, settings) => measureSend(name, { ...STEADY, ...(before && { before }) }, settings),
});
/** One run of more events than are kept. */
const OLD = { sessions: 32, message: 'sync:10500' } as const;

/** What it costs to be observed: beside the same gateway that can't be. */
const observed = (title: string, unit: string, measure: Measure): Key => ({
  title,
  unit,
  group: 'observed',
  contenders: [
    { label: 'untold', peer: 'gateway:untold', measure },
    { label: 'nobody listens', peer: 'gateway', measure },
    { label: 'metrics', peer: 'gateway:metrics', measure },
    { label: 'all', peer: 'gateway:all', measure },
  ],
});

/** Where sessions are kept: in the process, in a file, and in what gateways share. */
const KEPT = ['gateway', 'gateway:sqlite', 'gateway:redis', 'gateway:postgres'];

/** What a core carries of answers as models give them. */
const open = (title: string, names: string, door: OpenDoor): Key => ({
  title,
  unit: 'answers at the same time',
  group: 'open',
  contenders: peers(names, (peer, settings) => measureCarried(peer, door, settings)),
});

const atLoad = (answers: number): Key => ({
  title: `${answers} answers at the same time, SSE: from when a piece was due to its reading`,
  unit: 'ms, p99',
  group: 'open',
  contenders: peers(`raw express fastify ${KEPT.join(' ')}`, (peer, settings) =>
    measureAtLoad(peer, 'send', answers, settings),
  ),
});

/** The same pieces of each answer from its run, and by turns from child runs of it. */
const inLanes = (answers: number, lanes: number): Key => ({
  title: `${answers} answers at the same time, WebSocket: their pieces said by one run, and by ${lanes} child runs`,
  unit: 'ms, p99',
  group: 'open',
  contenders: [
    {
      label: 'one lane',
      peer: 'gateway',
      measure: (name, settings) => measureAtLoad(name, 'sendWs', answers, settings),
    },
    {
      label: `${lanes} lanes`,
      peer: 'gateway',
      measure: (name, settings) => measureAtLoad(name, 'sendWs', answers, { ...settings, lanes }),
    },
  ],
});

const viewers = (names: string, door: FanOut['door']): Record<string, Key> =>
  Object.fromEntries(
    [1, 100, 1000, 10_000].map((count) => [
      `viewers-${door}-${count}`,
      {
        title: `one answer of 50 pieces a second, ${count.toLocaleString('en')} viewers: until they have read a piece`,
        unit: 'ms, p99',
        group: 'open',
        contenders: peers(names, (peer, settings) =>
          measureViewers(peer, { door, viewers: count }, settings),
        ),
      },
    ]),
  );

const quiet = (clients: number): Key => ({
  title: `memory of a quiet viewer, of ${clients.toLocaleString('en')}, SSE`,
  unit: 'KiB of RSS',
  group: 'quiet',
  contenders: peers('raw express gateway', (peer, settings) =>
    measureConnections(peer, { door: 'sse', clients }, settings),
  ),
});

const cluster = (title: string, unit: string, contenders: readonly Contender[]): Key => ({
  title,
  unit,
  group: 'cluster',
  contenders,
});

/** The gateway that holds a session, alone and on each store that is shared, and beside each of those another one. */
const besideHolder = (
  measure: (peer: string, whom: 'holder' | 'another', settings: Settings) => Promise<Sample>,
): Contender[] => [
  ...KEPT.map((peer) => ({
    label: peer,
    peer,
    measure: (name: string, settings: Settings) => measure(name, 'holder', settings),
  })),
  ...KEPT.slice(2).map((peer) => ({
    label: `${peer} at another`,
    peer,
    measure: (name: string, settings: Settings) => measure(name, 'another', settings),
  })),
];

/** One gateway alone, and one, two and three on a store. */
const over = (
  first: string,
  counts: readonly number[],
  measure: (peer: string, count: number, settings: Settings) => Promise<Sample>,
): Contender[] => [
  { label: first, peer: first, measure: (name, settings) => measure(name, 1, settings) },
  ...KEPT.slice(2).flatMap((peer) =>
    counts.map((count) => ({
      label: `${peer} over ${count}`,
      peer,
      measure: (name: string, settings: Settings) => measure(name, count, settings),
    })),
  ),
];

export const KEYS: Readonly<Record<string, Key>> = {
  'sessions-sse': fanOut(
    '1,000 sessions with one viewer each, SSE',
    'raw:socket raw express better-sse hono gateway',
    each('sse'),
  ),
  'sessions-ws': fanOut(
    '1,000 sessions with one viewer each, WebSocket',
    'ws:frame ws socket.io gateway',
    each('ws'),
  ),
  'fan-out-sse-100': fanOut(
    'one session, 100 viewers, SSE',
    'raw:socket raw express better-sse hono trpc gateway',
    one('sse', 100),
  ),
  'fan-out-sse-1000': fanOut(
    'one session, 1,000 viewers, SSE',
    'raw:socket express better-sse gateway',
    one('sse', 1000),
  ),
  'fan-out-ws-1000': fanOut(
    'one session, 1,000 viewers, WebSocket',
    'ws:frame ws socket.io gateway',
    one('ws', 1000),
  ),
  'fan-out-unix-100': fanOut('one session, 100 viewers, Unix socket', 'raw gateway', one('unix', 100)),
  'burst-sse-100': fanOut('one session, 100 viewers, SSE, 8 events a turn', 'raw:joined express gateway', {
    ...one('sse', 100),
    perTurn: 8,
  }),
  'send-32': send(
    '32 senders, runs of 500 events',
    'raw express fastify hono better-sse gateway gateway:sqlite',
    'turn:500',
    32,
    4,
  ),
  'paced-32': send(
    '32 senders, runs of 100 events, one every 10 ms',
    'raw express fastify gateway',
    'paced:100:10',
    32,
    1,
  ),
  'invoke-http-32': invoke('32 callers of a method, HTTP', 'raw fastify express hono trpc gateway', 'invoke'),
  'invoke-ws-32': invoke('32 callers of a method, WebSocket', 'ws socket.io trpc gateway', 'invokeWs'),
  'replay-1': replay('100,000 events read from the first on, 1 reader', 1),
  'replay-100': replay('100,000 events read from the first on, 100 readers', 100),
  'memory-sse': main(
    'memory of an idle viewer, SSE',
    'KiB of RSS',
    peers('raw express better-sse gateway', (peer, settings) =>
      measureConnections(peer, { door: 'sse', clients: 5000 }, settings),
    ),
    2,
  ),
  'memory-ws': main(
    'memory of an idle viewer, WebSocket',
    'KiB of RSS',
    peers('ws socket.io gateway', (peer, settings) =>
      measureConnections(peer, { door: 'ws', clients: 5000 }, settings),
    ),
    2,
  ),
  'memory-session': main(
    'memory of an idle session',
    'KiB of RSS',
    peers('gateway', (peer, settings) => measureSessions(peer, 10_000, settings)),
    2,
  ),
  startup: main(
    'from the start of a process to its first answer',
    'ms',
    peers('raw fastify express socket.io gateway', measureStartup),
  ),
  installed: main(
    'what is installed, dependencies included',
    'KiB',
    peers('fastify express socket.io gateway', measureInstalled),
    1,
  ),

  'open-sse': open(
    'answers of 50 pieces a second that a core carries, SSE',
    'raw express fastify gateway gateway:sqlite gateway:redis gateway:postgres',
    'send',
  ),
  'open-ws': open(
    'answers of 50 pieces a second that a core carries, WebSocket',
    'ws:frame ws socket.io gateway gateway:sqlite gateway:redis gateway:postgres',
    'sendWs',
  ),
  'load-100': atLoad(100),
  'load-300': atLoad(300),
  'load-600': atLoad(600),
  'load-900': atLoad(900),
  'lanes-40': inLanes(40, 4),
  ...viewers('raw:socket express gateway', 'sse'),
  ...viewers('ws:frame socket.io gateway', 'ws'),
  'quiet-10000': quiet(10_000),
  'quiet-50000': quiet(50_000),

  'steady-send': {
    title: '32 senders, runs of 500 events, in sessions older than their retention',
    unit: 'sends/s',
    group: 'steady',
    contenders: [
      steady('raw', 'raw', undefined),
      steady('new sessions', 'gateway', undefined),
      steady('old sessions', 'gateway', { age: OLD }),
      steady('old sessions, after a call', 'gateway', { age: OLD, invoked: true }),
      steady('old sessions, SQLite', 'gateway:sqlite', { age: OLD }),
    ],
  },
  'observed-invoke': observed('32 callers of a method, HTTP, observed', 'calls/s', (peer, settings) =>
    measureInvoke(peer, { door: 'invoke', clients: 32 }, settings),
  ),
  'observed-send': observed('32 senders, runs of 500 events, observed', 'sends/s', (peer, settings) =>
    measureSend(peer, { message: 'turn:500', clients: 32, rounds: 4 }, settings),
  ),
  'observed-sse': observed(
    '1,000 sessions with one viewer each, SSE, observed',
    'deliveries/s',
    (peer, settings) => measureFanOut(peer, each('sse'), settings),
  ),
  'cluster-append-1': cluster(
    'appends of one event to a store, 100 sessions at once',
    'events/s',
    KEPT.map((peer) => ({
      label: peer,
      peer,
      measure: (name, settings) => measureAppend(name, 1, settings),
    })),
  ),
  'cluster-append-16': cluster(
    'appends of 16 events to a store, 100 sessions at once',
    'events/s',
    KEPT.map((peer) => ({
      label: peer,
      peer,
      measure: (name, settings) => measureAppend(name, 16, settings),
    })),
  ),
  'cluster-send': cluster(
    'from a message to its acceptance, at the holder of the session and at another gateway',
    'ms, p50',
    besideHolder(measureAccepted),
  ),
  'cluster-behind': cluster(
    'from the production of an event to its reader, at the holder and at another gateway',
    'ms, p50',
    besideHolder(measureBehind),
  ),
  'cluster-hot': cluster(
    'one session, 300 viewers over one and three gateways, SSE',
    'deliveries/s',
    over('gateway', [1, 3], measureHot),
  ),
  'cluster-nodes': cluster(
    '33 senders, runs of 500 events, over one to three gateways; CPU for each event',
    'sends/s',
    over('gateway:sqlite', [1, 2, 3], measureNodes),
  ),
  'growth-viewers': growth('one session, more and more viewers, SSE', [1, 10, 100, 1000, 10_000], (size) =>
    one('sse', size),
  ),
  'growth-sessions': growth(
    'more and more sessions with one viewer each, SSE',
    [1, 10, 100, 1000, 10_000],
    (size) => ({ door: 'sse', subscribers: size, sessions: size, perTurn: Math.min(8, size) }),
  ),
  'growth-stored': growth(
    'a session with one viewer, more and more events stored',
    [1, 100, 10_000, 100_000],
    (size) => ({ ...one('sse', 1), stored: size }),
    'gateway:unbounded',
  ),
};
