import { randomBytes } from 'node:crypto';
import { fieldError, GatewayError } from '../../shared/errors.js';
import { type Grant, grantName, isAtLeast } from '../../shared/grants.js';
import type { ParamsOf, ResultOf, SessionSummary } from '../../shared/operation-types.js';
import { andThen } from '../async/maybe-promise.js';
import { userScope } from '../auth/scope.js';
import type { ShareLinks } from '../config/access.js';
import { GRANTS, hashOf, type KeptGrant, ownerOfUser } from '../grants/grant-record.js';
import { LINK } from '../grants/guests.js';
import { grantsOf } from '../held/granting.js';
import { newGrantId } from '../ids.js';
import { asUnavailable } from '../log/unavailable.js';
import type { SessionInput } from '../sessions/session-work.js';
import { storeTime } from '../stores/skew.js';
import type { SessionRecord } from '../stores/stored.js';
import type { Access } from './access.js';
import type { Handlers, SessionCall } from './call.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';
import type { Reach } from './reach.js';

/** The host's rules for sharing. */
export interface SharingRules {
  /** Null if sessions cannot be shared by link. */
  readonly links: ShareLinks | null;
  /** Whether the gateway tells users apart. Otherwise a grant cannot name one. */
  readonly named: boolean;
}

/** The operations on grants. */
export class GrantOperations {
  readonly #env: OperationEnvironment;
  readonly #access: Access;

  constructor(env: OperationEnvironment, access: Access) {
    this.#env = env;
    this.#access = access;
  }

  readonly handlers: Handlers<'share' | 'unshare' | 'grants'> = {
    share: (params, call) => this.#share(params, call),

    unshare: ({ grantId }, call) => {
      const { id: by } = call.caller.person.user;
      return andThen(call.perform({ type: 'unshare', grantId, by, reason: 'revoked' }), (ended) => {
        // End streams by the grant here before the caller has its result, since another gateway may hold the session.
        if (ended) this.#env.presence.endGrant(grantId);
        return { ok: true };
      });
    },

    grants: async (_params, { reach }) => {
      const { log } = await this.#env.sessions.existing(reach.ref);
      const kept = await grantsOf(this.#env.store, log!.ref);
      const now = storeTime(this.#env.store);
      const good = kept.filter(({ grant: { expiresAt = Number.POSITIVE_INFINITY } }) => expiresAt > now);
      return { grants: good.map(({ grant }) => this.#addressed(grant, reach)) };
    },
  };

  async #share(params: ParamsOf<'share'>, call: SessionCall): Promise<ResultOf<'share'>> {
    const { as, hide, expiresInMs } = params;
    const { caller, reach } = call;
    const { store, sharing, limits } = this.#env;
    this.#check(params, reach);
    const userId = 'userId' in params.with ? params.with.userId : undefined;
    const token = userId === undefined ? `${LINK}${randomBytes(32).toString('base64url')}` : undefined;
    const whom = this.#whom(userId, token, caller);
    const { link: guest } = caller.person;
    const at = storeTime(store);
    const share: SessionInput & { readonly type: 'share' } = {
      type: 'share',
      most: limits.grantsPerSession,
      kept: {
        ...whom,
        ...(guest && { givenBy: guest.givenBy }),
        grant: {
          grantId: newGrantId(),
          as,
          with: userId === undefined ? { link: true } : { userId },
          ...(hide && hide.length > 0 && { hide: [...new Set(hide)] }),
          by: caller.person.user.id,
          at,
          ...(expiresInMs !== undefined && { expiresAt: Math.ceil(at + expiresInMs) }),
        },
      },
    };
    const given = await this.#within(whom.userKey, reach, async () => call.perform(share));
    const grant = this.#addressed(given, reach);
    if (token === undefined) return { grant };
    const url = sharing.links?.url?.({ token, sessionId: grant.sessionId });
    return { grant, token, ...(url !== undefined && { url }) };
  }

  #check({ as, hide = [], ...params }: ParamsOf<'share'>, { via }: Reach): void {
    if (via && !isAtLeast(via.as, as))
      throw fieldError('as', `must not exceed your own grant, which is ${via.as}`);
    const missing = via?.hide.find((part) => !hide.includes(part));
    if (missing !== undefined) throw fieldError('hide', `your own grant does not show ${missing}`);
    if ('userId' in params.with) return;
    const { links } = this.#env.sharing;
    if (!links) throw fieldError('with.link', 'this gateway has no share links (shareLinks)');
    const { upTo = 'commenter' } = links;
    if (!isAtLeast(upTo, as))
      throw fieldError('as', `a share link may give ${upTo} at most (shareLinks.upTo)`);
  }

  /** Gives a grant to a user. Nobody fills the lists of another. @throws GatewayError `QUOTA_EXCEEDED` naming `limits.sharedPerUser` */
  #within<Result>(
    userKey: string | undefined,
    { ref: { scope } }: Reach,
    give: () => Promise<Result>,
  ): Promise<Result> {
    if (userKey === undefined) return give();
    const { sharedPerUser: most } = this.#env.limits;
    return this.#env.owners.add(
      {
        ...{ kind: GRANTS.name, owner: ownerOfUser(userKey), most, option: 'limits.sharedPerUser' },
        says: `You share ${most} sessions with this user already`,
        counts: ({ home }) => home.scope === scope,
      },
      give,
    );
  }

