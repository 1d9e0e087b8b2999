import type { Identity } from '../../auth/types.js';
import { SharedWaits } from '../conversation/shared-waits.js';
import type { PluginContext, PluginPeers } from '../plugin.js';
import { ChatRun, type KeptRun } from './chat-run.js';
import { fits, ownerOf, type WaitingDesk, type WaitingLimits, type WantedRun } from './waiting-runs.js';

interface Entry {
  readonly token: string;
  readonly run: ChatRun;
  readonly identity: Identity;
  readonly timer: NodeJS.Timeout;
}

/** A run whose gateway ends while it waits. */
interface Adopted {
  readonly token: string;
  readonly kept: KeptRun;
  readonly identity: Identity;
}

/**
 * Runs that wait for the results of their callers' tools, known to all gateways on the store: a caller may bring them to any, and one goes
 * on. The bound for each user counts what waits here.
 */
export class SharedWaitingRuns implements WaitingDesk {
  readonly #context: PluginContext;
  readonly #peers: PluginPeers;
  readonly #limits: WaitingLimits;
  readonly #waits: SharedWaits;
  /** What this gateway ends when nobody comes. */
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Set<Promise<void>>();

  constructor(context: PluginContext, peers: PluginPeers, limits: WaitingLimits) {
    this.#context = context;
    this.#peers = peers;
    this.#limits = limits;
    this.#waits = new SharedWaits(peers, limits.toolWaitMs);
    peers.on('adopt', ({ token, kept, identity }: Adopted) => {
      this.#watch(token, identity, this.#revived(kept, identity));
    });
  }

  #revived(kept: KeptRun, identity: Identity, clientTools: ReadonlySet<string> = new Set()): ChatRun {
    const session = this.#context.session(kept.sessionId, identity);
    return new ChatRun({ ...kept, session, clientTools, report: this.#context.report });
  }

  async add(identity: Identity, run: ChatRun): Promise<void> {
    const owner = ownerOf(identity);
    const own = [...this.#entries.values()].filter((entry) => ownerOf(entry.identity) === owner);
    if (own.length >= this.#limits.perUser) this.#abandon(own[0]!);
    const kept = run.kept();
    this.#watch(await this.#waits.keep(namesOf(owner, kept), JSON.stringify(kept)), identity, run);
  }

  #watch(token: string, identity: Identity, run: ChatRun): void {
    const timer = setTimeout(() => this.#abandon(entry), this.#limits.toolWaitMs).unref();
    const entry = { token, run, identity, timer };
    this.#entries.set(token, entry);
  }

  async take(identity: Identity, wanted: WantedRun): Promise<ChatRun | null> {
    const owner = ownerOf(identity);
    const { callIds, sessionId, clientTools } = wanted;
    const names = callIds ? [...callIds].map((id) => callName(owner, id)) : [sessionName(owner, sessionId!)];
    for (const name of names) {
      const found = await this.#waits.find(name);
      if (!found) continue;
      const kept = JSON.parse(found.value) as KeptRun;
      if (!fits(kept, wanted) || !(await this.#waits.take(found.token))) continue;
      const entry = this.#entries.get(found.token);
      if (entry) this.#remove(entry);
      await this.#waits.forget(namesOf(owner, kept));
      return entry?.run ?? this.#revived(kept, identity, clientTools);
    }
    return null;
  }

  #remove({ token, timer }: Entry): void {
    clearTimeout(timer);
    this.#entries.delete(token);
  }

  #abandon(entry: Entry): void {
    this.#remove(entry);
    const closing = this.#end(entry).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #end({ token, run }: Entry): Promise<void> {
    try {
      if (await this.#waits.take(token)) await run.close('nobody brought the results of its tools');
    } catch (error) {
      this.#context.report(error, 'a run that waited could not be ended');
    }
  }

  /** Others end what nobody comes back to. */
  async drain(): Promise<void> {
    const entries = [...this.#entries.values()];
    for (const entry of entries) this.#remove(entry);
    const left = entries.filter(({ run }) => run.ephemeral);
    await Promise.all(
      left.map(({ token, run, identity }) =>
        this.#peers.askAll('adopt', { token, kept: run.kept(), identity } satisfies Adopted),
      ),
    );
  }

  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }
}

const callName = (owner: string, callId: string): string => `${owner}\ncall:${callId}`;
const sessionName = (owner: string, sessionId: string): string => `${owner}\nsession:${sessionId}`;

function namesOf(owner: string, { waitingFor, sessionId, ephemeral }: KeptRun): string[] {
  const names = waitingFor.map((callId) => callName(owner, callId));
  return ephemeral ? names : [...names, sessionName(owner, sessionId)];
}
