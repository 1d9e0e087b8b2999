import type { UserContext } from '../../shared/contract.js';
import type { GatewayError } from '../../shared/errors.js';
import type { OnBusy } from '../../shared/events.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { ScheduleTrigger } from '../../shared/schedules.js';
import type { ClientTool } from '../apps/application.js';
import type { Context } from '../async/async-context.js';
import type { TraceOrigin } from '../diagnostics/messages.js';
import { newMessageId } from '../ids.js';
import { contextOutsideCalls } from '../methods/context.js';
import { AnswerNotes } from './answer-notes.js';

/** Everything a run is started with. */
export interface RunRequest {
  readonly runId: string;
  readonly message: Message;
  readonly preceding: readonly Message[];
  /** Ids of these messages that the caller chose. */
  readonly ownIds?: readonly string[];
  readonly onBusy: OnBusy;
  readonly key: string | undefined;
  /** Whether it may have been accepted already, by another gateway that did not live to say so. */
  readonly repeatable?: boolean | undefined;
  /** SHA-256 of the canonical body that the key was sent with, base64url. */
  readonly hash?: string | undefined;
  readonly user: UserContext | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly clientTools: readonly ClientTool[];
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What began it, where nobody sent its message. */
  readonly trigger?: ScheduleTrigger | undefined;
  /** The trace of the send that began it. */
  readonly trace?: TraceOrigin | undefined;
  /** Of the request that began it; not kept, so that another process does not know it. */
  readonly requestId?: string | undefined;
}

/** A run from acceptance to its one `message_end`. */
export class LiveRun {
  readonly request: RunRequest;
  /** Id of the answer. */
  readonly messageId: string;
  /** The answer so far, where a former process began the run and this one goes on with it. */
  readonly resumed: Message | null;
  readonly notes = new AnswerNotes();
  /** The context in which it was accepted: its app runs there, whoever started, answered or ended it; from its start on with its trace. */
  context: Context;
  /** Settles when it is over in this process: with its end, or `lost` where that could not be stored here; rejects when another process goes on with it. */
  readonly ended: Promise<RunResult>;
  /** Its message as it stands among the others, once it begins. */
  placed: Message | null = null;
  state: 'accepting' | 'queued' | 'active' | 'ended' = 'accepting';
  /** Its end is on its way to the store, which may refuse it: for new messages it is no longer there. */
  doomed = false;
  /** Monotonic milliseconds: taken up here, given to its app, first text or reasoning of it. */
  readonly acceptedAt = performance.now();
  startedAt: number | null = null;
  firstDeltaAt: number | null = null;
  /** What its app failed with. */
  failure: { readonly error: unknown } | null = null;
  #resolve!: (result: RunResult) => void;
  #reject!: (error: GatewayError) => void;

  constructor(
    request: RunRequest,
    { resumed = null, context = contextOutsideCalls() }: { resumed?: Message | null; context?: Context } = {},
  ) {
    this.request = request;
    this.resumed = resumed;
    this.context = context;
    this.messageId = resumed?.id ?? newMessageId();
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Not everybody who starts a run waits for it.
    this.ended.catch(() => {});
  }

  get id(): string {
    return this.request.runId;
  }

  /** The answer of a run that never began. */
  emptyAnswer(): Message {
    return { id: this.messageId, role: 'assistant', content: [], createdAt: Date.now() };
  }

  resolve(result: RunResult): void {
    this.#resolve(result);
  }

  reject(error: GatewayError): void {
    this.#reject(error);
  }
}
