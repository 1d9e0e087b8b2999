import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { UserContext } from '../../shared/contract.js';
import { isGatewayError } from '../../shared/errors.js';
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
import type { CompactOptions } from '../apps/compaction.js';
import { FORMER_STEPS, type FormerStep, PLACE, type PlaceKeeper } from '../apps/goes-on.js';
import { LET_THROUGH, type LetThrough } from '../apps/guard.js';
import { eventType } from '../apps/publish-options.js';
import { WHILE_HELD } from '../apps/while-held.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { traceStep } from '../diagnostics/step.js';
import { formatTraceparent } from '../diagnostics/traceparent.js';
import { newGateCallId } from '../ids.js';
import { ask, confirm } from './asking.js';
import { askedCompact, historyToBegin, summarize, withSummary } from './compacting.js';
import { say } from './gated.js';
import { RunOver } from './run-over.js';
import type { Hindrance } from './run-port.js';
import type { RunScope } from './run-scope.js';
import { stepScope } from './step-scope.js';
import { begunSteps, formerSteps, isInStep, RunSteps } from './steps.js';
import { callTool } from './tool-call.js';
import { ToolCallError } from './tool-error.js';
import { handOffOf, wakingAt } from './turn-arguments.js';
import { variantOf } from './variant.js';

/** The messages before that of a run, made when an app asks for them. */
export type ShownHistory = () => readonly Message[];

