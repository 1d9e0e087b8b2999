import { type Errands, errand } from '../../cluster/errands.js';
import type { Report } from '../../diagnostics/log-facts.js';
import { GRANTS, ownerOfUser } from '../../grants/grant-record.js';
import { textOfHome } from '../../stores/records.js';
import type { SessionRef } from '../../stores/stored.js';
import type { CommittedWrite } from '../../stores/watched-store.js';

/** Tells other gateways of a change to a session that the order of lists does not show. */
const CHANGED = errand<Change, null>('inbox-changed');
/** Time between two looks for changes of other gateways, in milliseconds. */
const LOOK_MS = 1000;

/** A change to a session. */
interface Change {
  readonly ref: SessionRef;
  /** Owners of the session's grants that were written. */
  readonly owners: readonly string[];
}

/** A follower of an inbox. */
export interface Follower {
  readonly scope: string;
  readonly userKey: string;
  /** A session of the scope, or one that is shared with the user, may have changed. */
  changed(ref: SessionRef): void;
  /** It is time to look for changes that nobody reported. */
  look(): void;
}

/** Tells the followers of inboxes about writes of this gateway. Tells other gateways only of changes that the store's lists do not show. */
export class InboxChanges {
  readonly #followers = new Map<string, Set<Follower>>();
  /** Followers that see sessions of other scopes, by session. */
  readonly #watching = new Map<string, Set<Follower>>();
  readonly #report: Report;
  #errands: Errands | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(report: Report) {
    this.#report = report;
  }

  /** Receives the changes of other gateways on the store. */
  join(errands: Errands): void {
    this.#errands = errands;
    errands.on(CHANGED, (change) => {
      this.#tell(change);
      return null;
    });
  }

  /** Adds a follower. Returns the function that removes it. */
  follow(follower: Follower): () => void {
    const { scope } = follower;
    const followers = this.#followers.get(scope) ?? new Set();
    this.#followers.set(scope, followers.add(follower));
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(scope) === followers) this.#followers.delete(scope);
      if (this.#followers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Tells a follower of a session of another scope too. Returns the function that ends this. */
  watch(ref: SessionRef, follower: Follower): () => void {
    const name = textOfHome(ref);
    const watching = this.#watching.get(name) ?? new Set();
    this.#watching.set(name, watching.add(follower));
    return () => {
      watching.delete(follower);
      if (watching.size === 0 && this.#watching.get(name) === watching) this.#watching.delete(name);
    };
  }

  #look(): void {
    for (const followers of this.#followers.values()) for (const follower of followers) follower.look();
  }

  #tell({ ref, owners }: Change): void {
    for (const follower of this.#followers.get(ref.scope) ?? []) follower.changed(ref);
    if (this.#watching.size > 0)
      for (const follower of this.#watching.get(textOfHome(ref)) ?? []) follower.changed(ref);
    if (owners.length === 0) return;
    for (const followers of this.#followers.values())
      for (const follower of followers)
        if (owners.includes(ownerOfUser(follower.userKey))) follower.changed(ref);
  }

  /** A session was changed here. @param isListed Whether the store's lists show the change */
  changed({ scope, app, name }: SessionRef, isListed: boolean, owners: readonly string[] = []): void {
    const change: Change = { ref: { scope, app, name }, owners };
    this.#tell(change);
    if (isListed || !this.#errands) return;
    this.#errands
      .askAll(CHANGED, change)
      .catch((error: unknown) => this.#report(error, 'telling other gateways of a change'));
  }

  /** Tells of an append. */
  committed({ home, records, append }: CommittedWrite): void {
    if (!append || (this.#followers.size === 0 && !this.#errands)) return;
    const { about, close, erase } = append;
    const grants = records.filter(({ kind }) => kind === GRANTS.name);
    const isOther = close || erase !== undefined || grants.length > 0;
    if (!about && !isOther) return;
    const owners = grants.flatMap(({ owner }) => owner ?? []);
    this.changed(home as SessionRef, about?.usedAt !== undefined && !isOther, owners);
  }
}
