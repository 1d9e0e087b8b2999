import type { Session } from './session.js';

/** The sessions with work under way here, and the number of those that are held. Going through them costs the same however many are idle. */
export class AtWork {
  /** Number of sessions that this gateway holds. */
  held = 0;
  /** Sessions in which work began, until they are found to be idle. */
  readonly #begun = new Set<Session>();

  /** Called when a run, a call or a question begins. */
  begins(session: Session): void {
    this.#begun.add(session);
  }

  forget(session: Session): void {
    this.#begun.delete(session);
  }

  *[Symbol.iterator](): Generator<Session, void, undefined> {
    for (const session of this.#begun) {
      const { held, callsUnderWay } = session;
      if (callsUnderWay > 0 || held?.runs.busy || held?.runs.questions.size) yield session;
      else this.#begun.delete(session);
    }
  }
}
