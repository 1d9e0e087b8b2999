import { asUnavailable } from '../log/unavailable.js';
import type { Kind } from '../records/kind.js';
import type { RecordHome, StoredRecord } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import { GRANT_ADDRESSES, GRANTS, hashOf, type KeptGrant, ownerOfLink, ownerOfUser } from './grant-record.js';

/** A valid grant with its session. */
export interface FoundGrant {
  readonly home: SessionRef;
  /** The conversation that is shared. */
  readonly epoch: string;
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
    return this.#first(GRANT_ADDRESSES, grantId);
  }

  /** The grant of a link, by its token. @throws GatewayError `OVERLOADED` */
  async ofLink(token: string): Promise<FoundGrant | null> {
    return this.#good(await this.#first(GRANTS, ownerOfLink(hashOf(token))));
  }

  /** A page of the grants of a user, in the store's order. @param after The last grant of the previous page */
  async ofUser(userKey: string, limit: number, after: FoundGrant | null): Promise<GrantPage> {
    const place = after && { after: { home: after.home, id: after.kept.grant.grantId } };
    const records = await asUnavailable(() =>
      this.#store.records({ owner: ownerOfUser(userKey), kind: GRANTS.name, limit: limit + 1, ...place }),
    );
    const found = records.map((record) => foundIn(GRANTS, record)).filter((grant) => grant !== null);
    const page = found.slice(0, limit);
    return { grants: page.filter((grant) => this.#isGood(grant)), next: found[limit] ? page.at(-1)! : null };
  }

  /** The grants that a user has of one session. @throws GatewayError `OVERLOADED` */
  async ofUserIn(home: SessionRef, userKey: string): Promise<readonly FoundGrant[]> {
    return (await this.in(home)).filter((grant) => grant.kept.userKey === userKey);
  }

  /** The grants of one session. @throws GatewayError `OVERLOADED` */
  async in(home: SessionRef): Promise<readonly FoundGrant[]> {
    const all = await GRANTS.all(this.#store, home);
    return all
      .map(({ epoch, value: kept }) => ({ home, epoch: epoch!, kept }))
      .filter((grant) => this.#isGood(grant));
  }

  async #first(kind: Kind<KeptGrant>, owner: string): Promise<FoundGrant | null> {
    const named = { owner, kind: kind.name, limit: 1 };
    const [record] = await asUnavailable(() => this.#store.records(named));
    return record ? foundIn(kind, record) : null;
  }

  #good(grant: FoundGrant | null): FoundGrant | null {
    return grant && this.#isGood(grant) ? grant : null;
  }

  #isGood({ kept: { grant } }: FoundGrant): boolean {
    return grant.expiresAt === undefined || grant.expiresAt > storeTime(this.#store);
  }
}

function foundIn(kind: Kind<KeptGrant>, record: StoredRecord): FoundGrant | null {
  const { home } = record;
  const kept = isSession(home) ? kind.read(record) : null;
  return kept && { home: home as SessionRef, epoch: kept.epoch!, kept: kept.value };
}
