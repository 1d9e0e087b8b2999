import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Package from '../../server/index.js';
import type * as Postgres from '../../server/stores/postgres/index.js';
import type * as Redis from '../../server/stores/redis/index.js';
import type * as Sqlite from '../../server/stores/sqlite/index.js';
import { httpGet, httpPost, wsFrame, wsUpgrade } from '../load/wire.js';
import { appendTo } from './appending.js';
import {
  CALL,
  createDelta,
  createTask,
  type Delta,
  replies,
  reply,
  TOKEN,
  taskSchema,
} from './application.js';
import { type ObserverModules, observed } from './observed.js';
import type { Peer, Served } from './peer.js';
import { Pipe } from './pipe.js';

const hello = JSON.stringify({ type: 'connect', protocol: { min: 1, max: 1 }, token: TOKEN });
const subscribe = (session: string): string =>
  JSON.stringify({ type: 'req', id: 'q1', method: 'subscribe', params: { add: [session] } });

/** An application's run of this message yields what is emitted to its session. */
const EMITTED = 'emitted';

/** Modules of this package. */
export interface Modules {
  server(): Promise<typeof Package>;
  sqlite(): Promise<typeof Sqlite>;
  redis(): Promise<typeof Redis>;
  postgres(): Promise<typeof Postgres>;
  /** Of the variants that are observed. */
  readonly observers?: ObserverModules;
}

const load = (path: string) => import(pathToFileURL(join(process.env.PACKAGE!, path)).href);

/** This package as it is built, in the folder that PACKAGE names. */
const built: Modules = {
  server: () => load('server/index.js'),
  sqlite: () => load('server/stores/sqlite/index.js'),
  redis: () => load('server/stores/redis/index.js'),
  postgres: () => load('server/stores/postgres/index.js'),
  observers: {
    metrics: () => load('server/plugins/metrics/index.js'),
    telemetry: () => load('server/telemetry/index.js'),
  },
};

/**
 * A gateway; its variants are `sqlite` with that store, `redis` and `postgres` with the one that STORE_URL names and without retention,
 * `unbounded` without retention, `metrics` and `all` with who observes it, and `untold`, which can't be observed.
 */
export const createPeer = (modules: Modules): Peer => ({
  // `message_end` has the whole message.
  saysDeltas: 2,
  doors: {
    sse: (session) => ({ stages: [[httpGet(`/events?sessionId=${session}`), 'connected']] }),
    ws: (session) => ({
      stages: [
        [wsUpgrade('/ws'), '\r\n\r\n'],
        [wsFrame(hello), '"connected"'],
        [wsFrame(subscribe(session)), '"ok":true'],
      ],
    }),
    unix: (session) => ({
      stages: [
        [`${hello}\n`, '"connected"'],
        [`${subscribe(session)}\n`, '"ok":true'],
      ],
    }),
    send: (message, n) => ({ request: httpPost('/send', { sessionId: `r${n}`, message }) }),
    sendWs: (message, n) => ({
      stages: [
        [wsUpgrade('/ws'), '\r\n\r\n'],
        [wsFrame(hello), '"connected"'],
        [wsFrame(subscribe(`r${n}`)), '"ok":true'],
      ],
      request: wsFrame(
        JSON.stringify({ type: 'req', id: 'r1', method: 'send', params: { sessionId: `r${n}`, message } }),
      ),
    }),
    accept: (message, n) => ({
      request: httpPost('/send', { sessionId: `r${n}`, message }, 'Prefer: respond-async\r\n'),
    }),
    invoke: () => ({ request: httpPost('/invoke', CALL) }),
    invokeWs: () => ({
      stages: [
        [wsUpgrade('/ws'), '\r\n\r\n'],
        [wsFrame(hello), '"connected"'],
      ],
      request: wsFrame(JSON.stringify({ type: 'req', id: 'r1', method: 'invoke', params: CALL })),
    }),
    replay: () => ({ request: httpGet('/events?sessionId=s0&from=earliest') }),
  },

  async start({ port, socketPath, variant }) {
    const { createGateway, DEFAULT_LIMITS, defineApp, memoryStore, method } = await modules.server();
    const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
    const pipes = new Map<string, Pipe>();
    const app = defineApp({
      run(turn) {
        const parts = replies(turn.text);
        if (parts.length > 0) return inLanes(turn, parts);
        return turn.text === EMITTED ? pipes.get(turn.session.id)! : reply(turn.text);
      },
    });
    const store = (await storeOf(modules, variant, join(folder, 'gateway.db'))) ?? memoryStore();
    const { plugins, logger } = modules.observers
      ? await observed(variant, modules.observers)
      : { plugins: [] };
    const created = createGateway({
      app,
      host: '127.0.0.1',
      port,
      socketPath,
      auth: { type: 'token', token: TOKEN },
      methods: {
        tasks: { create: method({ schema: taskSchema, handler: async (task) => createTask(task) }) },
      },
      // What is late is measured, and not refused; another checkout may have no such limit.
      limits: { ...unlimited(variant), ...('loopDelayMs' in DEFAULT_LIMITS && { loopDelayMs: Infinity }) },
      store,
      ...(logger && { logger }),
    });
    for (const plugin of plugins) created.use(plugin);
    await created.start();
    return serve(created, store, pipes, () => rmSync(folder, { recursive: true, force: true }));
  },
});

