import type { UserContext } from '../../shared/contract.js';
import type { GatewayError } from '../../shared/errors.js';
import type { OnBusy } from '../../shared/events.js';
import type { LanePlace, Message } from '../../shared/messages.js';
import type { GivenOutput, RunResult } from '../../shared/operation-types.js';
import type { Variants } from '../../shared/variants/contract.js';
import type { ClientTool, Turn } from '../apps/application.js';
import type { Context } from '../async/async-context.js';
import type { TraceOrigin } from '../diagnostics/messages.js';
import { newMessageId } from '../ids.js';
import { contextOutsideCalls } from '../methods/context.js';
import { AnswerNotes } from './answer-notes.js';

/** The user who has a message sent, and the grant by which that user came; without one the session is the user's. */
export interface RunSender {
  readonly user: UserContext | null;
  readonly grant?: SenderGrant | undefined;
}

/** The grant by which a sender came. */
export interface SenderGrant {
  readonly id: string;
  /** Id of the person who gave the link; absent for a user, who came by no link. */
  readonly givenBy?: string | undefined;
}

/** Everything that starts a run. */
export interface RunRequest extends RunSender {
  readonly runId: string;
  readonly message: Message;
  readonly preceding: readonly Message[];
  /** Those ids of the messages that the caller chose. */
  readonly ownIds?: readonly string[];
  readonly onBusy: OnBusy;
  readonly key: string | undefined;
  /** Whether another gateway may already have accepted the run and died before it answered. */
  readonly repeatable?: boolean | undefined;
  /** SHA-256 of the canonical body that the key was sent with, base64url. */
  readonly hash?: string | undefined;
  /** Key of the person who has read the conversation up to the message, by sending it. It is stored with the message, and no longer. */
  readonly reader?: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly clientTools: readonly ClientTool[];
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Outputs of tools that it is given in place of calls. */
  readonly toolOutputs?: readonly GivenOutput[] | undefined;
  /** The place of a run beside the conversation. Its lane is known once its beginning is stored. */
  readonly lane?: LaneRequest | undefined;
  /** The trigger of a run whose message nobody sent. */
  readonly trigger?: Turn['trigger'] | undefined;
  /** Trace of the send that began the run. */
  readonly trace?: TraceOrigin | undefined;
  /** Id of the request that began the run. It is not stored, so another process does not know it. */
  readonly requestId?: string | undefined;
}

/** The place that a run beside the conversation asks for. */
export interface LaneRequest extends Omit<LanePlace, 'lane' | 'asked'> {
  readonly app: string;
  /** How many runs above it began one another; 0 for a run that a person began. */
  readonly depth: number;
  /** Whether its parent runs it with a function, which no other process has. */
  readonly inline?: true;
  /** Whether it only summarizes the conversation, and calls its app for nothing else. */
  readonly compacts?: { readonly keep?: number };
  /** Whether it only calls a tool of its app, and calls its app for nothing else. */
  readonly calls?: AloneCall;
}

/** A call of a tool that is all of a run. */
export interface AloneCall {
  readonly name: string;
  readonly input: unknown;
}

/** The place of a run among all that are at work in this process. */
export interface Slot {
  rest(): void;
  work(): void;
  leave(): void;
  readonly state: 'waiting' | 'working' | 'resting' | 'left';
}

/** A run from acceptance to its one `message_end`. */
export class LiveRun {
  readonly request: RunRequest;
  /** Id of the answer. */
  readonly messageId: string;
  /** The answer so far, if a former process began the run. */
  readonly resumed: Message | null;
  readonly notes = new AnswerNotes();
  /** The async context of the acceptance, with the run's trace from its start on. The app runs in it, whatever starts, answers or ends the run. */
  context: Context;
  /** Settles with the run's end in this process, or with `lost` if that could not be stored. Rejects if another process continues the run. */
  readonly ended: Promise<RunResult>;
  /** The run's message with its parent and versions, once the run begins. */
  placed: Message | null = null;
  /** The variants that its app has asked for in this process. */
  variants: Variants = {};
  state: 'accepting' | 'queued' | 'active' | 'ended' = 'accepting';
  /** Set while the end of the run is on its way to the store, which may refuse it. For new messages, the run no longer counts as active. */
  doomed = false;
  /** Its place among all runs at work; null before its app may be called, and for a child, which works in the place of the run above it. */
  slot: Slot | null = null;
  /** The child runs under way here that end with it. */
  #children: Set<LiveRun> | null = null;
  /** The run that ends it; null if none does. */
  parent: LiveRun | null = null;
  /** Monotonic milliseconds, as in the next two fields: acceptance here, call of the app, first text or reasoning. */
  readonly acceptedAt = performance.now();
  startedAt: number | null = null;
  firstDeltaAt: number | null = null;
  /** The error that the app threw. */
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
    // A run may be started without anybody waiting for it.
    this.ended.catch(() => {});
  }

  get id(): string {
    return this.request.runId;
  }

  /** The answer of a run that never began. */
  emptyAnswer(): Message {
    return { id: this.messageId, role: 'assistant', content: [], createdAt: Date.now() };
  }

  /** The run and its children under way, children first. */
  get tree(): readonly LiveRun[] {
    return this.#children ? [...[...this.#children].flatMap((child) => child.tree), this] : [this];
  }

  /** Has a child end with this run. */
  adopt(child: LiveRun): void {
    child.parent = this;
    this.#children ??= new Set();
    this.#children.add(child);
  }

  /** Forgets a child that has ended. */
  forget(child: LiveRun): void {
    this.#children?.delete(child);
  }

  resolve(result: RunResult): void {
    this.#resolve(result);
  }

  reject(error: GatewayError): void {
    this.#reject(error);
  }
}

/** The number of runs above a child of this run. */
export const depthUnder = ({ request }: LiveRun): number => (request.lane?.depth ?? 0) + 1;
