import type { UserContext } from '../../shared/contract.js';
import type { QueuedMessage } from '../../shared/fold.js';
import type { RunRequest } from '../runs/live-run.js';
import type { NewRun } from '../stores/append.js';
import type { LeftRun, StepRecord } from '../stores/stored.js';

/** The parts of a request that are kept out of the log, because its readers may not see them. */
type Private = Pick<
  RunRequest,
  'user' | 'grant' | 'metadata' | 'clientTools' | 'parameters' | 'toolOutputs' | 'trigger' | 'trace' | 'lane'
> & {
  readonly messageId: string;
};

/** The record from which a run is found and can be started in another process. */
export function toNewRun({ runId, key, hash, message, ...request }: RunRequest): NewRun {
  const { user, grant, metadata, clientTools, parameters, toolOutputs, trigger, trace, lane } = request;
  const kept: Private = {
    ...{ messageId: message.id, user, grant, metadata, clientTools, parameters, trace },
    ...(toolOutputs && { toolOutputs }),
    ...(trigger && { trigger }),
    ...(lane && { lane }),
  };
  return { runId, ...(key !== undefined && { key, hash }), request: JSON.stringify(kept) };
}

/** Id of the message that an unended run answers, from its stored request. */
export function messageIdOf(request: string): string {
  return (JSON.parse(request) as Private).messageId;
}

/** Whether an unended run is one beside the conversation, from its stored request. */
export function isBeside(request: string): boolean {
  return (JSON.parse(request) as Private).lane !== undefined;
}

/** The unended runs of former processes, by id. */
export class LeftRuns {
  readonly #records: ReadonlyMap<string, LeftRun>;
  readonly #creator: string | undefined;

  /** @param creator Id of the user who began the session, as the sender of runs that have no record. */
  constructor(records: readonly LeftRun[], creator: string | undefined) {
    this.#records = new Map(records.map((record) => [record.runId, record]));
    this.#creator = creator;
  }

  /** Id of the message that a run answers. */
  messageId(runId: string): string | undefined {
    return this.#private(runId)?.messageId;
  }

  /** The place that a run beside the conversation asked for. */
  lane(runId: string): RunRequest['lane'] {
    return this.#private(runId)?.lane;
  }

  /** The steps that a run has kept. */
  steps(runId: string): readonly StepRecord[] {
    return this.#records.get(runId)?.steps ?? [];
  }

  /** Place just before the first event of a run. */
  from(runId: string): number {
    return (this.#records.get(runId)?.accepted ?? 1) - 1;
  }

  #private(runId: string): Private | undefined {
    const request = this.#records.get(runId)?.request;
    return request === undefined ? undefined : (JSON.parse(request) as Private);
  }

  request({ runId, message, preceding = [], onBusy }: QueuedMessage): RunRequest {
    const creator = this.#creator === undefined ? null : ({ id: this.#creator } as UserContext);
    const unknown = { user: creator, metadata: {}, clientTools: [], parameters: {} };
    const {
      user,
      grant,
      metadata,
      clientTools,
      parameters,
      toolOutputs,
      trigger,
      trace,
      lane,
    }: Omit<Private, 'messageId'> = this.#private(runId) ?? unknown;
    const { key, hash } = this.#records.get(runId) ?? {};
    const sent = { runId, message, preceding, onBusy, key, hash };
    return { ...sent, user, grant, metadata, clientTools, parameters, toolOutputs, trigger, trace, lane };
  }
}
