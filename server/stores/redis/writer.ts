import { type AppendOptions, type AppendResult, type EventRecord, StoreError } from '../append.js';
import { place } from '../placed.js';
import type { LogRef, SessionRef } from '../stored.js';
import { encodeAppend, encodeErase, type SentBatch } from './appending.js';
import type { Expiry } from './expiry.js';
import type { HeldLog, HeldLogs, KeptBatch } from './held-logs.js';
import type { Keys } from './keys.js';
import type { Link } from './link.js';
import type { Lists } from './lists.js';
import type { RedisRecords } from './records.js';
import type { RedisRows } from './rows.js';
import { RELEASE } from './scripts/hold.js';
import { runOf } from './session-data.js';
import type { RedisUsage } from './usage.js';

/** The interval of attempts to take a log again while others may still have to write what came before. */
const RETAKE_MS = 50;

interface RedisWriterParts {
  readonly link: Link;
  readonly keys: Keys;
  readonly held: HeldLogs;
  readonly lists: Lists;
  readonly usage: RedisUsage;
  readonly expiry: Expiry;
  readonly records: RedisRecords;
  readonly rows: RedisRows;
}

/** Replies of the scripts that append. */
type ScriptReply =
  | readonly ['A' | 'D', first: number, last: number]
  | readonly ['K', head: number, runId: string, open: string, ended: string]
  | readonly ['O' | 'S', head: number]
  | readonly ['R', batch: number]
  | readonly ['F', epoch: string, term: string]
  | readonly ['X'];

/** Replies that show that Redis has forgotten batches, or that their writer took the log. */
type Forgotten = Extract<ScriptReply, readonly ['R' | 'F', ...unknown[]]>;

/** A term lower than the writer's belongs to a former writer. */
const isForgotten = (answer: ScriptReply, { term }: HeldLog): answer is Forgotten =>
  answer[0] === 'R' || (answer[0] === 'F' && Number(answer[2]) < term);

const rolledBack = (batch: number): StoreError =>
  new StoreError('ROLLED_BACK', `Redis has forgotten what came after batch ${batch}`);

/** Appends batches, and writes again the last ones that Redis has forgotten. */
export class Writer {
  readonly #parts: RedisWriterParts;

  constructor(parts: RedisWriterParts) {
    this.#parts = parts;
    parts.link.onResumed(() => void this.#mendAll());
  }

  async append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    const { keys, held, usage, records, rows } = this.#parts;
    const { records: changes = [], messages } = options;
    if (options.erase !== undefined) return this.#erase(log, events, options, options.erase);
    const { sid } = keys.session(log);
    const own = held.get(sid, options.term);
    const put = messages && (await rows.put(log, messages));
    const sent = encodeAppend(keys, log, events, options, put);
    await records.announce(log, changes);
    const answer = await this.#write(sent, own);
    const result = this.#resultOf(log, answer);
    if (answer[0] === 'K' || answer[0] === 'O' || answer[0] === 'S') return result;
    if (changes.length > 0) await records.hint(log, changes);
    place(events, result.first, options.term);
    if (answer[0] === 'A') usage.grow(log.scope, sent.size);
    if (own) {
      // Also if Redis took it before, and the reply was lost.
      held.keep(own, options.batch, sent);
      this.#list(log, own, options);
    }
    return result;
  }

