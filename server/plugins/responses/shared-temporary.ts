import type { Identity } from '../../auth/types.js';
import { SharedWaits } from '../conversation/shared-waits.js';
import type { PluginContext, PluginPeers, PluginSession } from '../plugin.js';
import { endTemporary, type Temporary, type TemporaryOptions } from './temporary.js';

interface Entry {
  readonly token: string;
  readonly session: PluginSession;
  readonly runId: string;
  readonly identity: Identity;
  readonly timer: NodeJS.Timeout;
}

/** What waits when its gateway ends. */
interface Adopted {
  readonly token: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly identity: Identity;
}

/** Sessions of responses that are not stored, known to all gateways on the store: their caller may come back to any. */
export class SharedTemporarySessions implements Temporary {
  readonly #peers: PluginPeers;
  readonly #options: TemporaryOptions;
  readonly #waits: SharedWaits;
  /** What this gateway drops when nobody comes. */
  readonly #entries = new Map<string, Entry>();
  readonly #under = new Set<Promise<void>>();

  constructor(context: PluginContext, peers: PluginPeers, options: TemporaryOptions) {
    this.#peers = peers;
    this.#options = options;
    this.#waits = new SharedWaits(peers, options.toolWaitMs);
    peers.on('adopt', ({ token, sessionId, runId, identity }: Adopted) => {
      this.#watch({ token, session: context.session(sessionId, identity), runId, identity });
    });
  }

  async wait(session: PluginSession, runId: string, identity: Identity): Promise<void> {
    await this.taken(session);
    const token = await this.#waits.keep([session.id], '');
    this.#watch({ token, session, runId, identity });
  }

  #watch(waiting: Omit<Entry, 'timer'>): void {
    const timer = setTimeout(() => {
      this.#entries.delete(waiting.token);
      this.#do(this.#expire(waiting));
    }, this.#options.toolWaitMs).unref();
    this.#entries.set(waiting.token, { ...waiting, timer });
  }

  async #expire({ token, session, runId }: Omit<Entry, 'timer'>): Promise<void> {
    if (await this.#waits.take(token)) await endTemporary(session, runId, this.#options.report);
  }

  async taken(session: PluginSession): Promise<void> {
    const found = await this.#waits.find(session.id);
    if (!found) return;
    await this.#waits.take(found.token);
    await this.#waits.forget([session.id]);
    clearTimeout(this.#entries.get(found.token)?.timer);
    this.#entries.delete(found.token);
  }

  async drop(session: PluginSession, runId: string): Promise<void> {
    await this.taken(session);
    await this.#do(endTemporary(session, runId, this.#options.report));
  }

  /** What is under way when the gateway ends is waited for. */
  #do(work: Promise<unknown>): Promise<void> {
    const done = work
      .then(
        () => {},
        (error: unknown) => this.#options.report(error, 'a session that is not stored could not be dropped'),
      )
      .finally(() => this.#under.delete(done));
    this.#under.add(done);
    return done;
  }

  /** Others drop what nobody comes back to. */
  async drain(): Promise<void> {
    const left = [...this.#entries.values()];
    this.#entries.clear();
    for (const { timer } of left) clearTimeout(timer);
    await Promise.all(
      left.map(({ token, session, runId, identity }) =>
        this.#peers.askAll('adopt', { token, sessionId: session.id, runId, identity } satisfies Adopted),
      ),
    );
  }

  async settled(): Promise<void> {
    await this.drain();
    await Promise.all(this.#under);
  }
}
