import { type AppendOptions, type AppendResult, type EventRecord, isPlain } from '../append.js';
import { place } from '../placed.js';
import type { LogRef } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { type Answer, resultOf } from './answers.js';
import { encodeAppend, encodeErase } from './appending.js';
import type { Keys } from './keys.js';
import type { Link } from './link.js';
import type { Lists } from './lists.js';
import type { PlainAppends } from './plain-appends.js';
import type { RedisReader } from './reader.js';
import type { RedisRecords } from './records.js';
import { rewriteEntries } from './rewriting.js';
import { NO_ROWS, type RedisRows } from './rows.js';
import type { RedisUsage } from './usage.js';

interface RedisWriterParts {
  readonly appends: PlainAppends;
  readonly link: Link;
  readonly keys: Keys;
  readonly lists: Lists;
  readonly usage: RedisUsage;
  readonly records: RedisRecords;
  readonly rows: RedisRows;
  readonly reader: RedisReader;
}

/** Appends batches. */
export class Writer {
  readonly #parts: RedisWriterParts;

  constructor(parts: RedisWriterParts) {
    this.#parts = parts;
  }

  append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    if (isPlain(options)) return this.#parts.appends.append({ log, events, options });
    return this.#commit(log, events, options);
  }

  async #commit(log: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    const { link, keys, usage, records, rows, reader } = this.#parts;
    const { records: changes = [], messages, rewrites, erase, term } = options;
    if (erase !== undefined) return this.#erase(log, events, options, erase);
    const put = messages ? await rows.put(log, messages) : NO_ROWS;
    const anew = rewrites && (await rewriteEntries(reader, log, rewrites));
    const call = encodeAppend(keys, log, events, options, { rows: put, anew });
    const leaving = await records.announce(log, changes);
    const reply = (await link.run(call)) as Exclude<Answer, number>;
    const result = resultOf(log, term, events.length, reply);
    if (reply[0] !== 'A' && reply[0] !== 'D') return result;
    if (changes.length > 0) await records.hint(log, changes, leaving);
    place(events, result.first, term);
    if (reply[0] === 'A') usage.grow(log.scope, sizeOf(events) + put.grown + (anew?.grown ?? 0));
    this.#list(log, reply, options);
    return result;
  }

  /** Tells the list of open sessions, also if Redis took the batch before and the reply was lost. */
  #list(log: LogRef, reply: Exclude<Answer, number>, { close, erase, about }: AppendOptions): void {
    const { lists } = this.#parts;
    const ordinal = reply[0] === 'A' || reply[0] === 'D' ? reply[3] : undefined;
    if (ordinal === undefined) return;
    if (close || erase !== undefined) lists.closed(log, ordinal);
    else if (about?.usedAt !== undefined) lists.used(log, ordinal, about.usedAt);
  }

  async #erase(
    log: LogRef,
    events: readonly EventRecord[],
    options: AppendOptions,
    epoch: string,
  ): Promise<AppendResult> {
    const { link, keys, usage, records } = this.#parts;
    const owners = await records.owners(log);
    const { closed } = keys.session(log);
    for (;;) {
      const past = (await link.send(closed, ['HKEYS', closed])) as string[];
      const call = encodeErase(keys, log, events, options, epoch, past);
      const reply = (await link.run(call)) as Exclude<Answer, number>;
      // Other logs were dropped meanwhile.
      if (reply[0] === 'X') continue;
      const result = resultOf(log, options.term, events.length, reply);
      place(events, result.first, options.term);
      usage.forget();
      await records.forget(log, owners);
      this.#list(log, reply, options);
      return result;
    }
  }
}
