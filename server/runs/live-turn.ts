import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { UserContext } from '../../shared/contract.js';
import type { HandOff } from '../../shared/control.js';
import { fieldError, isGatewayError } from '../../shared/errors.js';
import { type Message, textOf } from '../../shared/messages.js';
import type {
  ClientTool,
  Confirmation,
  ConfirmationRequest,
  Question,
  ResumedAnswer,
  Turn,
  TurnSession,
} from '../apps/application.js';
import { checkPolicy } from '../apps/confirm-policy.js';
import { eventType } from '../apps/publish-options.js';
import { formatTraceparent } from '../diagnostics/traceparent.js';
import { givenId, newCallId } from '../ids.js';
import { ownOf } from '../schema/check-logged.js';
import { checkSchema } from '../schema/check-schema.js';
import { toJsonSchema } from '../schema/json-schema.js';
import { validate } from '../schema/validate.js';
import { policyOf } from './approvals.js';
import { RunOver } from './run-over.js';
import type { RunScope } from './run-scope.js';
import { begunSteps, RunSteps, type StepScope } from './steps.js';
import { atWork, callTool, confirmation, question } from './tool-call.js';
import { ToolCallError } from './tool-error.js';

/** The turn that an app receives. Its methods are own fields, because apps destructure or copy a turn. */
export class LiveTurn implements Turn {
  readonly runId: string;
  readonly resumed: ResumedAnswer | null;
  readonly text: string;
  readonly message: Message;
  readonly history: readonly Message[];
  readonly signal: AbortSignal;
  readonly user: UserContext | null;
  readonly session: TurnSession;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly clientTools: readonly ClientTool[];
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly trigger: Turn['trigger'];
  readonly traceparent: string | undefined;
  readonly #scope: RunScope;
  #steps: RunSteps | null = null;

  constructor(scope: RunScope, history: readonly Message[]) {
    const { run, signal, user, session } = scope;
    const { metadata, clientTools, parameters, trigger = null, trace } = run.request;
    const message = run.placed ?? run.request.message;
    this.runId = run.id;
    this.resumed = run.resumed && { ...run.resumed, inFlight: begunSteps(scope.resumption?.steps ?? []) };
    this.text = textOf(message);
    this.message = message;
    this.history = history;
    this.signal = signal;
    this.user = user;
    this.session = session;
    this.metadata = metadata;
    this.clientTools = clientTools;
    this.parameters = parameters;
    this.trigger = trigger;
    this.traceparent = trace?.parentSpan && formatTraceparent(trace.parentSpan);
    this.#scope = scope;
  }

  readonly callTool = (tool: string | ClientTool, input: unknown): Promise<any> => {
    const name = typeof tool === 'string' ? tool : tool.name;
    return this.#handed('callTool', callTool(this.#scope, name, input));
  };

  readonly step: Turn['step'] = (name, work) => {
    // An app may ignore this promise. The turn itself hears of the outcome.
    const outcome = atWork(this.#scope, () => this.#runSteps().run(name, work));
    outcome.catch(() => {});
    return outcome;
  };

  readonly sleep: Turn['sleep'] = (name, time) => {
    const slept = this.#sleep(name, time);
    slept.catch(() => {});
    return slept;
  };

  /** The time of waking is the outcome of a step, so a process that resumes the run waits only for the rest. */
  async #sleep(name: string, time: number | Date): Promise<void> {
    const at = wakingAt(time, this.#scope.now());
    await this.#scope.sleep((await this.#runSteps().run(name, () => at)) as number);
  }

  #runSteps(): RunSteps {
    this.#steps ??= new RunSteps(stepScope(this.#scope), this.#scope.resumption?.steps);
    return this.#steps;
  }

  readonly spawn: Turn['spawn'] = (app, options) => this.#scope.spawn(app, options);

