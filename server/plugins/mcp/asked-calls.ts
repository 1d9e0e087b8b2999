import { GatewayError } from '../../../shared/errors.js';
import type { ToolOutput } from '../../apps/tool.js';
import { handOver } from '../conversation/asked.js';
import type { CallToolOptions, PluginSession } from '../plugin.js';
import type { McpLimits } from './options.js';
import type { ConfirmReply, Heard, McpQuestion } from './question.js';

/** The parts of a request that its call needs. */
export interface RoundRequest {
  readonly signal: AbortSignal;
  readonly progress?: CallToolOptions['progress'];
}

interface RunningToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** The outcome of a round: the tool's output, or a question that a person must answer first. */
export type RoundEnd = { readonly output: ToolOutput } | { readonly question: McpQuestion };

/**
 * Calls that wait for their client's answer between two requests. Each belongs to the caller that began it, and ends if its client does not
 * come back in time.
 */
export class RoundCalls {
  readonly #limits: Pick<McpLimits, 'answerMs' | 'questionsPerUser'>;
  readonly #waiting = new Map<string, RoundCall>();

  constructor(limits: Pick<McpLimits, 'answerMs' | 'questionsPerUser'>) {
    this.#limits = limits;
  }

  /** Begins a call. @throws GatewayError the reason why it was not begun */
  async begin(
    session: PluginSession,
    owner: string,
    call: RunningToolCall,
    round: RoundRequest,
  ): Promise<RoundEnd> {
    const begun = new RoundCall(session, owner, call, () => this.#admit(owner));
    const outcome = await begun.during(round, begun.first);
    if ('question' in outcome) this.#wait(begun, outcome.question);
    return outcome;
  }

  /** Goes on with a call whose client came back. Undefined if there is no such call, or it was another one. */
  async goOn(
    callId: string,
    owner: string,
    call: RunningToolCall,
    { said, ...round }: RoundRequest & { readonly said: Heard | undefined },
  ): Promise<RoundEnd | undefined> {
    const found = this.#waiting.get(callId);
    if (!found?.is(owner, call)) return undefined;
    if (typeof said === 'object') await found.answer(callId, said);
    else if (found.open && said === undefined) return { question: this.#wait(found, found.open) };
    clearTimeout(found.timer);
    try {
      return { output: await found.during(round, found.output) };
    } finally {
      this.#waiting.delete(callId);
    }
  }

  #admit(owner: string): void {
    let own = 0;
    for (const call of this.#waiting.values()) if (call.owner === owner) own += 1;
    if (own < this.#limits.questionsPerUser) return;
    throw new GatewayError({ code: 'RATE_LIMITED', message: 'You have too many questions open' });
  }

  #wait(call: RoundCall, question: McpQuestion): McpQuestion {
    const { answerMs } = this.#limits;
    this.#waiting.set(question.callId, call);
    clearTimeout(call.timer);
    if (answerMs <= 0x7fffffff) call.timer = setTimeout(() => this.#drop(question.callId), answerMs).unref();
    return question;
  }

  #drop(callId: string): void {
    const call = this.#waiting.get(callId);
    this.#waiting.delete(callId);
    clearTimeout(call?.timer);
    call?.stop();
  }

  /** Ends all waiting calls. */
  close(): void {
    for (const callId of [...this.#waiting.keys()]) this.#drop(callId);
  }
}

class RoundCall {
  readonly owner: string;
  readonly output: Promise<ToolOutput>;
  /** The first outcome. */
  readonly first: Promise<RoundEnd>;
  timer: NodeJS.Timeout | undefined;
  /** The question, until somebody has answered. */
  open: McpQuestion | null = null;
  readonly #session: PluginSession;
  readonly #call: string;
  readonly #controller = new AbortController();
  #progress: CallToolOptions['progress'];

  constructor(session: PluginSession, owner: string, call: RunningToolCall, admit: () => void) {
    this.owner = owner;
    this.#session = session;
    this.#call = textOf(call);
    let ask!: (question: McpQuestion) => void;
    const question = new Promise<RoundEnd>((resolve) => {
      ask = (asked) => resolve({ question: asked });
    });
    this.output = session.callTool(call.name, call.arguments ?? {}, {
      signal: this.#controller.signal,
      progress: (progress) => this.#progress?.(progress),
      asked: (asked, open) => {
        admit();
        this.open = asked;
        open.addEventListener('abort', () => {
          this.open = null;
        });
        ask(asked);
      },
    });
    this.first = Promise.race([this.output.then((output) => ({ output })), question]);
  }

  is(owner: string, call: RunningToolCall): boolean {
    return this.owner === owner && this.#call === textOf(call);
  }

  /** Waits for work on behalf of a request. If the request is cancelled, so is the call. */
  async during<T>({ signal, progress }: RoundRequest, work: Promise<T>): Promise<T> {
    const cancel = (): void => this.stop();
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel);
    this.#progress = progress;
    try {
      return await work;
    } finally {
      this.#progress = undefined;
      signal.removeEventListener('abort', cancel);
    }
  }

  answer(callId: string, said: ConfirmReply): Promise<void> {
    return handOver(this.#session, callId, { kind: 'confirmation', ...said });
  }

  stop(): void {
    this.#controller.abort();
  }
}

function textOf(call: RunningToolCall): string {
  return JSON.stringify([call.name, call.arguments ?? {}]);
}