  #whom(
    userId: string | undefined,
    token: string | undefined,
    { person }: Caller,
  ): Pick<KeptGrant, 'userKey' | 'hash'> {
    if (userId === undefined) return { hash: hashOf(token!) };
    if (!this.#env.sharing.named)
      throw fieldError('with.userId', 'this gateway does not tell users apart (auth)');
    if (person.link) throw fieldError('with.userId', 'a guest may not name users');
    const userKey = userScope({ ...person.user, id: userId });
    if (userKey === person.key) throw fieldError('with.userId', 'must be another user than yourself');
    return { userKey };
  }

  #addressed(grant: Omit<Grant, 'sessionId'>, { ref }: Reach): Grant {
    return { sessionId: this.#env.apps.format(ref.app, grantName(grant.grantId)), ...grant };
  }

  /** A page of the sessions that are shared with a caller. @throws GatewayError `INVALID_PARAMS` */
  async sharedWith(
    { limit = 50, before, archived = false, status, failed = false, query, app }: ParamsOf<'sessions'>,
    { person }: Caller,
    summaryOf: (record: SessionRecord) => SessionSummary,
  ): Promise<ResultOf<'sessions'>> {
    const { grants, store } = this.#env;
    const access = this.#access;
    const after = before === undefined ? null : await grants.place(before);
    if (before !== undefined && after?.kept.userKey !== person.key)
      throw fieldError('before', 'must be a cursor of this list');
    const { link: guest } = person;
    const ofGuest = guest && (await grants.find(guest.grantId));
    const page = guest
      ? { grants: ofGuest ? [ofGuest] : [], next: null }
      : await grants.ofUser(person.key, limit, after);
    const sessions: SessionSummary[] = [];
    for (const found of page.grants) {
      if (!this.#env.apps.has(found.home.app) || !(await access.mayUse(found.home.app, person))) continue;
      const reach = await access.shared(found, 'sessions', person);
      const record = reach && (await asUnavailable(() => store.record(found.home)));
      if (!record) continue;
      const { grantId, as, by } = found.kept.grant;
      const { forkedFrom: _, metadata, ...summary } = summaryOf(record);
      const isWanted =
        summary.archived === archived &&
        (app === undefined || summary.app === app) &&
        (status === undefined || summary.status === status) &&
        (!failed || summary.failed === true) &&
        (query === undefined || summary.title?.toLowerCase().includes(query.toLowerCase()));
      if (!isWanted) continue;
      sessions.push({
        ...summary,
        ...(metadata && !reach.via!.view.hides('metadata') && { metadata }),
        sessionId: reach.sessionId,
        sharedBy: { grantId, as, by },
      });
    }
    return { sessions, cursor: page.next?.kept.grant.grantId ?? null };
  }
}

/** The error `ACCESS_DENIED` for an operation that guests may not use. */
export function guestDenied(what: string): GatewayError {
  return new GatewayError({ code: 'ACCESS_DENIED', message: `A guest of a session may not use ${what}` });
}
