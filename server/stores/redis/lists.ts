import { searched } from '../about.js';
import type { ListFilter, ListPage, ListPlace, PageOptions } from '../listing.js';
import { textOfHome } from '../records.js';
import type { SessionRecord, SessionRef } from '../stored.js';
import { type Keys, memberOf, refOfMember, refOfSid } from './keys.js';
import type { Link } from './link.js';
import { META } from './scripts/hold.js';
import { LIST } from './scripts/look.js';
import { type Fields, recordOf, sessionDataOf } from './session-data.js';

/** The least number of sessions that are read together, since most of them may not match. */
const LOOKED_AT = 50;
/** Digits of the largest ordinal. */
const DIGITS = 16;

interface Listed {
  readonly record: SessionRecord;
  readonly place: ListPlace;
}

/** A member of a list. Its ordinal distinguishes sessions that were used at the same time, and a session from a closed one of the same name. */
const listedAs = (name: string, ordinal: string): string => `${ordinal.padStart(DIGITS, '0')}\n${name}`;

/**
 * Open sessions of scopes, and of all, by their last use. A list is in another partition of a cluster than its sessions and is updated after them.
 * Readers detect a wrong entry when they read the session.
 */
export class Lists {
  readonly #link: Link;
  readonly #keys: Keys;
  readonly #under = new Set<Promise<unknown>>();

  constructor(link: Link, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** A session was begun, taken or used. Later reads of this process see it. */
  used(ref: SessionRef, ordinal: string, at: number): void {
    for (const [key, member] of this.#entries(ref, ordinal))
      this.#send(key, ['ZADD', key, 'GT', String(at), member]);
  }

  closed(ref: SessionRef, ordinal: string): void {
    for (const [key, member] of this.#entries(ref, ordinal)) this.#send(key, ['ZREM', key, member]);
  }

  #entries(ref: SessionRef, ordinal: string): readonly (readonly [key: string, member: string])[] {
    return [
      [this.#keys.list(ref.scope), listedAs(memberOf(ref), ordinal)],
      [this.#keys.list(null), listedAs(textOfHome(ref), ordinal)],
    ];
  }

  #send(key: string, command: readonly string[]): void {
    const sent = this.#link.send(key, command).catch(() => {});
    this.#under.add(sent);
    void sent.then(() => this.#under.delete(sent));
  }

  /** Resolves when Redis has all earlier updates. */
  async settled(): Promise<void> {
    await Promise.all(this.#under);
  }

  async count(scope: string): Promise<number> {
    const key = this.#keys.list(scope);
    return Number(await this.#link.send(key, ['ZCARD', key]));
  }

  async list(
    scope: string | null,
    { limit, before }: PageOptions,
    filter: ListFilter = {},
  ): Promise<ListPage> {
    const key = this.#keys.list(scope);
    const count = Math.max(limit + 1, LOOKED_AT);
    const listed: Listed[] = [];
    let from: ListPlace = before ?? { updatedAt: Number.MAX_SAFE_INTEGER, ordinal: 0 };
    while (listed.length <= limit) {
      const before = String(from.ordinal).padStart(DIGITS, '0');
      const call = LIST.call({ list: key }, { time: from.updatedAt, before, count });
      const page = (await this.#link.run(call)) as string[];
      if (page.length === 0) break;
      const members = page.filter((_, i) => i % 2 === 0);
      const found = await Promise.all(
        members.map((member, i) => this.#look(scope, member, Number(page[2 * i + 1]))),
      );
      for (const one of found) if (one && isListed(one.record, filter)) listed.push(one);
      from = { updatedAt: Number(page.at(-1)), ordinal: Number(members.at(-1)!.split('\n', 1)[0]) };
    }
    const shown = listed.slice(0, limit);
    return {
      records: shown.map(({ record }) => record),
      next: listed.length > limit ? (shown.at(-1)?.place ?? null) : null,
    };
  }

  async #look(scope: string | null, member: string, updatedAt: number): Promise<Listed | null> {
    const name = member.slice(DIGITS + 1);
    const ref = scope === null ? refOfSid(name) : refOfMember(scope, name);
    const ordinal = Number(member.split('\n', 1)[0]);
    const { meta } = this.#keys.session(ref);
    const data = sessionDataOf((await this.#link.send(meta, ['HMGET', meta, ...META])) as Fields);
    const record = data && recordOf(ref, data);
    if (record && !record.closed && Number(data.od) === ordinal) {
      if (record.updatedAt > updatedAt) this.used(ref, data.od!, record.updatedAt);
      return { record, place: { updatedAt, ordinal } };
    }
    this.closed(ref, String(ordinal));
    return null;
  }
}

function isListed(record: SessionRecord, { archived = false, status, failed, query }: ListFilter): boolean {
  return (
    (record.archived ?? false) === archived &&
    (status === undefined || record.activity.status === status) &&
    (!failed || record.failed === true) &&
    (query === undefined || searched(record.title ?? '').includes(searched(query)))
  );
}
