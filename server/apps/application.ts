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
import type { ClientTool, Suggestion } from '../../shared/operation-types.js';
import type { ScheduleTrigger } from '../../shared/schedules/contract.js';
import type { Wire } from '../../shared/wire.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { StoredFile } from '../files/stored-file.js';
import type { Child, ChildTrigger, SpawnOptions } from './child.js';
import type { ConfirmPolicy } from './confirm-policy.js';
import type { Tool, ToolOutput, ToolSet } from './tool.js';

/** The items that an app may yield besides strings. */
export type AppEvent =
  | { readonly type: 'content_delta'; readonly delta: string }
  | { readonly type: 'reasoning_delta'; readonly delta: string }
  | ({ readonly type: 'tool_use' } & LoggedEventData['tool_use'])
  | ({ readonly type: 'tool_progress' } & LoggedEventData['tool_progress'])
  | ({ readonly type: 'tool_result' } & LoggedEventData['tool_result'])
  | ({ readonly type: 'data' } & LoggedEventData['data'])
  | ({ readonly type: 'custom' } & LoggedEventData['custom']);

/** The result that an app may return when its answer is complete. */
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

/** A question to the person, for `turn.ask`. */
export interface Question<Schema extends StandardSchemaV1 | undefined = undefined> {
  readonly name: string;
  readonly payload?: unknown;
  /** Validates the answer. An answer that does not fit is refused, and the question stays open. */
  readonly schema?: Schema;
}

/** Schemas by name, for data blocks and for answers to questions. */
export type ContentSchemas = Readonly<Record<string, StandardSchemaV1>>;

/** A request for the person's consent, for `turn.confirm`. */
export interface ConfirmationRequest extends ConfirmPolicy {
  /** Name of the tool or action in question. */
  readonly name: string;
  readonly input?: unknown;
  /** Shown to the person. */
  readonly message?: string;
  /** Id of a `tool_use` that the app has yielded itself. */
  readonly callId?: string;
}

/** The person's reply to a `turn.confirm`. */
export interface Confirmation {
  readonly approved: boolean;
  readonly reason?: string;
  /** The input as the person changed it, if they did. */
  readonly input?: unknown;
  /** The votes, for a question with a policy. */
  readonly votes?: readonly Vote[];
  /** Set if nobody decided it in time. */
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
  /** Identifies this conversation only: the same `id` of another user has a different epoch, and so has the session after a `close`. */
  readonly epoch: string;
  /** The present title. */
  readonly title: string | undefined;
}

/** Longest name of a step, in characters. */
export const MAX_STEP_NAME = 128;

/** The argument of a step's function. */
export interface StepContext {
  /** Identifies this step of this run, also when it runs again. Use it as an idempotency key for services that the step calls. */
  readonly key: string;
  /** Aborted when the run ends other than by its own end. */
  readonly signal: AbortSignal;
  /** Whether a former process began the step. It may have had its effect, with only its result missing. */
  readonly interrupted: boolean;
}

/** A step that was under way when its process ended. Its effect is unknown. */
export interface BegunStep {
  readonly name: string;
  /** The key that its function was given. */
  readonly key: string;
}

/** The answer so far and the steps under way, for a run that resumes after a restart. */
export interface ResumedAnswer extends Message {
  /** The steps that had begun and not ended, in the order of their calls. */
  readonly inFlight: readonly BegunStep[];
}

/** One turn of an app: the message to answer, and the calls that the app may make meanwhile. */
export interface Turn<
  Tools extends ToolSet = ToolSet,
  Data extends ContentSchemas = any,
  Questions extends ContentSchemas = any,
