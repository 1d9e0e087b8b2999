import type { UserContext } from '../../shared/contract.js';
import type { QueuedMessage } from '../../shared/fold.js';
import type { RunRequest } from '../runs/live-run.js';
import type { LeftRun, NewRun, StepRecord } from '../stores/store.js';

/** What of a request its session's log does not hold, because its readers are not to see it. */
type Private = Pick<RunRequest, 'user' | 'metadata' | 'clientTools' | 'parameters' | 'trigger' | 'trace'> & {
  readonly messageId: string;
};

/** Writes down what it takes to find a run and to start it in another process. */
export function toNewRun({ runId, key, hash, message, ...request }: RunRequest): NewRun {
  const { user, metadata, clientTools, parameters, trigger, trace } = request;
  const kept: Private = {
    ...{ messageId: message.id, user, metadata, clientTools, parameters, trace },
    ...(trigger && { trigger }),
  };
  return { runId, ...(key !== undefined && { key, hash }), request: JSON.stringify(kept) };
}

/** Id of the message that a run answers which has not ended. */
export function messageIdOf(request: string): string {
  return (JSON.parse(request) as Private).messageId;
}

/** What former processes left open, by run. */
export class LeftRuns {
  readonly #records: ReadonlyMap<string, LeftRun>;
  readonly #creator: string | undefined;

  /** @param creator Id of the user who began the session, for a run of which nothing else is known. */
  constructor(records: readonly LeftRun[], creator: string | undefined) {
    this.#records = new Map(records.map((record) => [record.runId, record]));
    this.#creator = creator;
  }

  /** Id of the message that a run answers. */
  messageId(runId: string): string | undefined {
    return this.#private(runId)?.messageId;
  }

  /** What a run has kept of its steps. */
  steps(runId: string): readonly StepRecord[] {
    return this.#records.get(runId)?.steps ?? [];
  }

  #private(runId: string): Private | undefined {
    const request = this.#records.get(runId)?.request;
    return request === undefined ? undefined : (JSON.parse(request) as Private);
  }

  request({ runId, message, preceding = [], onBusy }: QueuedMessage): RunRequest {
    const creator = this.#creator === undefined ? null : ({ id: this.#creator } as UserContext);
    const unknown = { user: creator, metadata: {}, clientTools: [], parameters: {} };
    const { user, metadata, clientTools, parameters, trigger, trace }: Omit<Private, 'messageId'> =
      this.#private(runId) ?? unknown;
    const { key, hash } = this.#records.get(runId) ?? {};
    const sent = { runId, message, preceding, onBusy, key, hash };
    return { ...sent, user, metadata, clientTools, parameters, trigger, trace };
  }
}
