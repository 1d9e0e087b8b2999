import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../shared/errors.js';
import type { Identity } from '../../auth/types.js';
import type { ToolView } from './catalogue.js';
import { ClientSession } from './client-session.js';
import type { McpLimits } from './options.js';
import type { McpSdk } from './sdk.js';
import type { ToolServers } from './tool-server.js';

const RETRY_AFTER_MS = 10_000;

interface Owned {
  readonly owner: string;
  readonly session: ClientSession;
}

/** How a session comes about. */
export interface Handshake {
  /** Chooses what its client is shown. */
  choose(): Promise<ToolView>;
  /** Has the session answer the client's `initialize`. */
  answer(session: ClientSession, view: ToolView): Promise<void>;
}

/** The client sessions of an endpoint. Each belongs to the user who opened it; to others it does not exist. */
export class ClientSessions {
  readonly #sdk: McpSdk;
  readonly #servers: ToolServers;
  readonly #limits: McpLimits;
  readonly #byId = new Map<string, Owned>();
  readonly #places = new Map<string, number>();
  #taken = 0;
  #closed = false;

  constructor(sdk: McpSdk, servers: ToolServers, limits: McpLimits) {
    this.#sdk = sdk;
    this.#servers = servers;
    this.#limits = limits;
  }

  /** The session of a user; undefined for one that is not there, or another's. */
  find(id: string, identity: Identity): Owned | undefined {
    const found = this.#byId.get(id);
    return found?.owner === ownerOf(identity) ? found : undefined;
  }

  /**
   * Opens a session for a user. It stays, and is found by its id, if its client's `initialize` was accepted.
   *
   * @throws GatewayError `RATE_LIMITED` for a user with too many, `OVERLOADED` when the endpoint has too many
   */
  async open(identity: Identity, { choose, answer }: Handshake): Promise<void> {
    const owner = ownerOf(identity);
    const leave = this.#take(owner);
    const id = randomUUID();
    let session: ClientSession | undefined;
    try {
      const view = await choose();
      const opened = await ClientSession.open(this.#sdk, {
        id,
        server: this.#servers.create(),
        limits: this.#limits,
        onOpen: () => {
          if (this.#closed) throw new GatewayError({ code: 'SHUTTING_DOWN' });
          this.#byId.set(id, { owner, session: opened });
        },
        onClose: () => {
          this.#byId.delete(id);
          leave();
        },
      });
      session = opened;
      await answer(opened, view);
    } finally {
      if (!this.#byId.has(id)) {
        await session?.close();
        leave();
      }
    }
  }

  /** Takes a place, and returns how to leave it. Sessions that are being opened count too. */
  #take(owner: string): () => void {
    const { sessionsPerUser, sessions } = this.#limits;
    const own = this.#places.get(owner) ?? 0;
    if (own >= sessionsPerUser) throw full('RATE_LIMITED', 'You have too many open MCP sessions');
    if (this.#taken >= sessions) throw full('OVERLOADED', 'There are too many open MCP sessions');
    this.#places.set(owner, own + 1);
    this.#taken += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#taken -= 1;
      const others = this.#places.get(owner)! - 1;
      if (others === 0) this.#places.delete(owner);
      else this.#places.set(owner, others);
    };
  }

  /** Ends every session; none can be opened any more. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#byId.values()].map(({ session }) => session.close()));
  }
}

/** The same user in another scope is somebody else. */
function ownerOf({ userKey, scope }: Identity): string {
  return JSON.stringify([userKey, scope]);
}

function full(code: 'RATE_LIMITED' | 'OVERLOADED', message: string): GatewayError {
  return new GatewayError({ code, message, retryAfterMs: RETRY_AFTER_MS });
}
