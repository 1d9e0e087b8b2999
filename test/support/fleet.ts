import {
  createInProcessTransport,
  type Gateway,
  type GatewayConfig,
  isGatewayError,
  type SessionHandle,
} from '../../server/index.js';
import type { ClientTransport, Link } from '../../shared/client-transport.js';
import { embedGateway } from './embedded.js';
import { type Gate, gate } from './gate.js';
import { type Fates, hostileStore } from './hostile-store.js';
import type { HubNode, MemoryHub } from './memory-hub.js';
import { SessionView } from './session-view.js';
import { byName } from './users.js';

const USER = { id: 'alice' };
/** How long an answer is waited for before another gateway is asked. */
const PATIENCE_MS = 1500;
/** What is answered where the same may be asked again. */
const AGAIN = ['OVERLOADED', 'SHUTTING_DOWN', 'NETWORK', 'TIMEOUT', 'RUN_NOT_FOUND'];

/** One gateway of a fleet. */
export interface Ship {
  readonly hub: HubNode;
  readonly gateway: Gateway<any, any, any>;
  /** The session `main`. */
  readonly session: SessionHandle;
  readonly transport: ClientTransport;
  /** Opened when it is gone. */
  readonly gone: Gate;
  trouble: 'none' | 'frozen' | 'cut';
}

/** Gateways in this process that share a hub, of which any serves any call, and what can befall them. */
export class Fleet {
  readonly ships: Ship[] = [];
  readonly #hub: MemoryHub;
  readonly #config: GatewayConfig;
  readonly #random: () => number;
  readonly #fates: Fates;

  constructor(hub: MemoryHub, config: GatewayConfig, random: () => number, fates: Fates) {
    this.#hub = hub;
    this.#config = config;
    this.#random = random;
    this.#fates = fates;
  }

  async add(): Promise<void> {
    const hub = this.#hub.node();
    const { store } = hostileStore(hub.store, (method) => this.#fates(method));
    const limits = { storeMs: 200, drainMs: 20, ...this.#config.limits };
    const gateway = embedGateway({ ...this.#config, auth: byName, store, limits });
    const transport = createInProcessTransport(gateway, { user: USER });
    // It opens its store, and is a member from then on.
    const session = gateway.session('main', { user: USER });
    await session.status().catch(() => {});
    this.ships.push({ hub, gateway, session, transport, gone: gate(), trouble: 'none' });
  }

  any(): Ship {
    return this.ships[Math.floor(this.#random() * this.ships.length)]!;
  }

  /** One that nothing has befallen, where another one stays that way. */
  #victim(): Ship | null {
    const well = this.ships.filter(({ trouble }) => trouble === 'none');
    return well.length < 2 ? null : well[Math.floor(this.#random() * well.length)]!;
  }

  /** It ends without a word; another one takes its place. */
  async kill(): Promise<void> {
    const ship = this.#victim();
    if (!ship) return;
    this.ships.splice(this.ships.indexOf(ship), 1);
    ship.hub.kill();
    ship.gone.open();
    await this.add();
  }

  /** It ends in order; another one takes its place. */
  async move(): Promise<void> {
    const ship = this.#victim();
    if (!ship) return;
    this.ships.splice(this.ships.indexOf(ship), 1);
    await Promise.all([this.add(), ship.gateway.close()]);
    ship.gone.open();
  }

  freeze(): void {
    const ship = this.#victim();
    if (!ship) return;
    ship.hub.freeze();
    ship.trouble = 'frozen';
  }

  cut(): void {
    const ship = this.#victim();
    if (!ship) return;
    ship.hub.cut();
    ship.trouble = 'cut';
  }

  /** All are well again. */
  relieve(): void {
    for (const ship of this.ships) {
      if (ship.trouble === 'frozen') ship.hub.thaw();
      if (ship.trouble === 'cut') ship.hub.reconnect();
      ship.trouble = 'none';
    }
  }

  /** Asks any of them until one has done it, as a client does. @param only Asks this one alone */
  async insist<T>(work: (ship: Ship) => Promise<T>, only?: Ship): Promise<T> {
    for (;;) {
      const ship = only ?? this.any();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<null>((resolve) => {
        timer = setTimeout(() => resolve(null), PATIENCE_MS);
        ship.gone.passed.then(() => resolve(null));
      });
      try {
        const done = await Promise.race([work(ship).then((value) => ({ value })), late]);
        if (done) return done.value;
      } catch (error) {
        if (!isGatewayError(error) || !AGAIN.includes(error.code)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5));
      } finally {
        clearTimeout(timer);
      }
    }
  }
}

/** Reads the session `main` at one gateway after another, from the place that it has come to. */
export class HoppingReader {
  readonly view = new SessionView('main', { place: 'earliest' });
  readonly #fleet: Fleet;
  #link: Link | null = null;
  #cursor: string | undefined;
  #isOver = false;
  #connections = 0;
  #failed: unknown = null;
  readonly #waiting: { readonly holds: () => boolean; readonly reached: Gate }[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#open();
  }

  /** Goes to any of them. */
  hop(): void {
    const link = this.#link;
    this.#link = null;
    link?.close();
    if (!this.#isOver) this.#open();
  }

  /** Resolves once it has come so far. */
  async reads(cursor: string): Promise<void> {
    const holds = (): boolean => this.#cursor === cursor;
    const reached = gate();
    this.#waiting.push({ holds, reached });
    this.#check();
    await reached.passed;
    if (this.#failed) throw this.#failed;
  }

  close(): void {
    this.#isOver = true;
    this.hop();
  }

  #open(): void {
    const number = ++this.#connections;
    const ship = this.#fleet.any();
    this.view.reconnected();
    const again = (): void => {
      if (number === this.#connections && !this.#isOver) this.hop();
    };
    const target = this.#cursor === undefined ? { from: 'earliest' as const } : { cursor: this.#cursor };
    this.#link = ship.transport.open([{ sessionId: 'main', ...target }], {
      onEvent: (event) => {
        if (number === this.#connections) this.#take(event as never);
      },
      onClose: () => setTimeout(again, 5),
    });
    ship.gone.passed.then(again);
  }

  #take(event: { readonly type: string; readonly sessionId?: string; readonly cursor?: string }): void {
    try {
      this.view.take({ event: event.type, data: event } as never);
    } catch (error) {
      this.#failed ??= error;
    }
    const isTold = event.type === 'gap' || event.type === 'connected';
    if (event.sessionId === 'main' && event.cursor !== undefined && !isTold) this.#cursor = event.cursor;
    this.#check();
  }

  #check(): void {
    for (const { holds, reached } of this.#waiting) if (this.#failed || holds()) reached.open();
  }
}
