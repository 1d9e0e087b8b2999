import { randomBytes } from 'node:crypto';
import { fieldError, GatewayError } from '../../shared/errors.js';
import { type Grant, grantName, isAtLeast } from '../../shared/grants.js';
import type { ParamsOf, ResultOf, SessionSummary } from '../../shared/operation-types.js';
import { userScope } from '../auth/scope.js';
import type { ShareLinks } from '../config/access.js';
import { hashOf, type KeptGrant } from '../grants/grant-record.js';
import { LINK } from '../grants/guests.js';
import { grantsOf } from '../held/granting.js';
import { newGrantId } from '../ids.js';
import { asUnavailable } from '../log/unavailable.js';
import { storeTime } from '../stores/skew.js';
import type { SessionRecord } from '../stores/stored.js';
import type { Caller } from './caller.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';
import { byGrant, type Reach } from './reach.js';

/** The host's rules for sharing. */
export interface SharingRules {
  /** Null if sessions cannot be shared by link. */
  readonly links: ShareLinks | null;
  /** Whether the gateway tells users apart. Otherwise a grant cannot name one. */
  readonly named: boolean;
  /** Value of `limits.grantsPerSession`. */
  readonly most: number;
}

/** The operations on grants. */
export class GrantOperations {
  readonly #env: OperationEnvironment;
  readonly #parts: OperationParts;

  constructor(env: OperationEnvironment, parts: OperationParts) {
    this.#env = env;
    this.#parts = parts;
  }

  /** @throws GatewayError `INVALID_PARAMS` naming the field, `QUOTA_EXCEEDED`, and the errors of authorization */
  async share(params: ParamsOf<'share'>, caller: Caller): Promise<ResultOf<'share'>> {
    const { sessionId, as, hide, expiresInMs } = params;
    assertOpen(this.#env);
    const { quotas, sessions, store, sharing } = this.#env;
    quotas.sends.take(caller.identity);
    const reach = await this.#parts.authorize(sessionId, 'share', caller);
    this.#check(params, reach);
    const userId = 'userId' in params.with ? params.with.userId : undefined;
    const token = userId === undefined ? `${LINK}${randomBytes(32).toString('base64url')}` : undefined;
    const whom = this.#whom(userId, token, caller);
    const { guest } = caller.identity;
    await this.#parts.room.check(reach.ref);
    const at = storeTime(store);
    const given = await sessions.perform(reach.ref, {
      type: 'share',
      most: sharing.most,
      ...byGrant(reach),
      kept: {
        ...whom,
        ...(guest && { givenBy: guest.givenBy }),
        grant: {
          grantId: newGrantId(),
          as,
          with: userId === undefined ? { link: true } : { userId },
          ...(hide && hide.length > 0 && { hide: [...new Set(hide)] }),
          by: caller.identity.user.id,
          at,
          ...(expiresInMs !== undefined && { expiresAt: Math.ceil(at + expiresInMs) }),
        },
      },
    });
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

  #whom(
    userId: string | undefined,
    token: string | undefined,
    { identity }: Caller,
  ): Pick<KeptGrant, 'userKey' | 'hash'> {
    if (userId === undefined) return { hash: hashOf(token!) };
    if (!this.#env.sharing.named)
      throw fieldError('with.userId', 'this gateway does not tell users apart (auth)');
    if (identity.guest) throw fieldError('with.userId', 'a guest may not name users');
    const userKey = userScope({ ...identity.user, id: userId });
    if (userKey === identity.userKey) throw fieldError('with.userId', 'must be another user than yourself');
    return { userKey };
  }

  #addressed(grant: Omit<Grant, 'sessionId'>, { ref }: Reach): Grant {
    return { sessionId: this.#env.apps.format(ref.app, grantName(grant.grantId)), ...grant };
  }

  async unshare({ sessionId, grantId }: ParamsOf<'unshare'>, caller: Caller): Promise<ResultOf<'unshare'>> {
    assertOpen(this.#env);
    this.#env.quotas.sends.take(caller.identity);
    const reach = await this.#parts.authorize(sessionId, 'unshare', caller);
    const by = caller.identity.user.id;
    const unshared = { type: 'unshare', grantId, by, reason: 'revoked', ...byGrant(reach) } as const;
    // End streams by the grant here before the caller has its result, since another gateway may hold the session.
    if (await this.#env.sessions.perform(reach.ref, unshared)) this.#env.presence.endGrant(grantId);
    return { ok: true };
  }

  /** @throws GatewayError `SESSION_NOT_FOUND` */
  async grants({ sessionId }: ParamsOf<'grants'>, caller: Caller): Promise<ResultOf<'grants'>> {
    const reach = await this.#parts.authorize(sessionId, 'grants', caller);
    const { log } = await this.#env.sessions.existing(reach.ref);
    const kept = await grantsOf(this.#env.store, reach.ref, log!.ref.epoch);
    const now = storeTime(this.#env.store);
    const good = kept.filter(({ grant: { expiresAt = Number.POSITIVE_INFINITY } }) => expiresAt > now);
    return { grants: good.map(({ grant }) => this.#addressed(grant, reach)) };
  }

  /** A page of the sessions that are shared with a caller. @throws GatewayError `INVALID_PARAMS` */
  async sharedWith(
    { limit = 50, before, archived = false, status, query }: ParamsOf<'sessions'>,
    { identity }: Caller,
    summaryOf: (record: SessionRecord) => SessionSummary,
  ): Promise<ResultOf<'sessions'>> {
    const { grants, store } = this.#env;
    const { access } = this.#parts;
    const after = before === undefined ? null : await grants.place(before);
    if (before !== undefined && after?.kept.userKey !== identity.userKey)
      throw fieldError('before', 'must be a cursor of this list');
    const { guest } = identity;
    const ofGuest = guest && (await grants.find(guest.grantId));
    const page = guest
      ? { grants: ofGuest ? [ofGuest] : [], next: null }
      : await grants.ofUser(identity.userKey, limit, after);
    const sessions: SessionSummary[] = [];
    for (const found of page.grants) {
      if (!this.#env.apps.has(found.home.app) || !(await access.mayUse(found.home.app, identity))) continue;
      const reach = await access.shared(found, 'sessions', identity);
      const record = reach && (await asUnavailable(() => store.record(found.home)));
      if (!record) continue;
      const { grantId, as, by } = found.kept.grant;
      const { forkedFrom: _, metadata, ...summary } = summaryOf(record);
      const isWanted =
        summary.archived === archived &&
        (status === undefined || summary.status === status) &&
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
