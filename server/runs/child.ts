import { GatewayError } from '../../shared/errors.js';
import type { LoggedEvent } from '../../shared/events.js';
import { type Message, type SendInput, textOf } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { pick } from '../../shared/pick.js';
import type { Child, ChildResult } from '../apps/child.js';

/** The parts of a session that a child run's handle uses. */
export interface ChildPort {
  readonly runId: string;
  /** Settles with the end of the run, once that is stored. */
  readonly ended: Promise<RunResult>;
  /** The events of the run, from its beginning to its end. */
  events(): AsyncIterable<LoggedEvent>;
  /** @throws GatewayError `RUN_NOT_FOUND` if the run has ended */
  steer(message: SendInput): Promise<void>;
  abort(reason: string | undefined): void;
}

/** The handle of a child run that its parent has. Its methods are own fields, because apps destructure it. */
export class LiveChild implements Child {
  readonly id: string;
  readonly runId: string;
  readonly app: string;
  /** The message that it was begun with. */
  readonly asked: Message;
  readonly result: Promise<ChildResult>;
  readonly #port: ChildPort;

  constructor(id: string, { app, asked }: Pick<LiveChild, 'app' | 'asked'>, port: ChildPort) {
    this.id = id;
    this.asked = asked;
    this.runId = port.runId;
    this.app = app;
    this.#port = port;
    this.result = port.ended.then(resultOf);
    // A parent may begin a child and not wait for it.
    this.result.catch(() => {});
  }

  get events(): AsyncIterable<LoggedEvent> {
    return this.#port.events();
  }

  get text(): AsyncIterable<string> {
    return textIn(this.#port.events());
  }

  readonly steer: Child['steer'] = (message) => this.#port.steer(message);

  readonly abort: Child['abort'] = (reason) => this.#port.abort(reason);
}

/** Reasons for which a child has no result. */
const FAILED: ReadonlySet<string> = new Set(['error', 'timeout', 'lost']);

/** @throws GatewayError with the code of the child's error; `ABORTED` for a child that was lost */
function resultOf(result: RunResult): ChildResult {
  const { runId, message, stopReason, error } = result;
  if (FAILED.has(stopReason)) {
    const { code, message: text } = error ?? { code: 'ABORTED', message: 'The child run was lost' };
    throw new GatewayError({ code, message: text, details: { runId, stopReason } });
  }
  return {
    text: textOf(message),
    message,
    stopReason,
    ...pick(result, 'usage', 'totalUsage'),
  } as ChildResult;
}

async function* textIn(events: AsyncIterable<LoggedEvent>): AsyncGenerator<string, void> {
  for await (const event of events) if (event.type === 'content_delta') yield event.delta;
}