  #list(log: LogRef, { ordinal, sid, term }: HeldLog, { close, about }: AppendOptions): void {
    const { held, lists } = this.#parts;
    if (close) {
      lists.closed(log, ordinal);
      held.end(sid, term);
    } else if (about?.usedAt !== undefined) lists.used(log, ordinal, about.usedAt);
  }

  async #write(sent: SentBatch, own: HeldLog | undefined): Promise<ScriptReply> {
    for (;;) {
      const answer = await this.#send(sent);
      if (!own || !isForgotten(answer, own)) return answer;
      await this.#mend(own, answer);
    }
  }

  async #send({ script, keys, args }: SentBatch): Promise<ScriptReply> {
    return (await this.#parts.link.run(script, keys, args)) as ScriptReply;
  }

  #resultOf({ epoch }: LogRef, answer: ScriptReply): AppendResult {
    if (answer[0] === 'A' || answer[0] === 'D') return { epoch, first: answer[1], last: answer[2] };
    if (answer[0] === 'R') throw rolledBack(answer[1]);
    if (answer[0] === 'S') return { epoch, first: answer[1] + 1, last: answer[1], stale: true };
    if (answer[0] === 'O') return { epoch, first: answer[1] + 1, last: answer[1], repeated: true };
    if (answer[0] !== 'K') throw new StoreError('FENCED', 'Another writer holds this session');
    const [, head, runId, open, ended] = answer;
    return { epoch, first: head + 1, last: head, duplicate: runOf(runId, open, ended)! };
  }

  /** Takes a log again under the same term. Returns whether Redis then has the state of the first time. */
  async #retake(own: HeldLog): Promise<boolean> {
    const { held, link } = this.#parts;
    while (held.canRetake(own)) {
      const wasSettled = link.isSettled;
      const { taking } = own;
      if (await taking.again()) {
        taking.at = performance.now();
        return true;
      }
      // The former holder must first write again what Redis has forgotten of its time.
      if (wasSettled) return false;
      await new Promise((resolve) => setTimeout(resolve, RETAKE_MS));
    }
    return false;
  }

  /**
   * Writes again the batches of a log that Redis has forgotten, and takes the log again if Redis has forgotten that too.
   *
   * @throws StoreError `ROLLED_BACK` if a batch is no longer kept, or another writer has written since
   */
  async #mend(own: HeldLog, forgotten: Forgotten): Promise<void> {
    const { held } = this.#parts;
    for (let next: ScriptReply | null = forgotten; next; ) {
      const batch = next[0] === 'R' ? next[1] : 0;
      const isThere: boolean = isForgotten(next, own) && (next[0] === 'R' || (await this.#retake(own)));
      const missing = isThere ? held.behind(own, batch) : null;
      if (!missing || (next[0] === 'R' && missing.length === 0)) throw rolledBack(batch);
      next = await this.#writeAgain(missing);
    }
  }

  /** Writes batches again, in order. @returns The reply for the first one that Redis did not take */
  async #writeAgain(batches: readonly KeptBatch[]): Promise<ScriptReply | null> {
    for (const batch of batches) {
      const answer = await this.#send(batch.sent);
      if (answer[0] !== 'A' && answer[0] !== 'D') return answer;
      // Redis may forget this one, too.
      batch.at = performance.now();
    }
    return null;
  }

  /** Redis is back, but may be another process, or have lost its last moments. */
  async #mendAll(): Promise<void> {
    const { held, link, keys, lists, expiry } = this.#parts;
    const mend = async (own: HeldLog): Promise<void> => {
      const { log, term, ordinal } = own;
      const { meta } = keys.session(log);
      const fields = ['ep', 'tok', 'wb', 'own'];
      const [epoch, tok, wb, holder] = (await link.send(meta, ['HMGET', meta, ...fields])) as (
        | string
        | null
      )[];
      const isTaken = Number(tok) >= term;
      if (isTaken && (epoch !== log.epoch || Number(tok) !== term)) return;
      const isBehind = !isTaken || Number(wb) < own.written;
      if (isBehind) await this.#mend(own, isTaken ? ['R', Number(wb)] : ['F', epoch ?? '', tok ?? '0']);
      if (own.endedAt !== null && (isBehind || holder !== '')) await release(this.#parts, log, term);
      if (!isBehind) return;
      await expiry.keep(log);
      if (own.endedAt === null) lists.used(log, ordinal, Number(await link.send(meta, ['HGET', meta, 'up'])));
    };
    // A failure here is repeated when the log is written.
    await Promise.all(held.recent().map((own) => mend(own).catch(() => {})));
  }

  async #erase(
    log: LogRef,
    events: readonly EventRecord[],
    options: AppendOptions,
    epoch: string,
  ): Promise<AppendResult> {
    const { link, keys, held, lists, usage } = this.#parts;
    const { closed, sid } = keys.session(log);
    const own = held.get(sid, options.term);
    for (;;) {
      const past = (await link.send(closed, ['HKEYS', closed])) as string[];
      const sent = encodeErase(keys, log, events, options, epoch, past);
      const answer = await this.#write(sent, own);
      // Other logs were dropped meanwhile.
      if (answer[0] === 'X') continue;
      const result = this.#resultOf(log, answer);
      place(events, result.first, options.term);
      usage.forget();
      if (own) {
        held.keep(own, options.batch, sent);
        lists.closed(log, own.ordinal);
        held.end(sid, options.term);
      }
      return result;
    }
  }
}

/** Lets a session go, but only for the holder of that term. */
export async function release(
  { link, keys }: Pick<RedisWriterParts, 'link' | 'keys'>,
  ref: SessionRef,
  term: number,
): Promise<void> {
  const { meta, partition, sid } = keys.session(ref);
  const { unfinished, busy, held } = keys.partition(partition);
  await link.run(RELEASE, [meta, unfinished, busy, held], [String(term), sid]);
}
