import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Vote } from '../../shared/approvals.js';
import type {
  PayloadAt,
  PayloadName,
  PayloadTypes,
  RegisteredChannels,
  RegisteredEvents,
  UserContext,
} from '../../shared/contract.js';
import type { HandOff } from '../../shared/control.js';
import type { LoggedEventData } from '../../shared/events.js';
import type { ContentBlock, Message, Usage } from '../../shared/messages.js';
import type { PublishOptions } from '../../shared/method.js';
import type { ClientTool } from '../../shared/operation-types.js';
import type { ScheduleTrigger } from '../../shared/schedules.js';
import type { Wire } from '../../shared/wire.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { StoredFile } from '../files/stored-file.js';
import type { ConfirmPolicy } from './confirm-policy.js';
import type { Tool, ToolOutput, ToolSet } from './tool.js';

/** What an app may yield besides strings. */
export type AppEvent =
  | { readonly type: 'content_delta'; readonly delta: string }
  | { readonly type: 'reasoning_delta'; readonly delta: string }
  | ({ readonly type: 'tool_use' } & LoggedEventData['tool_use'])
  | ({ readonly type: 'tool_progress' } & LoggedEventData['tool_progress'])
  | ({ readonly type: 'tool_result' } & LoggedEventData['tool_result'])
  | ({ readonly type: 'data' } & LoggedEventData['data'])
  | ({ readonly type: 'custom' } & LoggedEventData['custom']);

/** What an app may return when its answer is complete. */
export interface AppResult {
  /** Appended to the answer. */
  readonly text?: string;
  /** @default 'end' */
  readonly stopReason?: 'end' | 'max_tokens' | 'tool_use';
  readonly usage?: Usage;
}

type AppReturn = string | AppResult | void;

/** The answer of an app: a stream of text and events, or all at once. */
export type AppOutput =
  | AsyncIterable<string | AppEvent, AppReturn>
  | MaybePromise<AppReturn>
  | Promise<AsyncIterable<string | AppEvent, AppReturn>>;

/** A question to the person: `turn.ask`. */
export interface Question<Schema extends StandardSchemaV1 | undefined = undefined> {
  readonly name: string;
  readonly payload?: unknown;
  /** The answer is validated against it; one that does not fit is refused and the question stays open. */
  readonly schema?: Schema;
}

/** Schemas by name: of data blocks, of answers to questions. */
export type ContentSchemas = Readonly<Record<string, StandardSchemaV1>>;

/** A request for the person's consent: `turn.confirm`. */
export interface ConfirmationRequest extends ConfirmPolicy {
  /** Of the tool or action in question. */
  readonly name: string;
  readonly input?: unknown;
  /** Shown to the person. */
  readonly message?: string;
  /** Of a `tool_use` that the app has yielded itself. */
  readonly callId?: string;
}

/** What the person said to a `turn.confirm`. */
export interface Confirmation {
  readonly approved: boolean;
  readonly reason?: string;
  /** Present when the person changed the input. */
  readonly input?: unknown;
  /** Who voted what, of a question with a policy. */
  readonly votes?: readonly Vote[];
  /** Nobody has decided it in time. */
  readonly expired?: true;
}

/** The session a tool is called in. */
export interface ToolSession {
  /** Canonical key. */
  readonly id: string;
  readonly app: string;
}

/** The session a turn belongs to. */
export interface TurnSession extends ToolSession {
  /** Names this conversation alone: the same `id` of another user has another, and so has the session that follows a `close`. */
  readonly epoch: string;
  /** The title that it has by now. */
  readonly title: string | undefined;
}

/** Longest name of a step, in characters. */
export const MAX_STEP_NAME = 128;

/** What the function of a step is given. */
export interface StepContext {
  /** Names this step of this run alone, and is the same when it is run again: an idempotency key for what it calls. */
  readonly key: string;
  /** Aborted when the run ends for any reason but its own. */
  readonly signal: AbortSignal;
  /** Whether a former process had begun it: it may have had its effect, of which only its result is missing. */
  readonly interrupted: boolean;
}

/** A step that had begun when its process ended: whether it had its effect is not known. */
export interface BegunStep {
  readonly name: string;
  /** As its function was given it. */
  readonly key: string;
}

/** What a run that goes on after a restart finds. */
export interface ResumedAnswer extends Message {
  /** The steps that had begun and not ended, in the order of their calls. */
  readonly inFlight: readonly BegunStep[];
}