> {
  readonly runId: string;
  /**
   * The answer so far, if the gateway restarted during this run and the app is `resumable`; else null. The app's output is added to it.
   * Tools that have a result in it need not be called again. `inFlight` lists the steps that were under way.
   */
  readonly resumed: ResumedAnswer | null;
  /** The text of the message. */
  readonly text: string;
  readonly message: Message;
  /** The messages before `message`, oldest first, at most the last 1,000. */
  readonly history: readonly Message[];
  /** Aborted when the run ends other than by its own end. */
  readonly signal: AbortSignal;
  readonly user: UserContext | null;
  readonly session: TurnSession;
  /** Metadata that the sender attached to `send`; untrusted. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Tools that the sender brought along and answers. */
  readonly clientTools: readonly ClientTool[];
  /** Parameters that the sender asks of the model, such as `temperature` or `max_tokens`; untrusted. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The `traceparent` (W3C Trace Context) of the sender's request, to pass on to services that the app calls. */
  readonly traceparent?: string | undefined;
  /** The trigger of the run, if nobody sent its message; else null. */
  readonly trigger: ScheduleTrigger | ChildTrigger | null;
  /**
   * Calls one of `clientTools`, which the sender answers. A tool of the app with the same name takes precedence.
   *
   * @throws ToolCallError if the call was declined or failed.
   */
  callTool(tool: ClientTool, input: unknown): Promise<unknown>;
  /**
   * Calls one of the app's tools. Asks for confirmation if needed, and logs the call and its result.
   *
   * @throws ToolCallError if the call was denied or failed.
   */
  callTool<Name extends keyof Tools & string>(
    name: Name,
    input: InputOf<Tools[Name]>,
  ): Promise<ToolOutputOf<Tools[Name]>>;
  /**
   * Does work that completes at most once in this run. In a `resumable` app, the run keeps the outcome beside the log: after a restart, the
   * same call returns it and does not call the function. Steps are matched by the order and names of their calls. The result is always a
   * JSON copy, also the first time.
   *
   * @param name 1 to 128 characters. Clients may read it in an error.
   * @param work Does the work. An error that it throws is an outcome too.
   * @throws GatewayError `STEP_MISMATCH` if another step was called in this place before the restart; `INVALID_PARAMS` for a
   *   result that is not JSON, an invalid name, and a step within a step; `PAYLOAD_TOO_LARGE` beyond `limits.stepsSize`
   */
  step<T>(name: string, work: (step: StepContext) => T | Promise<T>): Promise<Wire<T>>;
  /**
   * Waits for a time, while the clock of the run stands still. In a `resumable` app the wait is a step, which ends in time at any gateway
   * that then holds the session. A run that only waits, and that nobody follows, leaves memory after `limits.parkMs`, and runs again from
   * its steps when the time comes.
   *
   * @param name Name of the step.
   * @param time Duration in milliseconds, or the time of waking.
   * @throws GatewayError `INVALID_PARAMS`, and as `step`
   */
  sleep(name: string, time: number | Date): Promise<void>;
  /**
   * Begins a child run of an app, beside the conversation of this session. Its events are in the same log, and its answer is part of this
   * run's (`message.children`). The end of this run ends its children that are not `detached`. After a restart, the same call of a
   * `resumable` app joins the child, whose app must be `resumable` too.
   *
   * @param app Name of an app of the gateway, or any name with `run`.
   * @throws GatewayError `APP_NOT_FOUND`; `INVALID_PARAMS` for an invalid id; `STEP_MISMATCH` if this run began the child of this id with
   *   another message or app before the restart; `QUOTA_EXCEEDED` beyond `limits.childRuns` or `limits.childDepth`;
   *   `PAYLOAD_TOO_LARGE` if the messages of children make this answer too large (`limits.answerSize`)
   * @throws DOMException `AbortError` once this run has ended
   */
  spawn(app: string, options: SpawnOptions): Child;
  /** Takes the messages that were sent with `onBusy: 'steer'` since the last call, or to this child run. They become part of this run. */
  steered(): readonly Message[];
  /**
   * Asks the person. Resolves with the answer as parsed by `schema`, or by the app's schema for questions of this name. The wait does not
   * count towards the run's time-out.
   */
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
   * Asks the person for consent to an action other than the app's own tools, such as a framework's tool or a graph's interrupt. The app's
   * own tools ask by themselves (`confirm`).
   *
   * @throws GatewayError `INVALID_PARAMS` for an invalid policy, naming the field
   */
  confirm(request: ConfirmationRequest): Promise<Confirmation>;
  /**
   * Creates a data block of the answer, or replaces the one with the given id. Returns the id.
   *
   * @throws GatewayError `INVALID_PARAMS` for a value that does not fit the app's schema for blocks of this name.
   */
  data<Name extends PayloadName<PayloadTypes<Data>>>(
    name: Name,
    value: PayloadAt<PayloadTypes<Data>, Name>,
    options?: { readonly id?: string },
  ): string;
  /**
   * A file that the session's user uploaded, for example the `fileId` of an image block of `message`. In a shared session, anybody who
   * shares it may have uploaded the file.
   *
   * @throws GatewayError `FILE_NOT_FOUND`
   */
  file(fileId: string): Promise<StoredFile>;
  /** Merges metadata into the metadata of the answer. */
  annotate(metadata: Readonly<Record<string, unknown>>): void;
  /**
   * Sets the title of the session (`session.title`), in place of its present one. The title is made one line and cut at
   * `limits.titleLength`. An empty one changes nothing.
   */
  title(text: string): void;
  /** Logs a custom event. It is delivered and replayed, but not part of the answer. */
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
   * Asks for a person: logs `hand_off_requested`, and ends the run with `handed_off`. The answer so far stays. The session shows the
   * request until somebody takes over. Messages sent meanwhile begin runs as usual.
   *
   * @throws GatewayError `INVALID_PARAMS` for invalid roles or an invalid reason
   */
  handOff(request?: HandOff): void;
  /** Adds token counts to the run's usage. */
  usage(counts: Usage): void;
}

