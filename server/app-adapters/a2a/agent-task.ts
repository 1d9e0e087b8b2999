import { setTimeout as delay } from 'node:timers/promises';
import { isGatewayError } from '../../../shared/errors.js';
import type { AppEvent } from '../../apps/application.js';
import type { StepContext } from '../../apps/step-context.js';
import type { AgentFetch } from '../agent-fetch.js';
import { invalidReply } from '../invalid-reply.js';
import type { ItemGenerator } from '../streamed-step.js';
import { upstreamFailed } from '../upstream-failed.js';
import { type Standing, type TaskPlace, TaskReader, type TaskSaid } from './reader.js';
import type { A2aSdk, AgentCard, AgentPart, Client, TaskItem, TaskStatus } from './sdk.js';

/** The outcome of one round, as a step keeps it. */
export interface TaskAnswered {
  readonly said: readonly TaskSaid[];
  readonly place: TaskPlace | null;
  readonly standing: Standing;
  readonly status: TaskStatus | null;
}

export interface AgentTaskOptions {
  readonly card: AgentCard;
  readonly client: Client;
  readonly exchange: AgentFetch;
  /** The context of the conversation, if the agent has named one. */
  readonly contextId: string | undefined;
}

/** Streams in a row that bring nothing new. Then the run ends. */
const MAX_VAIN = 10;
const BACK_OFF = { fromMs: 100, toMs: 10_000 } as const;
/** Between two questions to an agent that does not stream, in milliseconds: it grows. */
const POLL = { fromMs: 200, toMs: 5_000 } as const;

const growing = ({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }, nth: number): number =>
  Math.min(fromMs * 2 ** Math.min(nth, 20), toMs);

/** A task of an agent in one turn. */
export class AgentTask {
  readonly reader: TaskReader;
  readonly #sdk: A2aSdk;
  readonly #options: AgentTaskOptions;

  constructor(sdk: A2aSdk, options: AgentTaskOptions) {
    this.reader = new TaskReader(sdk);
    this.#sdk = sdk;
    this.#options = options;
  }

  /**
   * Sends a message, or follows the task if there is none, and yields what the task says until it is over or asks. A stream that breaks off is taken up.
   *
   * @param parts The message; empty to follow the task
   * @throws GatewayError `UPSTREAM_FAILED`, `APP_REPLY_INVALID`
   */
  async *follow(parts: readonly AgentPart[], step: StepContext): ItemGenerator<TaskAnswered> {
    const { reader } = this;
    const noted = (step.noted ?? null) as TaskPlace | null;
    if (noted) reader.take(noted);
    let isNoted = noted !== null;
    reader.begin();
    let stream = noted || parts.length === 0 ? this.#resumed(step.signal) : this.#sent(parts, step);
    for (let vain = 0; ; vain += 1) {
      let failure: unknown = null;
      try {
        for await (const item of stream) {
          yield* reader.read(item);
          if (reader.place && !isNoted) await step.note(reader.place);
          isNoted ||= reader.place !== null;
          if (reader.standing) break;
        }
      } catch (error) {
        failure = error;
      }
      if (reader.standing) return this.#answered(reader.standing);
      step.signal.throwIfAborted();
      failure = this.#options.exchange.failure ?? failure;
      if (reader.takeNews()) vain = 0;
      if (!reader.place || vain >= MAX_VAIN || !this.#isPassing(failure)) throw this.#fault(failure);
      await delay(growing(BACK_OFF, vain), undefined, { signal: step.signal });
      stream = this.#resumed(step.signal);
    }
  }

  /** Says again what a former process has heard. */
  *again({ said, place, status }: TaskAnswered): Generator<AppEvent, void> {
    if (place) this.reader.take(place);
    yield* this.reader.again(said, status);
  }

  #answered(standing: Standing): TaskAnswered {
    const { said, place, status, message } = this.reader;
    if (standing !== 'failed') return { said, place, standing, status };
    const words = message?.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')) ?? [];
    throw upstreamFailed(new Error(`The task failed: ${words.join('')}`));
  }

  #sent(parts: readonly AgentPart[], step: StepContext): AsyncGenerator<TaskItem, void> {
    const { client, contextId = '' } = this.#options;
    const { place } = this.reader;
    const message = {
      // The same after a restart, for agents that know it again.
      messageId: step.key,
      ...{ contextId: place?.contextId ?? contextId, taskId: place?.taskId ?? '' },
      ...{ role: this.#sdk.Role.ROLE_USER, parts: [...parts], metadata: undefined },
      ...{ extensions: [], referenceTaskIds: [] },
    };
    const configuration = {
      ...{ acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true },
    };
    const request = { tenant: '', message, configuration, metadata: undefined };
    return client.sendMessageStream(request, { signal: step.signal }) as AsyncGenerator<TaskItem, void>;
  }

  /** The task as it is now, and what follows. It is asked for again if nobody may subscribe to it. */
  async *#resumed(signal: AbortSignal): AsyncGenerator<TaskItem, void> {
    const { card, client } = this.#options;
    const id = this.reader.place!.taskId;
    let streams = card.capabilities?.streaming === true;
    for (let nth = 0; ; nth += 1) {
      const task = await client.getTask({ tenant: '', id, historyLength: 0 }, { signal });
      yield { payload: { $case: 'task', value: task } } as TaskItem;
      if (streams) {
        try {
          yield* client.resubscribeTask({ tenant: '', id }, { signal }) as AsyncGenerator<TaskItem, void>;
          return;
        } catch (error) {
          // So it is also if the task has just ended.
          if (reasonOf(error) !== 'UNSUPPORTED_OPERATION') throw error;
          streams = false;
        }
      } else await delay(growing(POLL, this.reader.takeNews() ? 0 : nth), undefined, { signal });
    }
  }

  /** Whether the task may be asked for again. An agent that has answered with an error of the protocol says the same again. */
  #isPassing(failure: unknown): boolean {
    if (isGatewayError(failure)) return failure.code === 'UPSTREAM_FAILED';
    return failure === null || !this.#options.exchange.isReplying;
  }

  #fault(failure: unknown): unknown {
    if (failure === null) return upstreamFailed(new Error('The stream ended before the task did'));
    if (isGatewayError(failure)) return failure;
    if (!this.#options.exchange.isReplying || reasonOf(failure)) return upstreamFailed(failure);
    return invalidReply('it is not of A2A', failure);
  }
}

/** The name that A2A has for an error; undefined for one that is not the agent's word. */
function reasonOf(error: unknown): string | undefined {
  const { reason, cause } = (error ?? {}) as { readonly reason?: unknown; readonly cause?: unknown };
  if (typeof reason === 'string') return reason;
  return cause === undefined ? undefined : reasonOf(cause);
}
