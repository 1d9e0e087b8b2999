import type { IdentifiedRun } from '../../../shared/responses/ids.js';
import type { Person } from '../../auth/types.js';
import { codeOf } from '../conversation/errors.js';
import { CallerWaits } from '../conversation/waits.js';
import type { PluginContext, PluginSession } from '../plugin.js';

/** Sessions of responses with `store: false`. A session that waits for its caller's functions is kept until the caller comes back. */
export class TemporarySessions {
  readonly #waits: CallerWaits<IdentifiedRun>;
  readonly #report: PluginContext['report'];
  readonly #dropping = new Set<Promise<void>>();

  constructor(context: PluginContext, toolWaitMs: number) {
    this.#report = context.report;
    this.#waits = new CallerWaits(context, {
      waitMs: toolWaitMs,
      names: ({ sessionId }) => [sessionId],
      end: ({ sessionId, runId }, person) => this.#end(context.session(sessionId, person), runId),
    });
  }

  /** Starts the wait for a caller that may never come back. */
  async wait(sessionId: string, runId: string, person: Person): Promise<void> {
    await this.taken(sessionId, person);
    await this.#waits.add(person, { sessionId, runId });
  }

  /** Ends the wait: the caller is back. */
  async taken(sessionId: string, person: Person): Promise<void> {
    await this.#waits.take(person, [sessionId]);
  }

  /** Ends the run if it has not ended, and drops the session. */
  async drop(session: PluginSession, runId: string, person: Person): Promise<void> {
    const dropping = this.taken(session.id, person)
      .then(() => this.#end(session, runId))
      .catch((error: unknown) => this.#report(error, 'a session that is not stored could not be dropped'));
    this.#dropping.add(dropping);
    await dropping;
    this.#dropping.delete(dropping);
  }

  async #end(session: PluginSession, runId: string): Promise<void> {
    try {
      await session.abort({ runId, reason: 'its answer is not stored' });
      await session.discard();
    } catch (error) {
      if (codeOf(error) !== 'SESSION_NOT_FOUND') throw error;
    }
  }

  /** Ends runs that wait for callers, which cannot come back to a closing gateway. */
  drain(): Promise<void> {
    return this.#waits.drain();
  }

  /** Resolves when all sessions that are being dropped are gone. */
  async settled(): Promise<void> {
    await this.#waits.settled();
    await Promise.all(this.#dropping);
  }
}
