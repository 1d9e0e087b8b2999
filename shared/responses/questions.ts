import { AskedCalls } from '../asked-calls.js';
import type { GatewayEvent } from '../events.js';
import type { AskingEvent } from '../segments.js';
import { echoIn, type ResponseWriterOptions } from './types.js';

/**
 * Selects the questions of a run that are for its caller: calls of tools that the caller brought, and confirmations. Other questions wait for the
 * session's subscribers. Feed it the run's events.
 */
export class CallersQuestions {
  readonly #showsOwn: boolean;
  #tools: ReadonlyMap<string, 'function' | 'custom'> = new Map();

  constructor({ ownTools = 'show' }: ResponseWriterOptions) {
    this.#showsOwn = ownTools === 'show';
  }

  take(event: GatewayEvent): void {
    if (event.type !== 'message_accepted') return;
    const { tools = [] } = echoIn(event.message.metadata);
    this.#tools = new Map(tools.map(({ name, type }) => [name, type]));
  }

  /** Whether the caller brought a tool of this name. */
  brought(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Whether the input of a tool that the caller brought is text. */
  takesText(name: string): boolean {
    return this.#tools.get(name) === 'custom';
  }

  asks(event: AskingEvent): boolean {
    return event.type === 'input_required' ? this.brought(event.name) : this.#showsOwn;
  }
}

/** The questions that a run has asked its caller so far. */
export class AskedOfCaller extends AskedCalls {
  readonly #questions: CallersQuestions;

  constructor(runId: string, options: ResponseWriterOptions) {
    const questions = new CallersQuestions(options);
    super(runId, (event) => questions.asks(event));
    this.#questions = questions;
  }

  override take(event: GatewayEvent): void {
    if ('runId' in event && event.runId === this.runId) this.#questions.take(event);
    super.take(event);
  }
}