type InputOf<T> = T extends Tool<infer Input, any> ? Input : never;
type ToolOutputOf<T> = T extends Tool<any, infer Output> ? Output : never;

/** The fate of a run when the last client that watched its session leaves. */
export type OnDisconnect = 'continue' | 'abort';

/** A conversational application: any object with a compatible `run`. */
export interface Application<
  Tools extends ToolSet = any,
  Data extends ContentSchemas = any,
  Questions extends ContentSchemas = any,
> {
  readonly description?: string;
  /** Messages with which a conversation may begin, for pages to offer: the text of each, or the text and what it shows. */
  readonly suggestions?: readonly (string | Suggestion)[];
  readonly tools?: Tools;
  /** Schemas of data blocks by name, which `turn.data` checks. Blocks of other names may have any value. */
  readonly data?: Data;
  /** Schemas of answers by the question's name, for each `turn.ask` of that name without its own schema. */
  readonly questions?: Questions;
  /**
   * Whether runs resume after a restart of the gateway instead of ending as `lost`: `run` is called again for the same run, with the answer
   * so far in `turn.resumed`. An open confirmation or question stays open, and `run` gets its answer when it asks again with the same name
   * and input. Steps of `turn.step` that ended are not done again. Needs a store that survives the process.
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

/** The types of apps' tools, data blocks and questions, for the type of their gateway. A name in several apps has the union of their types. */
export interface ContentTypes<Apps> {
  readonly tools: { readonly [Name in NamesIn<Apps, 'tools'>]: ToolTypes<PartAt<Apps, 'tools', Name>> };
  readonly data: { readonly [Name in NamesIn<Apps, 'data'>]: SchemaInput<PartAt<Apps, 'data', Name>> };
  readonly questions: {
    readonly [Name in NamesIn<Apps, 'questions'>]: SchemaInput<PartAt<Apps, 'questions', Name>>;
  };
}

export type { ClientTool, ContentBlock, ToolOutput };