  readonly steered: Turn['steered'] = () => (this.#scope.ended ? [] : this.#scope.port.steered());

  readonly ask = (asked: Question<StandardSchemaV1 | undefined>): Promise<any> =>
    this.#handed('ask', this.#ask(asked));

  readonly confirm: Turn['confirm'] = (request) => this.#handed('confirm', this.#confirm(request));

  readonly data: Turn['data'] = (name, value, options) => {
    const id = options?.id ?? newCallId();
    this.#scope.data(name, value, id);
    return id;
  };

  readonly file: Turn['file'] = (fileId) => this.#handed('file', this.#scope.port.file(fileId));

  readonly annotate: Turn['annotate'] = (metadata) => {
    if (!this.#scope.ended) this.#scope.run.notes.annotate(metadata);
  };

  readonly title: Turn['title'] = (text) => {
    if (!this.#scope.ended) this.#scope.port.title(text);
  };

  readonly emit: Turn['emit'] = (name, payload) => {
    if (!this.#scope.ended) this.#scope.port.emit(name, payload);
  };

  readonly publish: Turn['publish'] = (channel, payload, options) => {
    const type = eventType(options);
    if (!this.#scope.ended) this.#scope.port.publish(channel, type, payload);
  };

  readonly usage: Turn['usage'] = (counts) => {
    if (!this.#scope.ended) this.#scope.run.notes.usage(counts);
  };

  readonly handOff: Turn['handOff'] = (request = {}) => {
    const asked = handOffOf(request);
    if (!this.#scope.ended) this.#scope.handOff(asked);
  };

  /** Logs a rejection of a promise that the app ignores, so that it does not become an unhandled one. */
  #handed<T>(what: string, promise: Promise<T>): Promise<T> {
    promise.catch((error: unknown) => {
      if (!isGatewayError(error) && !(error instanceof ToolCallError) && !(error instanceof RunOver))
        this.#scope.report(error, `turn.${what} failed`);
    });
    return promise;
  }

  async #ask({ name, payload, schema: given }: Question<StandardSchemaV1 | undefined>): Promise<unknown> {
    givenId(name, 'name');
    const { app, resumption } = this.#scope;
    if (given) checkSchema(given, `ask.${name}.schema`);
    const schema: StandardSchemaV1 | undefined = given ?? ownOf(app.questions, name);
    const pending = resumption?.takeQuestion(name, payload) ?? null;
    const callId = pending?.callId ?? newCallId();
    const document = schema ? toJsonSchema(schema, 'input').schema : null;
    const event = {
      callId,
      name,
      ...(payload !== undefined && { payload }),
      ...(document !== null && { schema: document }),
    };
    const answer = await question(this.#scope, event, {
      announced: pending !== null,
      ...(schema && { check: async (output) => validate(schema, output, 'output') }),
    });
    if (answer.approved === false) {
      const why = answer.reason ? `Declined: ${answer.reason}` : 'Declined';
      throw new ToolCallError({ callId, toolName: name, denied: true }, why);
    }
    return answer.output;
  }

  async #confirm({ name, input, message, callId, ...given }: ConfirmationRequest): Promise<Confirmation> {
    checkPolicy(given);
    givenId(name, 'name');
    if (callId !== undefined) givenId(callId, 'callId');
    const pending = this.#scope.resumption?.takeConfirmation(name, input) ?? null;
    const policy = pending ? pending.policy : policyOf(given, input, this.#scope.now());
    const asked = {
      callId: pending?.callId ?? callId ?? newCallId(),
      name,
      input: input ?? null,
      ...(message !== undefined && { message }),
      ...(policy && { policy }),
    };
    const answer = await confirmation(this.#scope, asked, {
      announced: pending !== null,
      check: (changed) => Promise.resolve(changed),
    });
    return {
      approved: answer.approved === true,
      ...(answer.reason !== undefined && { reason: answer.reason }),
      ...(answer.input !== undefined && { input: answer.input }),
      ...(answer.votes && { votes: answer.votes }),
      ...(answer.expired && { expired: true }),
    };
  }
}

/** Checks the arguments of `turn.handOff`. @throws GatewayError `INVALID_PARAMS` */
function handOffOf({ reason, roles }: HandOff): HandOff {
  if (reason !== undefined && typeof reason !== 'string') throw fieldError('reason', 'must be a text');
  const isRole = (role: unknown): boolean => typeof role === 'string' && role !== '';
  if (roles !== undefined && !(Array.isArray(roles) && roles.length > 0 && roles.every(isRole)))
    throw fieldError('roles', 'must be names of roles, at least one');
  return { ...(reason !== undefined && { reason }), ...(roles && { roles: [...roles] }) };
}

/** The end of a sleep, in milliseconds since the epoch. @throws GatewayError `INVALID_PARAMS` */
function wakingAt(time: number | Date, now: number): number {
  // A date is one of this process's clock.
  const at = now + (time instanceof Date ? time.getTime() - Date.now() : time);
  if (Number.isFinite(at) && (time instanceof Date || time >= 0)) return at;
  throw fieldError('time', 'must be a date, or a number of milliseconds that is not negative');
}

function stepScope(scope: RunScope): StepScope {
  const { runId, signal, app, port } = scope;
  return {
    runId,
    signal,
    get ended() {
      return scope.ended;
    },
    durable: app.resumable === true,
    maxSize: port.setting.stepsSize,
    keep: async (steps) => {
      if (scope.ended) throw new RunOver();
      await port.log.commit([], { steps });
    },
  };
}
