import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ConfirmPolicy, Vote } from '../../shared/approvals.js';
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
import type { FeatureTrigger } from '../../shared/features.js';
import type { ContentBlock, Message, Usage } from '../../shared/messages.js';
import type { PublishOptions } from '../../shared/method.js';
import type { ClientTool, Suggestion } from '../../shared/operation-types.js';
import type { Wire } from '../../shared/wire.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { StoredFile } from '../files/stored-file.js';
import type { AnswerMark } from './answer-mark.js';
import type { Child, ChildTrigger, SpawnOptions } from './child.js';
import type { CompactionOption, CompactOptions } from './compaction.js';
import type { Guard } from './guard.js';
import type { BegunStep, StepContext } from './step-context.js';
import type { Tool, ToolOutput, ToolSet } from './tool.js';
import type { Versioned } from './versions.js';

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

/** Variants to choose from: their names, or the weight of each. */
export type Choices<Choice extends string> = readonly Choice[] | { readonly [Name in Choice]: number };

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
  /**
   * Whether this is no run, but a rehearsal of one that another version of the app has begun: whether this version comes to where the run is. Steps, tools and
   * questions have their former outcomes, and nothing that the app does by the turn has an effect. The signal aborts at its end.
   */
  readonly rehearsing: boolean;
  /** The text of the message. */
  readonly text: string;
  readonly message: Message;
  /**
   * The messages before `message`, oldest first, at most the last 1,000. If they are summarized, the first is the summary (`compaction`), as a message of a user,
   * and the messages that it covers are left out.
   */
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
  readonly trigger: FeatureTrigger | ChildTrigger | null;
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
   * Has the beginning of `history` summarized now, as `compact` of the app would at the beginning of a run. It is a step. Resolves with the new `history`,
   * which is the old one if there is nothing to cover.
   *
   * @throws GatewayError `INVALID_PARAMS` without a `make`, here or in the app; errors of `make`; and as `step`. Nothing has changed then
   */
  compact(options?: CompactOptions): Promise<readonly Message[]>;
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
  /**
   * One of several variants to try, the same for all runs of this session: its key decides at the first call, and the log says it from then on. A choice that is
   * no longer among them is made anew.
   *
   * @param choices Their names, or how often each is chosen; 0 keeps it for the sessions that have it.
   * @throws GatewayError `INVALID_PARAMS`; `QUOTA_EXCEEDED` beyond `limits.variantsPerSession`
   */
  variant<const Choice extends string>(name: string, choices: Choices<Choice>): Choice;
  /** The present end of the answer, for `retract`. */
  mark(): AnswerMark;
  /**
   * Takes back what the answer says behind a mark: every page shows it up to there, and what the app says next follows. For a model that
   * breaks off, whose answer another one begins anew. Calls of tools are taken back from the answer, not their effects.
   *
   * @default all of it
   */
  retract(from?: AnswerMark): void;
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
  /**
   * Adds to the run's usage what a call of a model has used, or of a tool that costs. Logged at once, so it counts whatever becomes of the run.
   * Call it once a call, with its `model`, within the step that makes the call if the app has steps.
   *
   * @returns Resolves once it is stored, and outside of a step once the run may go on: a budget that is used up may ask a person, or end the run
   * @throws GatewayError `INTERNAL` for a value that is not an object
   */
  usage(call: UsedCall): Promise<void>;
  /**
   * Waits until the run may make another call that costs: a budget that is used up may ask a person. Adapters do so before each call of a model.
   *
   * @throws DOMException `AbortError` if the run has ended, as by a budget
   */
  allowed(): Promise<void>;
}

type InputOf<T> = T extends Tool<infer Input, any> ? Input : never;
type ToolOutputOf<T> = T extends Tool<any, infer Output> ? Output : never;

/** All that one call of a model, or of a tool that costs, has used. */
export interface UsedCall extends Usage {
  /**
   * Names the call in its run, which counts each name once, also when it goes on in another process. @default its number among those outside of
   * steps; there, one with the same numbers as before the restart does not count again
   */
  readonly id?: string;
}

/** The fate of a run when the last client that watched its session leaves. */
export type OnDisconnect = 'continue' | 'abort';

/** A conversational application: any object with a compatible `run`. */
export interface Application<
  Tools extends ToolSet = any,
  Data extends ContentSchemas = any,
  Questions extends ContentSchemas = any,
> extends Versioned,
    CompactionOption {
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
  /** Stands between the app and the log, behind the guard of the gateway: what it has not let through is delivered to nobody. */
  readonly guard?: Guard | undefined;
  run(turn: Turn<Tools, Data, Questions>): AppOutput;
}

export type { ClientTool, ContentBlock, ToolOutput };
