import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChaosCluster } from './chaos-cluster.js';
import { person } from './clients/person.js';
import { readBySdk, readRaw } from './clients/readers.js';
import { send } from './clients/sender.js';
import type { Setting } from './clients/setting.js';
import { quiet, viewOf } from './clients/views.js';
import type { Costs, History, View } from './history.js';

/** How long everything may take to be told and quiet once all is mended, in milliseconds: what takes longer hangs. */
const SETTLE_MS = 40_000;
/** The same of readers: after many attempts in vain the client waits for half a minute before the next. */
const CATCH_UP_MS = 75_000;

export interface LoadOptions {
  /** Sessions of each app. */
  readonly sessions: { readonly talk: number; readonly steady: number; readonly asks: number };
  /** Senders of each session. */
  readonly senders: number;
  /** Further raw readers, which share the sessions. @default 0 */
  readonly streams?: number;
  /** Begins the name of each session: other than those of other loads of the same cluster. @default '' */
  readonly prefix?: string;
}

export const LOAD: LoadOptions = { sessions: { talk: 2, steady: 2, asks: 1 }, senders: 2 };

/** Clients of every kind at work on a cluster, until they are told to stop; then all that they have seen. */
export class Load {
  readonly #setting: Setting;
  readonly #sessions: readonly string[];
  readonly #stop = new AbortController();
  readonly #over: AbortController;
  readonly #senders: Promise<void>;
  readonly #readers: Promise<unknown>;

  private constructor(
    setting: Setting,
    over: AbortController,
    { sessions, senders, streams = 0, prefix = '' }: LoadOptions,
  ) {
    this.#setting = setting;
    this.#over = over;
    const named = Object.entries(sessions).flatMap(([app, count]) =>
      Array.from({ length: count }, (_, n) => ({
        app,
        n,
        id: `${app === 'talk' ? '' : `${app}:`}${prefix}${app}${n}`,
      })),
    );
    this.#sessions = named.map(({ id }) => id);
    const further = Array.from({ length: streams }, (_, n) =>
      readRaw(setting, this.#sessions[n % named.length]!, { name: `stream ${n}` }),
    );
    this.#readers = Promise.all([
      ...further,
      ...named.flatMap(({ app, id }) => [
        readBySdk(setting, id, 'sse'),
        readBySdk(setting, id, 'websocket'),
        ...(app === 'asks'
          ? ['Ann', 'Bob'].map((name) => readRaw(setting, id, { name, ...person(setting, name, id) }))
          : [readRaw(setting, id)]),
      ]),
    ]);
    const { random } = setting;
    const asks = (): string => (random() < 0.5 ? 'question' : 'confirmation');
    const says = (): string => `say ${Math.floor(random() ** 3 * 60)}`;
    this.#senders = Promise.all(
      named.flatMap(({ app, id, n: number }) =>
        Array.from({ length: senders }, (_, n) =>
          send(
            setting,
            {
              client: `${id.split(':').at(-1)}${'abcd'[n]}`,
              sessionId: id,
              what: app === 'asks' ? asks : says,
              interrupts: app === 'talk' && number === 1 ? 25 : 0,
              aborts: app === 'asks' ? 0 : 10,
            },
            this.#stop.signal,
          ),
        ),
      ),
    ).then(() => {});
  }

  static start(cluster: ChaosCluster, random: () => number, options: LoadOptions = LOAD): Load {
    const over = new AbortController();
    // Every client of a test listens.
    setMaxListeners(0, over.signal);
    const setting = {
      cluster,
      random,
      over: over.signal,
      sent: [],
      aborted: [],
      answered: [],
      readings: [],
    };
    return new Load(setting, over, options);
  }

  /** A session in use, whose holder a fault may come upon. */
  get sessionId(): string {
    return this.#sessions[0]!;
  }

  /** Resolves once every session has begun to be answered. */
  async begun(): Promise<void> {
    const isBegun = (id: string): boolean =>
      this.#setting.sent.some(({ sessionId, ends }) => sessionId === id && ends.length > 0);
    while (!this.#sessions.every(isBegun)) await delay(20);
  }

  /** Lets the clients end what they have begun, on a cluster that is whole, and takes down how all gateways show it. */
  async settle(costs: Costs): Promise<{ readonly history: History; readonly stuck: readonly string[] }> {
    this.#stop.abort();
    const { cluster, sent, aborted, answered, readings } = this.#setting;
    const stuck: string[] = [];
    const bounded = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), SETTLE_MS).unref());
    if ((await Promise.race([this.#senders, bounded])) === 'late') {
      for (const { key, ends, refused, acknowledged } of sent) {
        if (ends.length > 0 || refused !== undefined) continue;
        stuck.push(`${key} was ${acknowledged.length > 0 ? 'accepted and not ended' : 'not answered'}`);
      }
    }
    const views: View[] = [];
    for (const id of this.#sessions) {
      await quiet(cluster.nodes, id, SETTLE_MS / 2).catch((error) => stuck.push(String(error)));
      for (const node of cluster.nodes) {
        try {
          const view = await viewOf(node, id);
          if (view) views.push(view);
        } catch (error) {
          stuck.push(`${node.name} does not show ${id}: ${error}`);
        }
      }
    }
    await this.#caughtUp(views).catch((error) => stuck.push(String(error)));
    this.#over.abort();
    await this.#readers;
    const calls = cluster.calls().filter(({ sessionId }) => this.#sessions.includes(sessionId));
    return { history: { sent, aborted, answered, readings, calls, views, costs }, stuck };
  }

  /** Resolves once each reader was shown the last event of its session. */
  async #caughtUp(views: readonly View[]): Promise<void> {
    const until = performance.now() + CATCH_UP_MS;
    for (const { reader, sessionId, shown } of this.#setting.readings) {
      const last = views.find((view) => view.sessionId === sessionId)?.events.at(-1)?.cursor;
      const isThere = (): boolean => {
        const item = shown.at(-1);
        return item?.kind === 'event' ? item.event.cursor === last : (item as any)?.cursor === last;
      };
      while (last !== undefined && !isThere()) {
        if (performance.now() > until) throw new Error(`${reader} was never shown ${last}`);
        await delay(50);
      }
    }
  }
}
