import { asUnavailable } from '../log/unavailable.js';
import type { RecordHome, StoredRecord } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import {
  GRANT,
  GRANT_ADDRESS,
  hashOf,
  type KeptGrant,
  keptGrant,
  ownerOfLink,
  ownerOfUser,
} from './grant-record.js';

/** A valid grant with its session. */
export interface FoundGrant {
  readonly home: SessionRef;
  readonly kept: KeptGrant;
}

/** A page of grants. */
export interface GrantPage {
  readonly grants: readonly FoundGrant[];
  /** The last grant of the page; null if there are no more. */
  readonly next: FoundGrant | null;
}

const isSession = (home: RecordHome): home is SessionRef => home.app !== undefined;

/** Finds grants in the store. The session decides whether the grant's conversation is still open. */
export class Grants {
  readonly #store: Pick<Store, 'records' | 'shared'>;

  constructor(store: Pick<Store, 'records' | 'shared'>) {
    this.#store = store;
  }

  /** A grant by its id; null if there is none, or it is over. @throws GatewayError `OVERLOADED` */
  async find(grantId: string): Promise<FoundGrant | null> {
    return this.#good(await this.place(grantId));
  }

  /** A grant by its id, even if it is over and not dropped yet. @throws GatewayError `OVERLOADED` */
  async place(grantId: string): Promise<FoundGrant | null> {
    return this.#first({ owner: grantId, kind: GRANT_ADDRESS });
  }

  /** The grant of a link, by its token. @throws GatewayError `OVERLOADED` */
  async ofLink(token: string): Promise<FoundGrant | null> {
    return this.#good(await this.#first({ owner: ownerOfLink(hashOf(token)), kind: GRANT }));
  }

  /** A page of the grants of a user, in the store's order. @param after The last grant of the previous page */
  async ofUser(userKey: string, limit: number, after: FoundGrant | null): Promise<GrantPage> {
    const place = after && { after: { home: after.home, id: after.kept.grant.grantId } };
    const records = await asUnavailable(() =>
      this.#store.records({ owner: ownerOfUser(userKey), kind: GRANT, limit: limit + 1, ...place }),
    );
    const found = records.map(foundIn).filter((grant) => grant !== null);
    const page = found.slice(0, limit);
    return { grants: page.filter((grant) => this.#isGood(grant)), next: found[limit] ? page.at(-1)! : null };
  }

  /** The grants that a user has of one session. @throws GatewayError `OVERLOADED` */
  async ofUserIn(home: SessionRef, userKey: string): Promise<readonly FoundGrant[]> {
    return (await this.in(home)).filter((grant) => grant.kept.userKey === userKey);
  }

  /** The grants of one session. @throws GatewayError `OVERLOADED` */
  async in(home: SessionRef): Promise<readonly FoundGrant[]> {
    const records = await asUnavailable(() => this.#store.records({ home, kind: GRANT, limit: 10_000 }));
    const found = records.map(foundIn).filter((grant) => grant !== null);
    return found.filter((grant) => this.#isGood(grant));
  }

  async #first(named: { readonly owner: string; readonly kind: string }): Promise<FoundGrant | null> {
    const [record] = await asUnavailable(() => this.#store.records({ ...named, limit: 1 }));
    return record ? foundIn(record) : null;
  }

  #good(grant: FoundGrant | null): FoundGrant | null {
    return grant && this.#isGood(grant) ? grant : null;
  }

  #isGood({ kept: { grant } }: FoundGrant): boolean {
    return grant.expiresAt === undefined || grant.expiresAt > storeTime(this.#store);
  }
}

function foundIn(record: StoredRecord): FoundGrant | null {
  return isSession(record.home) ? { home: record.home, kept: keptGrant(record) } : null;
}