/** One turn of an app: the message to answer and everything it may do meanwhile. */
export interface Turn<
  Tools extends ToolSet = ToolSet,
  Data extends ContentSchemas = any,
  Questions extends ContentSchemas = any,
> {
  readonly runId: string;
  /**
   * The answer so far, when the gateway was restarted during this run and the app is `resumable`; else null. What is yielded now is
   * added to it. Tools that have a result in it need not be called again; the steps that were under way are in `inFlight`.
   */
  readonly resumed: ResumedAnswer | null;
  /** The text of the message. */
  readonly text: string;
  readonly message: Message;
  /** The messages before `message`, oldest first; the last 1,000 at most. */
  readonly history: readonly Message[];
  /** Aborted when the run ends for any reason but its own. */
  readonly signal: AbortSignal;
  readonly user: UserContext | null;
  readonly session: TurnSession;
  /** What the sender attached to `send`; untrusted. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Tools that the sender brought along and answers itself. */
  readonly clientTools: readonly ClientTool[];
  /** What the sender asks of the model: `temperature`, `max_tokens`, …; untrusted. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The `traceparent` (W3C Trace Context) that the sender's request came with, to be passed on to what the app calls. */
  readonly traceparent?: string | undefined;
  /** What began the run, where nobody sent its message; null where somebody did. */
  readonly trigger: ScheduleTrigger | null;
  /**
   * Calls one of `clientTools`, which the sender answers; the app's own tool where both have the name.
   *
   * @throws ToolCallError when it was declined or failed.
   */
  callTool(tool: ClientTool, input: unknown): Promise<unknown>;
  /**
   * Calls one of the app's tools: asks for confirmation where it needs one, logs the call and its result.
   *
   * @throws ToolCallError when it was denied or failed.
   */
  callTool<Name extends keyof Tools & string>(
    name: Name,
    input: InputOf<Tools[Name]>,
  ): Promise<OutputOf<Tools[Name]>>;
  /**
   * Does something at most once to its end in this run. In a `resumable` app its outcome is kept with the run, beside the log: when
   * the run goes on after a restart the same call is given it and the function is not called. Steps are matched by the order of
   * their calls, and their names. The result is what JSON makes of it, also the first time.
   *
   * @param name 1 to 128 characters. Clients may read it in an error.
   * @param work Does it. What it throws is the step's outcome too.
   * @throws GatewayError `STEP_MISMATCH` when another step was called in this place before the restart; `INVALID_PARAMS` for a
   *   result that is no JSON, a name that is none, and a step within a step; `PAYLOAD_TOO_LARGE` beyond `limits.stepsSize`
   */
  step<T>(name: string, work: (step: StepContext) => T | Promise<T>): Promise<Wire<T>>;
  /**
   * Waits for a time. In a `resumable` app that is a step, which ends at its time in whichever gateway has the session then, and keeps
   * nothing in memory meanwhile: after `limits.parkMs` a run that only waits, and that nobody follows, leaves its process, and is run again
   * from its steps when it is time. The time of the run stands still.
   *
   * @param name As of a step.
   * @param time How long, in milliseconds, or until when.
   * @throws GatewayError `INVALID_PARAMS`, and as `step`
   */
  sleep(name: string, time: number | Date): Promise<void>;
  /** Takes the messages that were sent with `onBusy: 'steer'` since the last call; they become part of this run. */
  steered(): readonly Message[];
  /** Asks the person; resolves with the answer, as `schema`, or the app's own for questions of this name, makes it. Time spent waiting does not count towards the run's time-out. */
  ask<const Name extends string, Schema extends StandardSchemaV1 | undefined = undefined>(
    question: Question<Schema> & { readonly name: Name | (keyof Questions & string) },
  ): Promise<
    Schema extends StandardSchemaV1
      ? StandardSchemaV1.InferOutput<Schema>
      : Name extends keyof Questions
        ? StandardSchemaV1.InferOutput<Questions[Name]>
        : unknown
  >;
  /**
   * Asks the person for consent, for what is no tool of the app's own: a framework's tool, a graph's interrupt. The app's own tools
   * ask by themselves (`confirm`).
   *
   * @throws GatewayError `INVALID_PARAMS` for a policy that is none, naming the field
   */
  confirm(request: ConfirmationRequest): Promise<Confirmation>;
  /**
   * Creates or, with the id of an earlier one, replaces a data block of the answer. Returns its id.
   *
   * @throws GatewayError `INVALID_PARAMS` for a value that does not fit the app's own schema for blocks of this name.
   */
  data<Name extends PayloadName<PayloadTypes<Data>>>(
    name: Name,
    value: PayloadAt<PayloadTypes<Data>, Name>,
    options?: { readonly id?: string },
  ): string;
  /**
   * A file that was uploaded by the session's user, such as an image block of `message` names with its `fileId`; of a session that is
   * shared, by anybody who shares it.
   *
   * @throws GatewayError `FILE_NOT_FOUND`
   */
  file(fileId: string): Promise<StoredFile>;
  /** Merges metadata into the answer's. */
  annotate(metadata: Readonly<Record<string, unknown>>): void;
  /**
   * Gives the session a title, in place of the one it has (`session.title`). It is made one line, and cut at `limits.titleLength`; an
   * empty one changes nothing.
   */
  title(text: string): void;
  /** Logs a custom event: delivered and replayed, but not part of the answer. */
  emit<Name extends PayloadName<RegisteredEvents>>(
    name: Name,
    payload: PayloadAt<RegisteredEvents, Name>,
  ): void;
  /** Publishes on a channel of the session. */
  publish<Name extends PayloadName<RegisteredChannels>>(
    channel: Name,
    payload: PayloadAt<RegisteredChannels, Name>,
    options?: PublishOptions,
  ): void;
  /**
   * Asks for a person: logs `hand_off_requested`, and ends the run with `handed_off`. What it has said stays its answer. The session shows
   * that until somebody takes over; what is sent meanwhile begins runs as ever.
   *
   * @throws GatewayError `INVALID_PARAMS` for roles or a reason that are none
   */
  handOff(request?: HandOff): void;
  /** Adds token counts to the run's usage. */
  usage(counts: Usage): void;
}

