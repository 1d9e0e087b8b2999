import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Identity } from '../../auth/types.js';
import type { PluginSession } from '../plugin.js';

/** What is known of a session that is dropped with its answer. */
interface Entry {
  readonly session: PluginSession;
  readonly runId: string;
  readonly timer: NodeJS.Timeout;
}

/** How long sessions wait, and who is told of what fails. */
export interface TemporaryOptions {
  readonly toolWaitMs: number;
  report(error: unknown, what: string): void;
}

/** Where sessions of responses wait that are not stored. */
export interface Temporary {
  /** Its answer has paused: nobody may come back. */
  wait(session: PluginSession, runId: string, identity: Identity): MaybePromise<void>;
  /** Somebody is there again. */
  taken(session: PluginSession): MaybePromise<void>;
  /** Ends the run if it has not ended, and drops the session. */
  drop(session: PluginSession, runId: string): Promise<void>;
  /** Ends what waits for callers who could not come back. */
  drain(): MaybePromise<void>;
  /** Resolves when what was dropped is away. */
  settled(): Promise<void>;
}

/** Ends a run if it has not ended, and drops its session. Never rejects. */
export async function endTemporary(
  session: PluginSession,
  runId: string,
  report: TemporaryOptions['report'],
): Promise<void> {
  try {
    await session.abort({ runId, reason: 'its answer is not stored' });
    await session.discard();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'SESSION_NOT_FOUND')
      report(error, `the session of run ${runId} could not be dropped`);
  }
}

/** Sessions of responses that are not stored. Where they wait for their caller's functions they are kept until that comes back. */
export class TemporarySessions implements Temporary {
  readonly #waiting = new Map<string, Entry>();
  readonly #dropping = new Set<Promise<void>>();
  readonly #options: TemporaryOptions;

  constructor(options: TemporaryOptions) {
    this.#options = options;
  }

  wait(session: PluginSession, runId: string): void {
    this.taken(session);
    const timer = setTimeout(() => void this.drop(session, runId), this.#options.toolWaitMs).unref();
    this.#waiting.set(this.#placeOf(session), { session, runId, timer });
  }

  taken(session: PluginSession): void {
    const place = this.#placeOf(session);
    clearTimeout(this.#waiting.get(place)?.timer);
    this.#waiting.delete(place);
  }

  async drop(session: PluginSession, runId: string): Promise<void> {
    this.taken(session);
    const dropped = endTemporary(session, runId, this.#options.report);
    this.#dropping.add(dropped);
    await dropped;
    this.#dropping.delete(dropped);
  }

  drain(): void {
    for (const { session, runId } of [...this.#waiting.values()]) void this.drop(session, runId);
  }

  async settled(): Promise<void> {
    this.drain();
    await Promise.all(this.#dropping);
  }

  /** Names are random: two users have not the same. */
  #placeOf({ id }: PluginSession): string {
    return id;
  }
}
