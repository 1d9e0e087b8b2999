import { GatewayError } from '../../shared/errors.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import type { ParamsOf, ResultOf, SubscribeTarget } from '../../shared/operation-types.js';
import { PROTOCOL_RANGE } from '../../shared/version.js';
import { authExpiry } from '../auth/expiry.js';
import { nameOf } from '../auth/scope.js';
import { errand } from '../cluster/errands.js';
import { type EventConnection, type Followed, MAX_SUBSCRIPTIONS } from '../delivery/connection.js';
import { asUnavailable } from '../log/unavailable.js';
import type { Caller } from './caller.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import { type Follows, joined } from './feature.js';
import type { Authorize } from './operation-parts.js';
import { asReached } from './reach.js';

/** Forwards a change of subscriptions to the gateway that has the connection. */
const SUBSCRIBE = errand<
  { readonly params: ParamsOf<'subscribe'>; readonly person: Caller['person'] },
  ResultOf<'subscribe'>
>('subscribe');

/** Manages the subscriptions of connections. */
export class Subscriptions {
  readonly #env: OperationEnvironment;
  readonly #authorize: Authorize;
  readonly #follows: Follows;

  constructor(env: OperationEnvironment, authorize: Authorize) {
    this.#env = env;
    this.#follows = joined(env.features, 'follows');
    this.#authorize = authorize;
    // The other gateway authenticated the caller and counted the request; authorize again here.
    env.sessions.cluster.errands.on(SUBSCRIBE, ({ params, person }) => this.subscribe(params, person));
  }

  /** Renews the identity of a connection after revalidation. @throws GatewayError when the caller lost access to a followed session */
  async renew(connection: EventConnection, person: Caller['person']): Promise<void> {
    connection.person = person;
    for (const sessionId of connection.sessionIds)
      if (!Object.hasOwn(this.#follows, sessionId)) await this.#authorize(sessionId, 'events', { person });
  }

  /** Sends a new connection its subscriptions, then begins them. @returns the description of each session @throws GatewayError */
  async open(
    connection: EventConnection,
    targets: readonly SubscribeTarget[],
    protocol: number = PROTOCOL_RANGE.max,
  ): Promise<Readonly<Record<string, SubscriptionInfo>>> {
    // Plugins and host code may still follow accepted runs to their end while the gateway drains.
    if (connection.options.client) assertOpen(this.#env);
    const followed = [];
    for (const { sessionId, ...target } of targets) {
      if (connection.options.client) this.#env.quotas.subscribes.take(connection.person);
      followed.push(await this.#follow(connection, sessionId, target, connection.person));
    }
    this.#env.connections.announce(connection);
    const sessions = Object.fromEntries(followed.map(({ id, info }) => [id, info]));
    const { expiresAt, user } = connection.person;
    connection.send('connected', {
      protocol,
      gatewayId: this.#env.gatewayId,
      connectionId: connection.id,
      clientId: connection.id,
      heartbeatMs: connection.options.heartbeatMs,
      ...authExpiry(expiresAt),
      defaultApp: this.#env.apps.defaultApp,
      user: nameOf(user),
      sessions,
    });
    connection.heartbeat();
    for (const { begin } of followed) begin();
    return sessions;
  }

  /**
   * Follows a session, or what a feature has by its name. The client must be sent `info` before `begin` is called.
   *
   * @param person The present caller, whose token decides, not the one that the connection was opened with
   */
  async #follow(
    connection: EventConnection,
    sessionId: string,
    target: Omit<SubscribeTarget, 'sessionId'>,
    person: Caller['person'],
  ): Promise<{ readonly id: string; readonly info: SubscriptionInfo; begin(): void }> {
    if (Object.hasOwn(this.#follows, sessionId)) {
      const stream = (): Followed => this.#follows[sessionId]!(connection);
      return {
        id: sessionId,
        ...(await asUnavailable(() => connection.followAs(sessionId, stream, target))),
      };
    }
    const reach = await this.#authorize(sessionId, 'events', { person });
    const session = this.#env.sessions.get(reach.ref);
    // A session that has not begun can be followed too.
    await session.look();
    const reached = asReached(session, reach);
    const place = await asUnavailable(() => connection.follow(reached, target));
    try {
      // A grant that ended meanwhile has not ended this subscription, so check the grant again.
      if (reach.via) await this.#authorize(sessionId, 'events', { person });
    } catch (error) {
      connection.unfollow(reached.id);
      throw error;
    }
    return { id: reached.id, ...place };
  }

  /** Changes the subscriptions of an open connection, at any gateway. @throws GatewayError */
  async subscribe(params: ParamsOf<'subscribe'>, person: Caller['person']): Promise<ResultOf<'subscribe'>> {
    const { connectionId, sessionId, add = [], remove = [] } = params;
    const { sessions, connections } = this.#env;
    const holder = connections.elsewhere(connectionId);
    if (holder !== null) {
      const done = await sessions.cluster.errands.ask(holder, SUBSCRIBE, { params, person });
      if (!done) throw new GatewayError({ code: 'CONNECTION_NOT_FOUND' });
      return done;
    }
    const connection = connections.get(connectionId);
    const { scope, key: userKey } = person;
    if (
      !connection?.options.client ||
      connection.person.scope !== scope ||
      connection.person.key !== userKey
    ) {
      throw new GatewayError({ code: 'CONNECTION_NOT_FOUND' });
    }
    const targets = [...(sessionId === undefined ? [] : [sessionId]), ...add];
    const canonical = (id: string): string => {
      if (Object.hasOwn(this.#follows, id)) return id;
      const { app, name } = this.#env.apps.parse(id);
      return this.#env.apps.format(app, name);
    };
    const removed = remove.map(canonical);
    const followed = new Set(connection.sessionIds);
    for (const id of removed) followed.delete(id);
    for (const target of targets)
      followed.add(canonical(typeof target === 'string' ? target : target.sessionId));
    if (followed.size > MAX_SUBSCRIPTIONS) {
      throw new GatewayError({
        code: 'QUEUE_FULL',
        message: `A connection follows at most ${MAX_SUBSCRIPTIONS} sessions`,
      });
    }
    for (const id of removed) connection.unfollow(id);
    for (const target of targets) {
      const { sessionId: id, ...start } = typeof target === 'string' ? { sessionId: target } : target;
      this.#env.quotas.subscribes.take(person);
      const { id: sessionId, info, begin } = await this.#follow(connection, id, start, person);
      connection.send('subscribed', { sessionId, ...info });
      begin();
    }
    return { subscriptions: connection.sessionIds };
  }
}