type InputOf<T> = T extends Tool<infer Input, any> ? Input : never;
type OutputOf<T> = T extends Tool<any, infer Output> ? Output : never;

/** What happens to a run when the last client that watched its session leaves. */
export type OnDisconnect = 'continue' | 'abort';

/** A conversational application. Any object with a compatible `run` is one. */
export interface Application<
  Tools extends ToolSet = any,
  Data extends ContentSchemas = any,
  Questions extends ContentSchemas = any,
> {
  readonly description?: string;
  readonly tools?: Tools;
  /** Schemas of data blocks, by name, which `turn.data` checks; blocks that are not listed take anything. */
  readonly data?: Data;
  /** Schemas of answers, by the question's name, for every `turn.ask` of that name without a schema of its own. */
  readonly questions?: Questions;
  /**
   * Whether runs that a restart of the gateway interrupted go on instead of ending as `lost`: `run` is called again for the same
   * run, with the answer so far in `turn.resumed`. A confirmation or question that was open is answered where `run` comes to ask
   * it again, with the same name and input. What `turn.step` has done is not done again. Needs a store that survives the process.
   *
   * @default false
   */
  readonly resumable?: boolean;
  /** @default 'continue' */
  readonly onDisconnect?: OnDisconnect;
  run(turn: Turn<Tools, Data, Questions>): AppOutput;
}

type NamesIn<A, Part extends string> = A extends { readonly [P in Part]?: infer All }
  ? string extends keyof All
    ? never
    : keyof All & string
  : never;
type PartAt<A, Part extends string, Name extends string> = A extends { readonly [P in Part]?: infer All }
  ? Name extends keyof All
    ? All[Name]
    : never
  : never;
type ToolTypes<T> =
  T extends Tool<infer Input, infer Output> ? { readonly input: Input; readonly output: Output } : never;
type SchemaInput<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Schema> : never;

/** What apps say and ask, by name, for the type of their gateway; a name of several apps stands for any of them. */
export interface ContentTypes<Apps> {
  readonly tools: { readonly [Name in NamesIn<Apps, 'tools'>]: ToolTypes<PartAt<Apps, 'tools', Name>> };
  readonly data: { readonly [Name in NamesIn<Apps, 'data'>]: SchemaInput<PartAt<Apps, 'data', Name>> };
  readonly questions: {
    readonly [Name in NamesIn<Apps, 'questions'>]: SchemaInput<PartAt<Apps, 'questions', Name>>;
  };
}

export type { ClientTool, ContentBlock, ToolOutput };
