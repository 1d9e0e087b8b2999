import { Readable } from 'node:stream';
import type { Event, Interrupt, RunAgentInput, TokenUsage } from '@ag-ui/client';
import type { AgUiMessage } from '../../../shared/ag-ui/events.js';
import type { AppEvent, UsedCall } from '../../apps/application.js';
import type { AgentFetch } from '../agent-fetch.js';
import { invalidReply } from '../invalid-reply.js';
import type { ItemGenerator } from '../streamed-step.js';
import { upstreamFailed } from '../upstream-failed.js';
import { AgUiRunReader, type ReaderOptions, type ToldValue } from './reader.js';
import type { AgUiSdk } from './sdk.js';

/** The outcome of one request, as a step keeps it. */
export interface AgUiAnswered {
  readonly said: readonly AgUiMessage[];
  readonly values: readonly ToldValue[];
  readonly interrupts: readonly Interrupt[];
  /** Ids of the calls that the agent left to others. */
  readonly pending: readonly string[];
  readonly usage: readonly UsedCall[];
}

export interface AgentRunOptions extends ReaderOptions {
  readonly url: string;
  fetchWith(wanted: () => Promise<void> | undefined): AgentFetch;
}

/** A request as it is made: the library adds the version of the protocol. */
export type AgentRequest = Omit<RunAgentInput, 'messages'> & { readonly messages: readonly AgUiMessage[] };

/** Hears of one request as it goes on. */
export interface AgentRequestHooks {
  /** The agent has the request. */
  begun(): void;
  /** The tokens that a request which failed has used. */
  used(usage: UsedCall): void;
}

/** Items that may wait before the reply does. */
const MOST_ITEMS = 64;

/** The requests to an agent in one turn. */
export class AgentRun {
  readonly reader: AgUiRunReader;
  readonly #sdk: AgUiSdk;
  readonly #options: AgentRunOptions;

  constructor(sdk: AgUiSdk, options: AgentRunOptions) {
    this.#sdk = sdk;
    this.#options = options;
    this.reader = new AgUiRunReader(sdk, options);
  }

  /** Whether a call is made through the turn. */
  isOurs(name: string): boolean {
    return this.#options.answered.has(name);
  }

  /**
   * Asks the agent once, and yields what it says.
   *
   * @throws GatewayError `UPSTREAM_FAILED`; `APP_REPLY_INVALID` that names the event
   */
  async *ask(request: AgentRequest, hooks: AgentRequestHooks): ItemGenerator<AgUiAnswered> {
    const { reader } = this;
    reader.begin(request.messages, request.state);
    for await (const event of this.#events(request)) {
      if (event.type === 'RUN_STARTED') hooks.begun();
      yield* reader.read(event);
      if (event.type !== 'RUN_FINISHED' && event.type !== 'RUN_ERROR') continue;
      yield* reader.values();
      const usage = (event.usage ?? []).map(usedCall);
      if (event.type === 'RUN_FINISHED') return this.#answered(event, usage);
      for (const used of usage) hooks.used(used);
      throw upstreamFailed(new Error(`${event.code ?? 'RUN_ERROR'}: ${event.message}`));
    }
    throw upstreamFailed(new Error('The reply ended before the run did'));
  }

  /** Says again what a former process has heard. */
  *again(former: AgUiAnswered): Generator<AppEvent, void> {
    this.reader.begin([], undefined);
    yield* this.reader.again(former);
  }

  #answered(event: Extract<Event, { type: 'RUN_FINISHED' }>, usage: readonly UsedCall[]): AgUiAnswered {
    const { reader } = this;
    const outcome = this.#sdk.getRunOutcome(event as never) ?? { type: 'success' as const };
    if (outcome.type === 'cancelled') throw upstreamFailed(new Error('The agent cancelled the run'));
    const isSuccess = outcome.type === 'success';
    return {
      said: reader.said,
      values: reader.told,
      interrupts: isSuccess ? [] : outcome.interrupts,
      pending: isSuccess ? reader.open : [],
      usage,
    };
  }

  /** The events of a run, checked by the library. A fault is thrown once all before it was yielded. */
  async *#events(request: AgentRequest): AsyncGenerator<Event, void> {
    const { HttpAgent, CompatibilityBoundary, enforceEvents, transformChunks, verifyEvents } = this.#sdk;
    let wake: (() => void) | null = null;
    let isFull = false;
    const events = new Readable({
      objectMode: true,
      highWaterMark: MOST_ITEMS,
      read: () => {
        isFull = false;
        wake?.();
      },
    });
    const wanted = () => (isFull ? new Promise<void>((resolve) => (wake = resolve)) : undefined);
    const exchange = this.#options.fetchWith(wanted);
    const agent = new HttpAgent({ url: this.#options.url, fetch: exchange.fetch as never });
    let count = 0;
    let fault: unknown = null;
    const input = { protocolVersion: this.#sdk.PROTOCOL_VERSION, ...request } as RunAgentInput;
    const checked = verifyEvents()(
      transformChunks()(enforceEvents()(new CompatibilityBoundary().run(input, agent))),
    );
    const subscription = checked.subscribe({
      next: (event) => {
        count += 1;
        isFull = !events.push(event) || isFull;
      },
      error: (error: unknown) => {
        fault = error ?? new Error('The library gave no reason');
        events.push(null);
      },
      complete: () => events.push(null),
    });
    try {
      yield* events as AsyncIterable<Event>;
    } finally {
      subscription.unsubscribe();
      // The library reads on without a reader.
      agent.abortRun();
    }
    if (exchange.failure) throw exchange.failure;
    if (fault === null) return;
    if (!exchange.isReplying) throw upstreamFailed(fault);
    throw invalidReply(`event ${count + 1} is not of AG-UI, or not in its place`, fault);
  }
}

function usedCall({ provider, model, ...counts }: TokenUsage): UsedCall {
  const { inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens } = counts;
  return {
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(totalTokens !== undefined && { totalTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
  };
}
