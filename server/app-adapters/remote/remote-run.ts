import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../../shared/errors.js';
import type { AppEvent, AppResult, Turn, UsedCall } from '../../apps/application.js';
import type { ToolSet } from '../../apps/tool.js';
import { newId } from '../../ids.js';
import { upstreamFailed } from '../upstream-failed.js';
import { Answer, type PartLine } from './answer.js';
import type { Exchange, SentSlice } from './exchange.js';
import { isFault, replyFault, SliceDied } from './fault.js';
import { Journal } from './journal.js';
import { LineReader } from './line-reader.js';
import type { Line } from './lines.js';
import type { SliceBounds } from './options.js';
import { SliceBody } from './slice-body.js';

const BACK_OFF = { fromMs: 100, toMs: 10_000 } as const;

const DONE = new SliceDied('The slice is done');

export interface RemoteRunOptions {
  readonly exchange: Exchange;
  readonly bounds: SliceBounds;
  readonly name: string;
  readonly version: string | undefined;
  readonly tools: ToolSet;
}

/** The last line of a reply. */
type Last = Extract<Line, { readonly type: 'continue' | 'wait' | 'end' | 'error' }>;

const LAST: ReadonlySet<string> = new Set(['continue', 'wait', 'end', 'error']);
const isLast = (line: Line): line is Last => LAST.has(line.type);

/** One run of an app that runs elsewhere: slice by slice, until one ends it. */
export class RemoteRun {
  readonly #turn: Turn;
  readonly #options: RemoteRunOptions;
  readonly #journal: Journal;
  readonly #answer: Answer;
  readonly #body: SliceBody;
  #attempt = 0;
  /** Slices in a row that brought nothing new. */
  #vain = 0;
  #isNew = false;

  constructor(turn: Turn, options: RemoteRunOptions) {
    this.#turn = turn;
    this.#options = options;
    this.#journal = new Journal(turn);
    this.#answer = new Answer(turn);
    this.#body = new SliceBody(turn, options);
  }

  /** The answer, as the slices say it. @throws GatewayError `APP_REPLY_INVALID`, `UPSTREAM_FAILED`, `STEP_MISMATCH`, and the app's own */
  async *say(): AsyncGenerator<string | AppEvent, AppResult> {
    yield* this.#answer.again();
    for (;;) {
      const last = yield* this.#slice();
      if (last?.type === 'error') throw new GatewayError({ code: last.code, message: last.message });
      if (last) await this.#journal.stored();
      if (last?.type === 'end') return { stopReason: last.stopReason ?? 'end' };
      if (last?.type === 'wait') await this.#journal.news();
    }
  }

  /** Makes one slice. Returns its last line; null if the app is to be called again. */
  async *#slice(): AsyncGenerator<string | AppEvent, Last | null> {
    this.#isNew = false;
    const cut = new AbortController();
    const { signal } = this.#turn;
    const abort = (): void => cut.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    let late: NodeJS.Timeout | undefined;
    const began = (): void => {
      const { sliceMs, graceMs } = this.#options.bounds;
      const over = new SliceDied(`The slice took longer than ${sliceMs} ms`);
      late = setTimeout(() => cut.abort(over), sliceMs + graceMs);
    };
    try {
      const last = yield* this.#read({ signal: cut.signal, done: DONE, began });
      cut.abort(DONE);
      if (last.type !== 'continue' || this.#isNew) this.#vain = 0;
      else await this.#backOff(new SliceDied('The app says continue, and nothing else'));
      return last;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      cut.abort(error);
      await this.#backOff(error);
      return null;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', abort);
      cut.abort();
    }
  }

  async *#read(sent: Pick<SentSlice, 'signal' | 'done' | 'began'>): AsyncGenerator<string | AppEvent, Last> {
    const { exchange, bounds } = this.#options;
    this.#attempt += 1;
    this.#answer.begin();
    const id = newId('slice');
    const body = this.#body.of({
      ...{ id, attempt: this.#attempt, ...this.#journal.tell(), said: this.#answer.said },
    });
    const reader = new LineReader(bounds);
    for await (const piece of exchange.carry({ id, body, ...sent })) {
      let last: Last | null = null;
      try {
        for (const line of reader.read(piece)) {
          if (last) throw replyFault(reader.line, 'type', `comes after ${last.type}, which is the last line`);
          if (line.type === 'text') {
            if (!this.#answer.text(line, reader.line)) yield* this.#new(this.#answer.instead(line));
          } else if (isLast(line)) last = line;
          else {
            yield* this.#new(this.#answer.flushed());
            yield* this.#take(line, reader.line);
          }
        }
      } catch (error) {
        // What was said before a fault stays.
        yield* this.#new(this.#answer.flushed());
        throw error;
      }
      yield* this.#new(this.#answer.flushed());
      if (!last) continue;
      if (reader.isWithin) throw replyFault(reader.line + 1, '', `comes after ${last.type}, which is the last line`);
      if (last.type === 'wait' && !this.#journal.waits)
        throw replyFault(reader.line, 'type', 'must be continue: no call and no sleep is open');
      return last;
    }
    if (reader.isWithin) throw new SliceDied('The reply ended within a line');
    throw new SliceDied('The reply ended without a last line');
  }

  async *#take(line: Exclude<Line, Last>, number: number): AsyncGenerator<string | AppEvent, void> {
    switch (line.type) {
      case 'text':
        return;
      case 'reasoning':
        return yield* this.#new(this.#answer.reasoning(line, number));
      case 'step':
      case 'sleep':
      case 'ask':
      case 'confirm':
      case 'tool':
      case 'spawn':
        if (!this.#journal.take(line, number)) return;
        this.#isNew = true;
        return this.#answer.mark();
      default:
        if (!this.#answer.isNew(line)) return;
        this.#isNew = true;
        yield* this.#part(line);
        this.#answer.mark();
    }
  }

  async *#part(line: PartLine): AsyncGenerator<AppEvent, void> {
    const turn = this.#turn;
    if (line.type === 'title') turn.title(line.text);
    else if (line.type === 'annotate') turn.annotate(line.metadata);
    else if (line.type === 'tool_result') yield { ...line, isError: line.isError ?? false };
    else if (line.type === 'usage') {
      const { type: _type, ...used } = line;
      await turn.usage(used as UsedCall);
    } else yield line;
  }

  *#new<Item>(items: Iterable<Item>): Generator<Item, void> {
    for (const item of items) {
      this.#isNew = true;
      yield item;
    }
  }

  /** Waits before the next slice, the longer the more slices were in vain. @throws GatewayError once there were too many, or a fault ends the run */
  async #backOff(error: unknown): Promise<void> {
    const { attempts, onFault } = this.#options.bounds;
    if (isFault(error) && onFault === 'end') throw error;
    if (!isFault(error) && !(error instanceof SliceDied)) throw error;
    this.#vain = this.#isNew ? 1 : this.#vain + 1;
    if (this.#vain > attempts) throw isFault(error) ? error : upstreamFailed(error);
    const { stale = false, afterMs = 0 } = error as Partial<SliceDied>;
    if (stale && this.#vain === 1) return;
    const pause = Math.min(BACK_OFF.fromMs * 2 ** (this.#vain - 1), BACK_OFF.toMs);
    // Apps that died together are not called again together.
    const spread = pause * (0.5 + Math.random() / 2);
    await delay(Math.max(spread, afterMs), undefined, { signal: this.#turn.signal });
  }
}
