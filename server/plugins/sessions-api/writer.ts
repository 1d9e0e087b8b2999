import { parseCursor } from '../../../shared/cursor.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { pick } from '../../../shared/pick.js';
import { type ApiFrame, frameOf } from './frames.js';
import { RunWriter } from './run-writer.js';

/**
 * Converts a session's events to those of the API. It is a fold without clock or chance: feed it the events from the beginning of a run on,
 * each once, in order. It tells nothing of a run whose beginning it does not have.
 */
export class ApiWriter {
  readonly #runs = new Map<string, RunWriter>();
  /** Ids of events whose text was taken back later. */
  readonly gone = new Set<string>();

  /** @param next The events that came together with it, and follow */
  take(event: GatewayEvent, next: readonly GatewayEvent[] = []): ApiFrame[] {
    switch (event.type) {
      case 'session_updated':
        // A session begins with what it is called.
        if (parseCursor(event.cursor)?.seq === 1) return [];
        return [frameOf(event, 'session.updated', pick(event, 'title', 'metadata'))];
      case 'session_closed':
        return [frameOf(event, event.reason === 'deleted' ? 'session.deleted' : 'session.status_terminated')];
      case 'message_accepted':
      case 'run_spawned':
        this.#runs.set(event.runId!, new RunWriter(event.runId!, event.type === 'run_spawned', this.gone));
    }
    const runId = 'runId' in event ? event.runId : undefined;
    const frames = this.#runs.get(runId ?? '')?.take(event, next) ?? [];
    if (event.type === 'message_end') this.#runs.delete(runId!);
    return frames;
  }
}
