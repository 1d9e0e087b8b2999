import type { PresenceChange, PresenceMember } from '../../../shared/presence/contract.js';

/** Shortest time between two messages to a listener, in milliseconds. */
const PACE_MS = 250;

/** Receives changes of the members of a session. */
export type RosterListener = (change: PresenceChange) => void;

/** The members of one session, with their gateways, and its listeners. */
export class Roster {
  /** Members by id. The holder `''` is this gateway, which knows of its own who they are. */
  readonly #members = new Map<
    string,
    { readonly member: PresenceMember; readonly holder: string; readonly key: string | undefined }
  >();
  readonly #listeners = new Set<RosterListener>();
  readonly #changed = new Set<string>();
  /** Tells the other gateways of changes here. */
  readonly #pass: (change: PresenceChange) => void;
  #timer: NodeJS.Timeout | null = null;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(pass: (change: PresenceChange) => void) {
    this.#pass = pass;
  }

  /** Whether there is neither a member nor a listener. */
  get idle(): boolean {
    return this.#members.size === 0 && this.#listeners.size === 0 && this.#timer === null;
  }

  get size(): number {
    return this.#members.size;
  }

  /** Places of a person at this gateway. */
  count(key: string): number {
    return [...this.#members.values()].filter((each) => each.key === key).length;
  }

  has(id: string): boolean {
    return this.#members.has(id);
  }

  /** The members at a gateway. @default all */
  members(holder?: string): readonly PresenceMember[] {
    const all = [...this.#members.values()];
    return all.filter((each) => holder === undefined || each.holder === holder).map(({ member }) => member);
  }

  /** Adds a listener, and tells it the members and later changes. */
  listen(listener: RosterListener): void {
    this.#listeners.add(listener);
    listener({ members: this.members(), whole: true });
  }

  unlisten(listener: RosterListener): void {
    this.#listeners.delete(listener);
  }

  /** Adds a member, or replaces it by its latest state. */
  put(member: PresenceMember, holder: string, key?: string): void {
    const before = this.#members.get(member.id);
    if (before && JSON.stringify(before.member) === JSON.stringify(member)) return;
    this.#members.set(member.id, { member, holder, key });
    this.#note(member.id, holder);
  }

  drop(id: string, holder: string): void {
    if (this.#members.get(id)?.holder !== holder) return;
    this.#members.delete(id);
    this.#note(id, holder);
  }

  /** Replaces all members at a gateway. */
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

  /** Ids of changed members that the other gateways must be told of. */
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