/** The turn that an app receives. Its methods are own fields, because apps destructure or copy a turn. */
export class LiveTurn implements Turn {
  readonly runId: string;
  readonly resumed: ResumedAnswer | null;
  readonly rehearsing: boolean;
  readonly text: string;
  readonly message: Message;
  declare readonly history: readonly Message[];
  declare readonly signal: AbortSignal;
  readonly user: UserContext | null;
  readonly session: TurnSession;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly clientTools: readonly ClientTool[];
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly trigger: Turn['trigger'];
  readonly traceparent: string | undefined;
  readonly #scope: RunScope;
  #history: ShownHistory;
  /** Own fields as the others are, whose values are made when they are first read: many apps read neither. */
  static readonly #MADE_WHEN_READ: PropertyDescriptorMap = {
    history: {
      ...{ enumerable: true, configurable: true },
      get(this: LiveTurn): readonly Message[] {
        const history = this.#history();
        this.#history = () => history;
        return history;
      },
    },
    signal: {
      ...{ enumerable: true, configurable: true },
      get(this: LiveTurn): AbortSignal {
        return this.#scope.signal;
      },
    },
  };
  #steps: RunSteps | null = null;
  /** The open questions of the gateway. */
  readonly #questions = new Map<string, Promise<Confirmation>>();

  constructor(scope: RunScope, history: ShownHistory) {
    const { run, user, session } = scope;
    const { metadata, clientTools, parameters, trigger = null, trace } = run.request;
    const message = run.placed ?? run.request.message;
    this.runId = run.id;
    this.resumed = run.resumed && { ...run.resumed, inFlight: begunSteps(scope.resumption?.steps ?? []) };
    this.rehearsing = scope.port.rehearsal !== undefined;
    this.text = textOf(message);
    this.message = message;
    this.#history = history;
    Object.defineProperties(this, LiveTurn.#MADE_WHEN_READ);
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
    const outcome = traceStep(this.#scope, name, () => this.#runSteps().run(name, work));
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
    const until = await this.#runSteps().runKnown(name, at);
    const { rehearsal } = this.#scope.port;
    if (rehearsal && until > this.#scope.now()) return rehearsal.meets({ what: 'sleep', name });
    await this.#scope.gate?.flushed();
    await this.#scope.sleep(until);
  }

  #runSteps(): RunSteps {
    const hindered = (): Promise<void> | null => this.hindered();
    this.#steps ??= new RunSteps(stepScope(this.#scope, hindered), this.#scope.resumption?.steps);
    return this.#steps;
  }

  /** The steps of former processes, for an app that learns here what it has called. */
  get [FORMER_STEPS](): readonly FormerStep[] {
    return formerSteps(this.#scope.resumption?.steps ?? []);
  }

  /** The hold of the session, for an app that keeps something as long. */
  get [WHILE_HELD](): AbortSignal | undefined {
    return this.#scope.port.hold?.();
  }

  /** The place of an app that goes on from one. */
  get [PLACE](): PlaceKeeper {
    const { answer, port, resumption } = this.#scope;
    return {
      kept: resumption?.place?.value,
      blocks: resumption?.place?.blocks ?? 0,
      keep: async (value) => {
        await this.#scope.gate?.flushed();
        await Promise.resolve(port.log.settled());
        await this.#runSteps().keepPlace({ value, seq: port.log.view.head, blocks: answer.blocks });
      },
    };
  }

  /** The answer as the guards have let it through; null if nobody guards the run. */
  get [LET_THROUGH](): LetThrough | null {
    const { gate } = this.#scope;
    if (!gate) return null;
    return {
      text: async () => {
        await gate.flushed();
        return gate.said;
      },
      get touched() {
        return gate.touched;
      },
    };
  }

  readonly compact: Turn['compact'] = (options = {}) => this.#handed('compact', this.#compact(options));

  async #compact(options: CompactOptions): Promise<readonly Message[]> {
    const compact = askedCompact(this.#scope, options);
    await this.hindered();
    const { history } = this;
    const made = await this.step('compact', ({ key: id }) =>
      summarize(this.#scope, history, { compact, id }),
    );
    if (made) this.#history = () => withSummary(history, made);
    return this.history;
  }

  readonly spawn: Turn['spawn'] = (app, options) => this.#scope.spawn(app, options);

  readonly steered: Turn['steered'] = () => (this.#scope.ended ? [] : this.#scope.port.steered());

  readonly ask = (asked: Question<StandardSchemaV1 | undefined>): Promise<any> =>
    this.#handed('ask', ask(this.#scope, asked));

  readonly confirm: Turn['confirm'] = (request) => this.#handed('confirm', confirm(this.#scope, request));

  readonly variant: Turn['variant'] = (name, choices) => variantOf(this.#scope, name, choices);

  readonly data: Turn['data'] = (name, value, options) => {
    const id = options?.id ?? this.#scope.answer.idOfData(name, value);
    this.#scope.data(name, value, id);
    return id;
  };

  readonly file: Turn['file'] = (fileId) => this.#handed('file', this.#scope.port.file(fileId));

  readonly mark: Turn['mark'] = () => this.#scope.marks.make();

  readonly retract: Turn['retract'] = (from) => this.#scope.marks.goBack(from);

  readonly annotate: Turn['annotate'] = (metadata) => {
    const note = (said: unknown): void => this.#scope.run.notes.annotate(said as typeof metadata);
    say(this.#scope, { name: 'annotation', value: metadata }, note);
  };

  readonly title: Turn['title'] = (text) => {
    const write = (said: unknown): void => this.#scope.port.title(String(said));
    say(this.#scope, { name: 'title', value: text }, write);
  };

  readonly emit: Turn['emit'] = (name, payload) => {
    const write = (said: unknown): void => this.#scope.port.emit(name, said);
    say(this.#scope, { name: name, value: payload }, write);
  };

  readonly publish: Turn['publish'] = (channel, payload, options) => {
    const type = eventType(options);
    const write = (said: unknown): void => this.#scope.port.publish(channel, type, said);
    say(this.#scope, { name: channel, value: payload }, write);
  };

  readonly usage: Turn['usage'] = (counts) => {
    if (this.#scope.ended) return Promise.reject(new RunOver()).catch(() => {});
    this.#scope.uses.add(counts);
    return this.#handed('usage', this.#stored());
  };

  readonly allowed: Turn['allowed'] = () => this.#handed('allowed', this.hindered() ?? Promise.resolve());

  /** Waits for what comes before the app: what hinders the run, and a summary that is due. Null if there is nothing. */
  begins(): Promise<void> | null {
    const hindered = this.hindered();
    return this.#scope.app.compact ? this.#summarized(hindered) : hindered;
  }

  async #summarized(hindered: Promise<void> | null): Promise<void> {
    await hindered;
    this.#history = await historyToBegin(this.#scope, this.#history, this.#scope.app.compact!);
  }

  /** Waits until nothing hinders the run; null if nothing does. */
  hindered(): Promise<void> | null {
    const { uses, port } = this.#scope;
    if (!port.gate) return null;
    // Calls that the run has told count before it makes the next one.
    if (uses.logged > uses.stored && port.log.pending) return this.#afterStored();
    const hindrance = port.gate();
    return hindrance && this.#passed(hindrance);
  }

  async #stored(): Promise<void> {
    // A step that is under way could not be left to another process, so the next one waits.
    const waits = !isInStep();
    await (waits ? this.#afterStored() : this.#settled());
  }

  async #afterStored(): Promise<void> {
    await this.#settled();
    await this.hindered();
  }

  async #settled(): Promise<void> {
    const { uses, port } = this.#scope;
    const { logged } = uses;
    await Promise.resolve(port.log.settled()).catch(() => {});
    uses.stored = Math.max(uses.stored, logged);
  }

  /** @throws DOMException `AbortError` if the run has ended */
  async #passed(asked: MaybePromise<Hindrance | null>): Promise<void> {
    const { gate, end } = this.#scope.port;
    for (let met = await asked; met; met = await gate!()) {
      if (this.#scope.ended) throw new RunOver();
      if (met.events) for (const event of met.events) this.#scope.port.log.append(event);
      if (met.ask && (await met.answered!(await this.#asked(met.ask)))) continue;
      if (this.#scope.ended) throw new RunOver();
      if (!met.ending) return;
      end(met.ending);
      throw new RunOver();
    }
  }

  /** The answer to a question of the gateway. Calls that are made together wait for the same one. */
  #asked(request: ConfirmationRequest): Promise<Confirmation> {
    const key = JSON.stringify([request.name, request.input]);
    let answer = this.#questions.get(key);
    if (!answer) {
      answer = confirm(this.#scope, { ...request, callId: newGateCallId() }).finally(() =>
        this.#questions.delete(key),
      );
      this.#questions.set(key, answer);
    }
    return answer;
  }

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
}
