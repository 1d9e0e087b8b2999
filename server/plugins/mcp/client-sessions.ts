import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../shared/errors.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Person } from '../../auth/types.js';
import type { PluginPeers } from '../plugin.js';
import { ownerOf } from './caller.js';
import type { ToolView } from './catalogue.js';
import { ClientNotes } from './client-notes.js';
import { McpSession } from './client-session.js';
import type { McpLimits } from './options.js';
import { hear, type PeerMessage } from './peer-messages.js';
import type { McpSdk } from './sdk.js';
import type { ToolServers } from './tool-server.js';

const RETRY_AFTER_MS = 10_000;

interface Owned {
  readonly owner: string;
  readonly session: McpSession;
  /** Frees its place. */
  leave(): void;
}

/** The steps of opening a session. */
export interface Handshake {
  /** The client's request. */
  readonly initialize: unknown;
  /** Chooses the tools of its client. */
  choose(): Promise<ToolView>;
  /** Has the session answer the client's `initialize`. */
  answer(session: McpSession, view: ToolView): Promise<void>;
}

/** The parts that client sessions use. */
export interface ClientSessionsOptions {
  readonly limits: McpLimits;
  /** The endpoint at other gateways, to which clients may come next. */
  readonly peers: PluginPeers;
  report(error: unknown, what: string): void;
}

/** The client sessions of an endpoint. Each belongs to the user who opened it; to others it does not exist. */
export class ClientSessions {
  readonly #sdk: McpSdk;
  readonly #servers: ToolServers;
  readonly #limits: McpLimits;
  /** Sorted by their last use, the longest unused first. */
  readonly #byId = new Map<string, Owned>();
  readonly #places = new Map<string, number>();
  readonly #holder: string;
  readonly #notes: ClientNotes;
  readonly #report: ClientSessionsOptions['report'];
  /** Sessions of other gateways that are being revived here. */
  readonly #reviving = new Map<string, Promise<Owned | undefined>>();
  #taken = 0;
  #closed = false;

  constructor(sdk: McpSdk, servers: ToolServers, { limits, peers, report }: ClientSessionsOptions) {
    this.#sdk = sdk;
    this.#servers = servers;
    this.#limits = limits;
    this.#holder = peers.holder;
    this.#report = report;
    this.#notes = new ClientNotes(peers, limits, report);
    peers.on('message', (told: PeerMessage) => {
      const found = this.#byId.get(told.sessionId);
      if (found?.owner === told.owner) hear(found.session, told);
    });
    peers.on('end', (id: string) => this.#byId.get(id)?.session.close());
    peers.on('unused', async (id: string) => {
      const found = this.#byId.get(id);
      if (found?.session.inUse) return false;
      await found?.session.close();
      return true;
    });
  }

  /** The session of a user; undefined if there is none, or it is another user's. */
  find(id: string, person: Person): MaybePromise<Owned | undefined> {
    const owner = ownerOf(person);
    const own = (found: Owned | undefined): Owned | undefined => (found?.owner === owner ? found : undefined);
    const found = this.#byId.get(id);
    if (found) return own(found);
    let reviving = this.#reviving.get(id);
    if (!reviving) {
      reviving = this.#revive(id, owner).finally(() => this.#reviving.delete(id));
      this.#reviving.set(id, reviving);
    }
    return reviving.then(own);
  }

  /** Goes on with a session that another gateway has begun. */
  async #revive(id: string, owner: string): Promise<Owned | undefined> {
    const note = await this.#notes.find(id);
    if (note?.owner !== owner) {
      this.#notes.left(id);
      return undefined;
    }
    const leave = this.#take(owner);
    try {
      const session = await this.#create(id, owner, { leave });
      await session.replay(note.initialize);
      if (!this.#byId.has(id)) await session.close();
    } finally {
      if (!this.#byId.has(id)) leave();
    }
    return this.#byId.get(id);
  }

  #create(
    id: string,
    owner: string,
    { leave, begun }: { leave(): void; begun?(): Promise<void> },
  ): Promise<McpSession> {
    const opening = McpSession.open(this.#sdk, {
      id,
      server: this.#servers.create(),
      limits: this.#limits,
      holder: this.#holder,
      onOpen: async () => {
        if (this.#closed) throw new GatewayError({ code: 'SHUTTING_DOWN' });
        await begun?.();
        this.#byId.set(id, { owner, session: await opening, leave });
      },
      onUse: () => this.#used(id),
      onClose: () => {
        this.#byId.delete(id);
        this.#notes.left(id);
        leave();
      },
    });
    return opening;
  }

  #used(id: string): void {
    const found = this.#byId.get(id);
    if (!found) return;
    this.#byId.delete(id);
    this.#byId.set(id, found);
    this.#notes.used(id);
  }

  /** The client has ended its session. */
  async end(id: string): Promise<void> {
    await this.#notes.end(id);
  }

  /**
   * Opens a session for a user. It stays, and is found by its id, if its client's `initialize` was accepted.
   *
   * @throws GatewayError `RATE_LIMITED` for a user with too many sessions in use, `OVERLOADED` if the endpoint has too many
   */
  async open(person: Person, { initialize, choose, answer }: Handshake): Promise<void> {
    const owner = ownerOf(person);
    const leave = this.#take(owner);
    const id = randomUUID();
    let session: McpSession | undefined;
    try {
      const view = await choose();
      const begun = () => this.#notes.begin(id, { owner, initialize });
      session = await this.#create(id, owner, { leave, begun });
      await answer(session, view);
    } finally {
      if (!this.#byId.has(id)) {
        await session?.close();
        leave();
      }
    }
  }

  /** Takes a slot, and returns a function that frees it. Sessions that are being opened count too. */
  #take(owner: string): () => void {
    const { sessionsPerUser, sessions } = this.#limits;
    const own = (): number => this.#places.get(owner) ?? 0;
    if (own() >= sessionsPerUser && !this.#makeRoom(owner))
      throw full('RATE_LIMITED', 'You have too many MCP sessions in use');
    if (this.#taken >= sessions && !this.#makeRoom())
      throw full('OVERLOADED', 'There are too many MCP sessions in use');
    this.#places.set(owner, own() + 1);
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

  /**
   * Ends the session that is unused for longest, since most clients never end theirs: one of a user, or of the user who has most, so that
   * nobody shuts out the others. False if all are in use.
   */
  #makeRoom(user?: string): boolean {
    let found: string | undefined;
    let most = 0;
    for (const [id, { owner, session }] of this.#byId) {
      const count = this.#places.get(owner)!;
      if (session.inUse || count <= most || (user ?? owner) !== owner) continue;
      found = id;
      most = count;
    }
    if (found === undefined) return false;
    const { session, leave } = this.#byId.get(found)!;
    this.#byId.delete(found);
    leave();
    const ended = Promise.all([session.close(), this.#notes.unused(found)]);
    ended.catch((error: unknown) => this.#report(error, 'an unused MCP session could not be ended'));
    return true;
  }

  /** Ends every session. None can be opened any more. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#byId.values()].map(({ session }) => session.close()));
  }
}

function full(code: 'RATE_LIMITED' | 'OVERLOADED', message: string): GatewayError {
  return new GatewayError({ code, message, retryAfterMs: RETRY_AFTER_MS });
}
