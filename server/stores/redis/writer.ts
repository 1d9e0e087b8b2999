import {
  type AppendOptions,
  type AppendResult,
  type EventRecord,
  type LogRef,
  type SessionRef,
  StoreError,
} from '../store.js';
import { encodeAppend, encodeErase, type SentBatch } from './appending.js';
import type { Expiry } from './expiry.js';
import type { HeldLog, HeldLogs } from './held-logs.js';
import { type Keys, memberOf } from './keys.js';
import type { Link } from './link.js';
import type { Lists } from './lists.js';
import { RELEASE } from './scripts/hold.js';
import { runOf } from './session-data.js';
import type { Usage } from './usage.js';

interface Parts {
  readonly link: Link;
  readonly keys: Keys;
  readonly held: HeldLogs;
  readonly lists: Lists;
  readonly usage: Usage;
  readonly expiry: Expiry;
}

/** What the scripts of appends answer. */
type Answer =
  | readonly ['A' | 'D', first: number, last: number, runs?: readonly string[]]
  | readonly ['K', head: number, runId: string, open: string, ended: string]
  | readonly ['O', head: number]
  | readonly ['R', batch: number]
  | readonly ['F', epoch: string, term: string]
  | readonly ['X'];

const rolledBack = (batch: number): StoreError =>
  new StoreError('ROLLED_BACK', `Redis has forgotten what came after batch ${batch}`);

/** Appends batches, and writes again what Redis has forgotten of the last ones. */
export class Writer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.link.onResumed(() => void this.#mendAll());
  }

  async append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    const { keys, held, usage } = this.#parts;
    if (options.erase !== undefined) return this.#erase(log, events, options, options.erase);
    const { sid } = keys.session(log);
    const own = held.get(sid, options.term);
    const sent = encodeAppend(keys, log, events, options);
    const answer =
      sent.runId === undefined
        ? await this.#write(sent, own)
        : (await Promise.all([this.#write(sent, own), this.#indexRun(log, sent.runId)]))[0];
    const result = this.#resultOf(log, answer);
    if (answer[0] === 'K' || answer[0] === 'O') {
      if (sent.runId !== undefined && sent.runId !== answer[2])
        await this.#parts.expiry.forgetRuns(log.scope, [sent.runId]);
      return result;
    }
    place(events, result.first, options.term);
    if (answer[0] === 'A') usage.grow(log.scope, sent.size);
    if (own) {
      if (answer[0] === 'A') held.keep(own, options.batch, sent);
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

  async #write(sent: SentBatch, own: HeldLog | undefined): Promise<Answer> {
    const answer = await this.#send(sent);
    if (!own || (answer[0] !== 'R' && answer[0] !== 'F')) return answer;
    const batch = answer[0] === 'R' ? answer[1] : 0;
    // A lower term than that of the writer can only be one before it: Redis has forgotten that it was taken.
    if (answer[0] === 'F' && Number(answer[2]) >= own.term) return answer;
    const isMended = (answer[0] === 'R' || (await this.#retake(own))) && (await this.#mend(own, batch));
    if (!isMended) throw rolledBack(batch);
    return this.#send(sent);
  }

  async #send({ script, keys, args }: SentBatch): Promise<Answer> {
    return (await this.#parts.link.run(script, keys, args, { writes: true })) as Answer;
  }

  #resultOf({ epoch }: LogRef, answer: Answer): AppendResult {
    if (answer[0] === 'A' || answer[0] === 'D') return { epoch, first: answer[1], last: answer[2] };
    if (answer[0] === 'R') throw rolledBack(answer[1]);
    if (answer[0] === 'O') return { epoch, first: answer[1] + 1, last: answer[1], repeated: true };
    if (answer[0] !== 'K') throw new StoreError('FENCED', 'Another writer holds this session');
    const [, head, runId, open, ended] = answer;
    return { epoch, first: head + 1, last: head, duplicate: runOf(runId, open, ended)! };
  }

  /** Takes a log again as it was taken, under the same term. Whether Redis stands where it stood then. */
  async #retake(own: HeldLog): Promise<boolean> {
    return this.#parts.held.canRetake(own) && (await own.taking.again());
  }

  /** Writes again what follows a batch. Whether all of it was known. */
  async #mend(own: HeldLog, batch: number): Promise<boolean> {
    const missing = this.#parts.held.behind(own, batch);
    if (!missing) return false;
    for (const sent of missing) {
      const [[letter]] = await Promise.all([this.#send(sent), this.#indexRun(own.log, sent.runId)]);
      if (letter !== 'A' && letter !== 'D') return false;
    }
    return true;
  }

  /** Redis is there again, and may be another one, or have lost its last moments. */
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
      const isForgotten = Number(tok) < term;
      if (!isForgotten && (epoch !== log.epoch || Number(tok) !== term)) return;
      const isBehind = isForgotten || Number(wb) < own.written;
      if (isForgotten && !(await this.#retake(own))) return;
      if (isBehind && !(await this.#mend(own, isForgotten ? 0 : Number(wb)))) return;
      if (own.endedAt !== null && (isBehind || holder !== '')) await release(this.#parts, log, term);
      if (!isBehind) return;
      await expiry.keep(log);
      if (own.endedAt === null) lists.used(log, ordinal, Number(await link.send(meta, ['HGET', meta, 'up'])));
    };
    // What fails here fails again when the log is written.
    await Promise.all(held.recent().map((own) => mend(own).catch(() => {})));
  }

  /** Notes to which session a run belongs, in another part of a cluster. */
  async #indexRun(log: LogRef, runId: string | undefined): Promise<void> {
    if (runId === undefined) return;
    const key = this.#parts.keys.run(log.scope, runId);
    await this.#parts.link.send(key, ['SET', key, memberOf(log)], { writes: true });
  }

  async #erase(
    log: LogRef,
    events: readonly EventRecord[],
    options: AppendOptions,
    epoch: string,
  ): Promise<AppendResult> {
    const { link, keys, held, lists, usage, expiry } = this.#parts;
    const { closed, sid } = keys.session(log);
    const own = held.get(sid, options.term);
    for (;;) {
      const past = (await link.send(closed, ['HKEYS', closed])) as string[];
      const sent = encodeErase(keys, log, events, options, epoch, past);
      const answer = await this.#write(sent, own);
      // Others were dropped meanwhile.
      if (answer[0] === 'X') continue;
      const result = this.#resultOf(log, answer);
      place(events, result.first, options.term);
      if (answer[0] === 'A') await expiry.forgetRuns(log.scope, answer[3] ?? []);
      usage.forget();
      if (own) {
        if (answer[0] === 'A') held.keep(own, options.batch, sent);
        lists.closed(log, own.ordinal);
        held.end(sid, options.term);
      }
      return result;
    }
  }
}

/** Fills in where events were written. */
function place(events: readonly EventRecord[], first: number, term: number): void {
  let seq = first;
  for (const event of events) Object.assign(event, { seq: seq++, term });
}

/** Lets a session go, by the holder of that term alone. */
export async function release(
  { link, keys }: Pick<Parts, 'link' | 'keys'>,
  ref: SessionRef,
  term: number,
): Promise<void> {
  const { meta, partition, sid } = keys.session(ref);
  const { unfinished, busy } = keys.partition(partition);
  await link.run(RELEASE, [meta, unfinished, busy], [String(term), sid]);
}
