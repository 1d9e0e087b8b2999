import type { PresenceChange, PresenceMember } from '../../shared/presence.js';

/** The shortest time from one telling to the next, in milliseconds: four a second. */
const PACE_MS = 250;

/** Hears who is in a session. */
export type RosterListener = (change: PresenceChange) => void;

/** Who is in one session, at which gateway, and who is told of it. */
export class Roster {
  /** By their ids; `''` are those of this gateway. */
  readonly #members = new Map<string, { readonly member: PresenceMember; readonly holder: string }>();
  readonly #listeners = new Set<RosterListener>();
  readonly #changed = new Set<string>();
  /** Tells the other gateways what of this one has changed. */
  readonly #pass: (change: PresenceChange) => void;
  #timer: NodeJS.Timeout | null = null;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(pass: (change: PresenceChange) => void) {
    this.#pass = pass;
  }

  /** Whether nobody is there, and nobody is told. */
  get idle(): boolean {
    return this.#members.size === 0 && this.#listeners.size === 0 && this.#timer === null;
  }

  get size(): number {
    return this.#members.size;
  }

  has(id: string): boolean {
    return this.#members.has(id);
  }

  /** Those of a gateway. @default all */
  members(holder?: string): readonly PresenceMember[] {
    const all = [...this.#members.values()];
    return all.filter((each) => holder === undefined || each.holder === holder).map(({ member }) => member);
  }

  /** Tells somebody who is there, then what changes. */
  listen(listener: RosterListener): void {
    this.#listeners.add(listener);
    listener({ members: this.members(), whole: true });
  }

  unlisten(listener: RosterListener): void {
    this.#listeners.delete(listener);
  }

  /** Somebody comes, or does something else. What they did last is what counts. */
  put(member: PresenceMember, holder: string): void {
    const before = this.#members.get(member.id);
    if (before && JSON.stringify(before.member) === JSON.stringify(member)) return;
    this.#members.set(member.id, { member, holder });
    this.#note(member.id, holder);
  }

  drop(id: string, holder: string): void {
    if (this.#members.get(id)?.holder !== holder) return;
    this.#members.delete(id);
    this.#note(id, holder);
  }

  /** A gateway says all that it has. */
  replace(members: readonly PresenceMember[], holder: string): void {
    const ids = new Set(members.map(({ id }) => id));
    for (const { id } of this.members(holder)) if (!ids.has(id)) this.drop(id, holder);
    for (const member of members) this.put(member, holder);
  }

  #note(id: string, holder: string): void {
    this.#changed.add(id);
    if (holder === '') this.#own.add(id);
    this.#timer ??= setTimeout(this.#tell, Math.max(0, this.#toldAt + PACE_MS - performance.now())).unref();
  }

  /** Of what has changed, what is for the other gateways. */
  readonly #own = new Set<string>();

  readonly #tell = (): void => {
    this.#timer = null;
    this.#toldAt = performance.now();
    const change = this.#changeOf(this.#changed);
    const own = this.#own.size > 0 ? this.#changeOf(this.#own) : null;
    this.#changed.clear();
    this.#own.clear();
    for (const listener of this.#listeners) listener(change);
    if (own) this.#pass(own);
  };

  #changeOf(ids: ReadonlySet<string>): PresenceChange {
    const members = [...ids].flatMap((id) => this.#members.get(id)?.member ?? []);
    const gone = [...ids].filter((id) => !this.#members.has(id));
    return { members, ...(gone.length > 0 && { gone }) };
  }
}