/** Has a child run say each part of an answer. */
async function inLanes(turn: Package.Turn, parts: readonly AsyncIterable<Delta>[]): Promise<void> {
  const children = parts.map((part, n) => turn.spawn('part', { message: String(n), run: () => part }));
  await Promise.all(children.map(({ result }) => result));
}

async function storeOf(modules: Modules, variant: string, path: string): Promise<Package.Store | undefined> {
  const { STORE_URL: url = '' } = process.env;
  switch (variant) {
    case 'sqlite':
      return (await modules.sqlite()).sqliteStore({ path });
    case 'redis':
      return (await modules.redis()).redisStore({ url });
    case 'postgres':
      return (await modules.postgres()).postgresStore({ url });
  }
  return undefined;
}

export const gateway = createPeer(built);

/** One user asks for more than many do, so what bounds a user is off; what bounds a session is as it is by default, but its queue: those who do not wait fill it. */
function unlimited(variant: string): Partial<Package.Limits> {
  const off = Infinity;
  return {
    connectionsPerAddress: off,
    requestsPerAddress: off,
    handshakes: off,
    streamsPerUser: off,
    subscribesPerSecond: off,
    sessionBytes: off,
    unreadBytes: off,
    shared: {
      connections: off,
      sessions: off,
      sendsPerSecond: off,
      invokesPerSecond: off,
      readsPerSecond: off,
      bytes: off,
    },
    queueLength: off,
    answerSize: off,
    runMs: off,
    streamMs: off,
    // Runs of what is emitted never end.
    drainMs: 0,
    // Gateways that follow a flood may fall behind what is kept: their readers would be told of a gap.
    ...(/^(?:unbounded|redis|postgres)$/.test(variant) && {
      retention: { events: off, bytes: off, ageMs: off },
    }),
  } as Partial<Package.Limits>;
}

function serve(
  created: Package.Gateway,
  store: Package.Store,
  pipes: Map<string, Pipe>,
  clean: () => void,
): Served {
  const pipeOf = (session: string): Pipe => {
    let pipe = pipes.get(session);
    if (!pipe) {
      pipe = new Pipe();
      pipes.set(session, pipe);
      created.session(session).send(EMITTED);
    }
    return pipe;
  };
  return {
    emit: (session, event) => pipeOf(session).push(event),
    async store(events) {
      const pipe = pipeOf('s0');
      for (let n = 1; n <= events; n++) {
        pipe.push(createDelta());
        if (n % 500 === 0) await new Promise(setImmediate);
      }
      await new Promise(setImmediate);
    },
    async idle(sessions) {
      for (let n = 0; n < sessions; n++) await created.session(`idle${n}`).history();
    },
    async age(sessions, message) {
      for (let n = 0; n < sessions; n++) await created.session(`r${n}`).send(message).result;
    },
    append: (appends) => appendTo(store, appends),
    async close() {
      await created.close();
      clean();
    },
  };
}
