import type {
  Checkpoint,
  LeftRun,
  LogHead,
  LogRef,
  RunName,
  RunRecord,
  SessionRecord,
  SessionRef,
  StoredEvent,
} from '../stored.js';
import { decodeBatch } from './events.js';
import { type Keys, PARTITIONS, refOfSid } from './keys.js';
import type { Link } from './link.js';
import type { RedisMembers } from './membership.js';
import { META } from './scripts/hold.js';
import { READ, RUN } from './scripts/look.js';
import {
  closedHeadOf,
  epochsInOrder,
  type Fields,
  headOf,
  leftRunsOf,
  recordOf,
  runOf,
  type SessionData,
  sessionDataOf,
} from './session-data.js';

/** The most that is read at once of batches that are rewritten: entries, and characters. */
const ENTRIES = 1000;
const BYTES = 1 << 20;

/** Reads sessions and their logs, and holds none. */
export class RedisReader {
  readonly #link: Link;
  readonly #keys: Keys;
  readonly #members: RedisMembers;

  constructor(link: Link, keys: Keys, members: RedisMembers) {
    this.#link = link;
    this.#keys = keys;
    this.#members = members;
  }

  async read(log: LogRef, after: number, limit: number, bytes: number): Promise<readonly StoredEvent[]> {
    const { first, batches } = await this.#page(log, { after, limit, bytes });
    const from = Math.max(after + 1, first);
    const events: StoredEvent[] = [];
    let size = 0;
    for (const event of batches.flat()) {
      if (event.seq < from) continue;
      if (events.length >= limit || size >= bytes) return events;
      events.push(event);
      size += event.body.length;
    }
    return events;
  }

  /** Batches behind a place, whole, up to another place. */
  async batches(log: LogRef, after: number, upTo: number): Promise<readonly (readonly StoredEvent[])[]> {
    const all: (readonly StoredEvent[])[] = [];
    for (let place = after; place < upTo; place = all.at(-1)!.at(-1)!.seq) {
      const { batches } = await this.#page(log, { after: place, limit: ENTRIES, bytes: BYTES });
      if (batches.length === 0) break;
      all.push(...batches);
    }
    return all;
  }

  /** The lowest place that is kept, and whole batches behind a place. */
  async #page(
    log: LogRef,
    bounds: { readonly after: number; readonly limit: number; readonly bytes: number },
  ): Promise<{ readonly first: number; readonly batches: readonly (readonly StoredEvent[])[] }> {
    const session = this.#keys.session(log);
    const { meta, closed } = session;
    const { events: stream } = this.#keys.log(session, log.epoch);
    const call = READ.call({ meta, closed, events: stream }, { epoch: log.epoch, ...bounds });
    const [first, ...entries] = (await this.#link.run(call)) as string[];
    const batches: (readonly StoredEvent[])[] = [];
    for (let i = 0; i < entries.length; i += 3) {
      const [last, field, text] = entries.slice(i, i + 3) as [string, string, string];
      batches.push(decodeBatch(text, Number(field.slice(0, field.indexOf(':'))), Number(last)));
    }
    return { first: Number(first), batches };
  }

  async data(ref: SessionRef): Promise<SessionData | null> {
    const { meta } = this.#keys.session(ref);
    return sessionDataOf((await this.#link.send(meta, ['HMGET', meta, ...META])) as Fields);
  }

  async head(ref: SessionRef, epoch?: string): Promise<LogHead | null> {
    const data = await this.data(ref);
    if (!data) return null;
    if (epoch === undefined || epoch === data.ep) return headOf(data);
    const { closed } = this.#keys.session(ref);
    const old = (await this.#link.send(closed, ['HGET', closed, epoch])) as string | null;
    return old === null ? null : closedHeadOf(old);
  }

  async conversations(ref: SessionRef): Promise<readonly string[]> {
    const { closed } = this.#keys.session(ref);
    const link = this.#link;
    const [old, data] = await Promise.all([link.send(closed, ['HVALS', closed]), this.data(ref)]);
    const epochs = epochsInOrder(old as string[]);
    return data ? [...epochs, data.ep!] : epochs;
  }

  async run(ref: SessionRef, name: RunName): Promise<RunRecord | null> {
    const asked =
      'key' in name ? { by: 'key', name: JSON.stringify(name.key) } : { by: 'id', name: name.runId };
    const call = RUN.call(this.#keys.session(ref), asked);
    const [found, row] = (await this.#link.run(call)) as string[];
    return found === undefined ? null : runOf(found, row!);
  }

  async openRuns(ref: SessionRef): Promise<readonly LeftRun[]> {
    const { open, steps } = this.#keys.session(ref);
    const all = [open, steps].map((key) => this.#link.send(key, ['HGETALL', key]) as Promise<string[]>);
    const [runs, kept] = await Promise.all(all);
    return leftRunsOf(runs!, kept!);
  }

  async checkpoint(log: LogRef): Promise<Checkpoint | null> {
    const { checkpoint } = this.#keys.log(this.#keys.session(log), log.epoch);
    const text = (await this.#link.send(checkpoint, ['GET', checkpoint])) as string | null;
    return text === null ? null : (JSON.parse(text) as Checkpoint);
  }

  async record(ref: SessionRef): Promise<SessionRecord | null> {
    const data = await this.data(ref);
    return data && recordOf(ref, data);
  }

  async unfinished(): Promise<readonly (SessionRef & { readonly from: string })[]> {
    const link = this.#link;
    const parts = Array.from({ length: PARTITIONS }, (_, i) => this.#keys.partition(i));
    const holders = await Promise.all(
      parts.map(({ busy }) => link.send(busy, ['HKEYS', busy]) as Promise<string[]>),
    );
    const known = new Set(holders.flat().filter((holder) => holder !== ''));
    const dead = new Set([...(await this.#members.dead(known)), '']);
    const toRead = parts.filter((_, i) => holders[i]!.some((holder) => dead.has(holder)));
    const found = await Promise.all(
      toRead.map(({ unfinished }) => link.send(unfinished, ['HGETALL', unfinished]) as Promise<string[]>),
    );
    return found.flatMap((pairs) =>
      pairs.flatMap((sid, i) => {
        const from = pairs[i + 1];
        return i % 2 === 0 && dead.has(from!) ? [{ ...refOfSid(sid), from: from! }] : [];
      }),
    );
  }
}
