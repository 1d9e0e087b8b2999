import type { MaybePromise } from '../async/maybe-promise.js';
import { type Presence, UNREACHED } from '../auth/presence.js';
import type { Person } from '../auth/types.js';
import { traceConnectionEnd } from '../diagnostics/connection-end.js';
import type { Report } from '../diagnostics/log-facts.js';
import { newConnectionId } from '../ids.js';
import { LimitError } from '../limit-error.js';
import type { ConnectionPlace } from '../limits/quotas.js';
import { type ConnectionEnding, EventConnection, type EventConnectionOptions } from './connection.js';
import { Tally } from './tally.js';
import type { Ticker } from './ticker.js';

/** The parts of a gateway that its connections use. */
export interface ConnectionsEnvironment {
  readonly gatewayId: string;
  /** Id of this gateway among those on its store. */
  readonly holder: string;
  readonly ticker: Ticker;
  /** The callers of open connections, so that connections end when a caller is withdrawn. */
  readonly presence: Presence;
  /** The places that one more connection of a caller takes: its own, and its tenant's where that has a limit. */
  places(person: Person): readonly ConnectionPlace[];
  /** Called after the caller of a connection was authenticated again. @throws GatewayError to end it */
  renew(connection: EventConnection, person: Person): MaybePromise<void>;
  readonly report: Report;
}

/** Separator between the random part of an id and the gateway's name. */
const AT = '~';

/** Notices of connections to the gateway's listeners. */
export interface ConnectionNotice {
  readonly type: 'client:connected' | 'client:disconnected';
  readonly connection: EventConnection;
}

/** Every open connection of a gateway. */
export class Connections {
  /** Counts of everything that was sent, including on connections that have ended. */
  readonly tally = new Tally();
  readonly #env: ConnectionsEnvironment;
  readonly #notify: (notice: ConnectionNotice) => void;
  readonly #open = new Map<string, EventConnection>();
  /** Open connections of clients, by payer and by tenant. */
  readonly #taken = new Map<string, number>();
  readonly #announced = new WeakSet<EventConnection>();

  constructor(env: ConnectionsEnvironment, notify: (notice: ConnectionNotice) => void) {
    this.#env = env;
    this.#notify = notify;
  }

  /** A new connection id. It names this gateway, so that others on the store know where to ask for the connection. */
  newId(): string {
    return `${newConnectionId()}${AT}${this.#env.holder}`;
  }

  /** The other gateway that has a connection open, from its id. Null if the id names this gateway or none. */
  elsewhere(id: string): string | null {
    const { holder } = this.#env;
    const at = id.indexOf(AT);
    if (at < 0) return null;
    const named = id.slice(at + 1);
    return named === '' || named === holder ? null : named;
  }

  /** The open connections. */
  values(): Iterable<EventConnection> {
    return this.#open.values();
  }

  get size(): number {
    return this.#open.size;
  }

  /** @throws GatewayError `TOO_MANY_CONNECTIONS` if the user, or its tenant, has as many as are allowed */
  add(options: EventConnectionOptions): EventConnection {
    const places = options.client ? this.#take(options.person) : [];
    const connection: EventConnection = new EventConnection(
      options,
      (closed, ending) => {
        leave();
        this.#remove(closed, places, ending);
      },
      this.#env.report,
      this.tally,
    );
    const leave = this.#env.presence.add({
      get person() {
        return connection.person;
      },
      renew: (person) => this.#env.renew(connection, person),
      get sessionIds() {
        return connection.sessionIds;
      },
      // A client that comes back learns for each session whether it is still there.
      end: (why) => connection.end(why === UNREACHED ? 'interrupted' : 'expired'),
    });
    this.#open.set(options.id, connection);
    this.#env.ticker.add(connection);
    return connection;
  }

  /** Notifies the listeners of a client whose request was granted. */
  announce(connection: EventConnection): void {
    if (connection.closed || !connection.options.client) return;
    this.#announced.add(connection);
    this.#notify({ type: 'client:connected', connection });
  }

  get(id: string): EventConnection | undefined {
    return this.#open.get(id);
  }

  /** Asks every client to reconnect elsewhere. A stream of a single run ends with its run. */
  drain(reason: 'drain' | 'away' = 'drain'): void {
    for (const connection of [...this.#open.values()]) if (connection.options.client) connection.end(reason);
  }

  /** Whether any connection still follows a single run. */
  get tellOfRuns(): boolean {
    for (const { options } of this.#open.values()) if (options.ofRun) return true;
    return false;
  }

  /** Ends all open connections. */
  endAll(): void {
    for (const connection of [...this.#open.values()]) connection.end('drain');
  }

  /** @returns keys of the places that were taken */
  #take(person: Person): readonly string[] {
    const places = this.#env.places(person);
    for (const { key, most, option, whose } of places) {
      if ((this.#taken.get(key) ?? 0) < most) continue;
      throw new LimitError(option, {
        code: 'TOO_MANY_CONNECTIONS',
        message: `A ${whose} can have ${most} open connections`,
        retryAfterMs: 5000,
      });
    }
    for (const { key } of places) this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    return places.map(({ key }) => key);
  }

  #remove(connection: EventConnection, places: readonly string[], ending: ConnectionEnding): void {
    this.#open.delete(connection.id);
    this.#env.ticker.delete(connection);
    traceConnectionEnd(this.#env.gatewayId, connection, ending);
    for (const key of places) {
      const count = this.#taken.get(key)! - 1;
      if (count > 0) this.#taken.set(key, count);
      else this.#taken.delete(key);
    }
    if (this.#announced.has(connection)) this.#notify({ type: 'client:disconnected', connection });
  }
}
