import type { UserContext } from '../../shared/contract.js';
import type { QueuedMessage } from '../../shared/fold.js';
import type { RunRequest } from '../runs/run.js';
import type { OpenRun } from '../stores/store.js';

/** What of a request its session's log does not hold, because its readers are not to see it. */
type Private = Pick<RunRequest, 'key' | 'user' | 'metadata' | 'clientTools' | 'parameters' | 'trace'> & {
  readonly messageId: string;
};

/** Writes down what it takes to start a run in another process. */
export function toOpenRun({
  runId,
  message,
  key,
  user,
  metadata,
  clientTools,
  parameters,
  trace,
}: RunRequest): OpenRun {
  const kept: Private = { messageId: message.id, key, user, metadata, clientTools, parameters, trace };
  return { runId, request: JSON.stringify(kept) };
}

/** What former processes left open, by run. */
export class OpenRuns {
  readonly #runs: ReadonlyMap<string, Private>;
  readonly #creator: string | undefined;

  /** @param creator Id of the user who began the session, for a run of which nothing else is known. */
  constructor(runs: readonly OpenRun[], creator: string | undefined) {
    this.#runs = new Map(runs.map(({ runId, request }) => [runId, JSON.parse(request) as Private]));
    this.#creator = creator;
  }

  /** Id of the message that a run answers, and its idempotency key. */
  get(runId: string): Pick<Private, 'messageId' | 'key'> | undefined {
    return this.#runs.get(runId);
  }

  request({ runId, message, preceding = [], onBusy }: QueuedMessage): RunRequest {
    const user = this.#creator === undefined ? null : ({ id: this.#creator } as UserContext);
    const kept: Omit<Private, 'messageId'> = this.#runs.get(runId) ?? {
      key: undefined,
      user,
      metadata: {},
      clientTools: [],
      parameters: {},
    };
    const { key, metadata, clientTools, parameters, trace } = kept;
    return {
      ...{
        runId,
        message,
        preceding,
        onBusy,
        key,
        user: kept.user,
        metadata,
        clientTools,
        parameters,
        trace,
      },
    };
  }
}
