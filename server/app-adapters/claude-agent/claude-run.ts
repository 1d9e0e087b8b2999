import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import { type ShownBlock, shownOf } from '../anthropic-blocks.js';
import { withFiles } from '../inline-files.js';
import { upstreamFailed } from '../upstream-failed.js';
import type { ClaudeBounds } from './options.js';
import { ClaudeProgram } from './program.js';
import { Prompts } from './prompts.js';
import { ClaudeRunReader, fieldsOf } from './run-reader.js';
import type { ClaudeQuery, QueryClaude } from './sdk.js';
import { type ClaudeSpent, callsSince, spentOf } from './spending.js';

/** The agent's session, as an answer notes it for the run after it. */
export interface ClaudeNote {
  readonly session: string;
  /** The conversation that it belongs to: a fork must not go on with it. */
  readonly epoch: string;
  readonly spent: ClaudeSpent;
}

/** The session that a run goes on from. */
export type Former = Pick<ClaudeNote, 'session' | 'spent'>;

/** The beginning of a run. */
interface Asked {
  readonly bounds: ClaudeBounds;
  readonly settings: { readonly cwd: string; readonly env: Record<string, string> };
  /** The session that it goes on from; null for a new one. */
  readonly former: Former | null;
  /** The id of its own session, unless that is any. */
  readonly session: string | undefined;
  readonly prompt: ShownBlock[];
}

/** Ends of an answer that are bounds of the host. */
const BOUNDED: readonly unknown[] = ['error_max_turns', 'error_max_budget_usd'];

/** One process of the agent, which answers one run. */
export class ClaudeRun {
  /** Whether the agent has begun with its session. */
  hasBegun = false;
  readonly #turn: Turn;
  readonly #bounds: ClaudeBounds;
  readonly #reader: ClaudeRunReader;
  readonly #prompts = new Prompts();
  readonly #program: ClaudeProgram;
  readonly #query: ClaudeQuery;
  readonly #stopped = new AbortController();
  #session = '';
  #spent: ClaudeSpent;
  #result: AppResult | null = null;

  constructor(turn: Turn, query: QueryClaude, { bounds, settings, former, session, prompt }: Asked) {
    this.#turn = turn;
    this.#bounds = bounds;
    this.#spent = former?.spent ?? {};
    const reader = new ClaudeRunReader(turn);
    const program = new ClaudeProgram(bounds, () => reader.queue.room());
    this.#reader = reader;
    this.#program = program;
    this.#prompts.put(prompt);
    this.#query = query({
      prompt: this.#prompts,
      options: {
        ...settings,
        abortController: this.#stopped,
        includePartialMessages: true,
        canUseTool: (name, input, request) => reader.permit(name, input, request),
        spawnClaudeCodeProcess: (asked) => program.start(asked),
        // Each answer has a session of its own, so that an edit goes on from the answer before it.
        ...(former && { resume: former.session, forkSession: true }),
        ...(session !== undefined && { sessionId: session }),
      },
    });
  }

  /** The answer of the agent. @throws GatewayError `UPSTREAM_FAILED` */
  async *answer(): AsyncGenerator<string | AppEvent, AppResult> {
    const { signal } = this.#turn;
    const { queue } = this.#reader;
    const ended = this.#listen().finally(() => queue.end());
    ended.catch(() => {});
    const stop = (): void => queue.end();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      yield* queue.items();
      signal.throwIfAborted();
      await ended;
      return this.#result ?? {};
    } catch (error) {
      signal.throwIfAborted();
      const { fault, said } = this.#program;
      const cause = fault ?? (error instanceof Error ? error : new Error(String(error)));
      throw upstreamFailed(
        said === '' || 'code' in cause ? cause : new Error(`${cause.message}: ${said}`, { cause }),
      );
    } finally {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) this.#interrupt(ended);
      else this.#stopped.abort();
    }
  }

  /** Has the agent stop by itself, so that it keeps its session, and ends it if it does not. */
  #interrupt(ended: Promise<void>): void {
    const end = setTimeout(() => this.#kill(), this.#bounds.graceMs);
    ended.catch(() => {}).then(() => clearTimeout(end));
    this.#query
      .interrupt()
      .catch(() => {})
      .then(() => this.#prompts.end());
  }

  #kill(): void {
    this.#stopped.abort();
    this.#program.end();
  }

  async #listen(): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    try {
      for await (const heard of this.#query) {
        const message = fieldsOf(heard);
        if (this.#result || this.#turn.signal.aborted) continue;
        if (message.type === 'system' && message.subtype === 'init') this.#begin(message.session_id);
        else if (message.type !== 'result') this.#reader.hear(message);
        else if (await this.#isLast(message)) {
          this.#prompts.end();
          // It keeps its session before it ends.
          late = setTimeout(() => this.#kill(), this.#bounds.graceMs);
        }
      }
    } catch (error) {
      if (!this.#result) throw error;
    } finally {
      clearTimeout(late);
    }
    if (!this.#result && !this.#turn.signal.aborted) throw new Error('The agent ended before its answer did');
  }

  /** Whether the agent's answer is the last of the run. */
  async #isLast(result: Readonly<Record<string, unknown>>): Promise<boolean> {
    const spent = spentOf(result);
    const calls = callsSince(this.#spent, spent, result);
    this.#spent = spent;
    this.#note();
    for (const call of calls) await this.#turn.usage(call);
    const isBounded = BOUNDED.includes(result.subtype);
    if (!isBounded && (result.subtype !== 'success' || result.is_error === true))
      throw new Error(`The agent failed: ${JSON.stringify(result.errors ?? result.result ?? null)}`);
    await this.#reader.queue.drained();
    const steered = isBounded ? [] : await withFiles(this.#turn, this.#turn.steered());
    if (steered.length > 0) {
      this.#prompts.put(steered.flatMap(({ content }) => shownOf(content)));
      return false;
    }
    const isCut = isBounded || result.stop_reason === 'max_tokens';
    this.#result = { stopReason: isCut ? 'max_tokens' : 'end' };
    return true;
  }

  #begin(session: unknown): void {
    if (typeof session !== 'string') return;
    this.hasBegun = true;
    this.#session = session;
    this.#note();
  }

  #note(): void {
    const { epoch } = this.#turn.session;
    if (this.#session !== '')
      this.#turn.annotate({
        claude: { session: this.#session, epoch, spent: this.#spent } satisfies ClaudeNote,
      });
  }
}
