import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../../shared/errors.js';
import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import type { ToolSet } from '../../apps/tool.js';
import { newId } from '../../ids.js';
import { upstreamFailed } from '../upstream-failed.js';
import { Answer } from './answer.js';
import type { SliceExchange } from './exchange.js';
import { isFault, SliceDied } from './fault.js';
import { RunJournal } from './journal.js';
import type { SliceBounds } from './options.js';
import { RunOutlet } from './outlet.js';
import { SliceBody } from './slice-body.js';
import { type LastLine, SliceReader } from './slice-reader.js';

const BACK_OFF = { fromMs: 100, toMs: 10_000 } as const;
/** The reason for which a slice that ended well is not read on. */
const DONE = new SliceDied('The slice is done');

export interface RemoteRunOptions {
  readonly exchange: SliceExchange;
  readonly bounds: SliceBounds;
  readonly name: string;
  readonly version: string | undefined;
  readonly tools: ToolSet;
}

/** One run of an app that runs elsewhere: slice by slice, until one ends it. */
export class RemoteRun {
  readonly #turn: Turn;
  readonly #options: RemoteRunOptions;
  readonly #journal: RunJournal;
  readonly #answer: Answer;
  readonly #body: SliceBody;
  readonly #outlet = new RunOutlet(() => this.#make());
  #attempt = 0;
  /** Slices in a row that brought nothing new. */
  #vain = 0;

  constructor(turn: Turn, options: RemoteRunOptions) {
    this.#turn = turn;
    this.#options = options;
    this.#journal = new RunJournal(turn);
    this.#answer = new Answer(turn);
    this.#body = new SliceBody(turn, options);
  }

  /** The answer, as the slices say it. It fails with `APP_REPLY_INVALID`, `UPSTREAM_FAILED`, `STEP_MISMATCH`, and the app's own errors. */
  get answer(): AsyncIterable<string | AppEvent, AppResult> {
    return this.#outlet;
  }

  async #make(): Promise<AppResult> {
    for (const item of this.#answer.again()) {
      this.#outlet.put(item);
      await this.#outlet.drained();
    }
    for (;;) {
      const last = await this.#slice();
      if (last?.type === 'error') throw new GatewayError({ code: last.code, message: last.message });
      if (last) await this.#journal.stored();
      if (last?.type === 'end') return { stopReason: last.stopReason ?? 'end' };
      if (last?.type === 'wait') await this.#journal.news();
    }
  }

  /** Makes one slice. Returns its last line; null if the app is to be called again. */
  async #slice(): Promise<LastLine | null> {
    const { signal } = this.#turn;
    const cut = new AbortController();
    const abort = (): void => cut.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    let last: LastLine | null = null;
    const reader = new SliceReader(
      {
        turn: this.#turn,
        journal: this.#journal,
        answer: this.#answer,
        outlet: this.#outlet,
        bounds: this.#options.bounds,
      },
      (line, error) => {
        last = line;
        cut.abort(line ? DONE : error);
      },
    );
    try {
      await this.#carried(cut, reader).catch((error: unknown) => {
        // A reply may break off behind its last line.
        if (!last) throw error;
      });
      if (cut.signal.aborted && cut.signal.reason !== DONE) throw cut.signal.reason;
      if (reader.isWithin && !last) throw new SliceDied('The reply ended within a line');
      if (!last) throw new SliceDied('The reply ended without a last line');
      if ((last as LastLine).type === 'continue' && !reader.isNew)
        throw new SliceDied('The app says continue, and nothing else');
      this.#vain = 0;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      cut.abort(error);
      await this.#backOff(error, reader.isNew);
    } finally {
      signal.removeEventListener('abort', abort);
    }
    return last;
  }

  async #carried(cut: AbortController, reader: SliceReader): Promise<void> {
    const { exchange, bounds } = this.#options;
    this.#attempt += 1;
    await this.#outlet.drained();
    this.#answer.begin();
    const id = `${newId('slice')}${exchange.mark ?? ''}`;
    const told = { ...this.#journal.tell(), said: this.#answer.said };
    let late: NodeJS.Timeout | undefined;
    const began = (): void => {
      const over = (): void => cut.abort(new SliceDied(`The slice took longer than ${bounds.sliceMs} ms`));
      late = setTimeout(over, bounds.sliceMs + bounds.graceMs);
    };
    let taking: Promise<void> | undefined;
    try {
      const take = (piece: Buffer): Promise<void> | undefined => {
        taking = reader.take(piece);
        return taking;
      };
      const body = this.#body.of({ id, attempt: this.#attempt, ...told });
      await exchange.carry({ id, body, signal: cut.signal, done: DONE, began, take });
    } finally {
      clearTimeout(late);
      // The reply may end or break off while its last piece waits, whose lines are not those of the next one.
      await taking;
    }
  }

  /** Waits before the next slice, the longer the more slices were in vain. @throws GatewayError once there were too many, or a fault ends the run */
  async #backOff(error: unknown, isNew: boolean): Promise<void> {
    const { attempts, onFault } = this.#options.bounds;
    if (isFault(error) && onFault === 'end') throw error;
    if (!isFault(error) && !(error instanceof SliceDied)) throw error;
    this.#vain = isNew ? 1 : this.#vain + 1;
    if (this.#vain > attempts) throw isFault(error) ? error : upstreamFailed(error);
    const { stale = false, afterMs = 0 } = error as Partial<SliceDied>;
    if (stale && this.#vain === 1) return;
    const pause = Math.min(BACK_OFF.fromMs * 2 ** (this.#vain - 1), BACK_OFF.toMs);
    // Apps that died together are not called again together.
    const spread = pause * (0.5 + Math.random() / 2);
    await delay(Math.max(spread, afterMs), undefined, { signal: this.#turn.signal });
  }
}
