import { GatewayError } from '../../shared/errors.js';
import { type GrantRole, grantIn, grantName } from '../../shared/grants.js';
import type { AppSummary } from '../../shared/operation-types.js';
import { settleWithin } from '../async/deadline.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { userOfScope } from '../auth/scope.js';
import type { Person } from '../auth/types.js';
import type { AccessedOperation, Allowance } from '../config/access.js';
import type { FoundGrant } from '../grants/grants.js';
import { assertAllowed } from '../grants/roles.js';
import { View } from '../grants/view.js';
import type { SessionRef } from '../stores/stored.js';
import { type ClientParts, checkBrought } from './client-messages.js';
import type { OperationEnvironment } from './environment.js';
import { assertOverseen, overseenIn, overseenName } from './overseen.js';
import type { Reach } from './reach.js';

type AccessEnvironment = Pick<
  OperationEnvironment,
  | 'apps'
  | 'sessions'
  | 'grants'
  | 'appAccess'
  | 'oversight'
  | 'sessionAccess'
  | 'clientMessages'
  | 'limits'
  | 'report'
>;

const notFound = (): GatewayError => new GatewayError({ code: 'SESSION_NOT_FOUND' });

/** Decides which apps and sessions a caller reaches. Anything but `true` from the host's code refuses. */
export class Access {
  readonly #env: AccessEnvironment;

  constructor(env: AccessEnvironment) {
    this.#env = env;
  }

  /**
   * Finds the session that a key names for a caller: one of its scope, one that is shared with it, or any for whom may read all.
   *
   * @param ownGrant The grant that the operation is about. A user may do it with their own, whatever its role.
   * @throws GatewayError `INVALID_REQUEST`, `APP_NOT_FOUND`, `SESSION_NOT_FOUND`; `ACCESS_DENIED` for more than a grant allows
   */
  session(
    sessionId: string,
    operation: AccessedOperation,
    person: Person,
    ownGrant?: string,
  ): MaybePromise<Reach> {
    const { apps } = this.#env;
    const { app, name } = apps.parse(sessionId);
    const grantId = grantIn(name);
    const ref = { scope: person.scope, app, name };
    return andThen(this.mayUse(app, person), (usable) => {
      if (!usable) throw apps.unknown(app);
      const overseen = overseenIn(app, name);
      if (overseen) return this.#overseen(overseen, operation, person);
      if (grantId !== null) return this.#byGrant(app, grantId, { operation, ownGrant }, person);
      if (person.link) throw notFound();
      return andThen(this.mayReach(ref, operation, person), (allowed) => {
        if (allowed) return { ref, sessionId: apps.format(app, name) };
        throw notFound();
      });
    });
  }

  async #overseen(ref: SessionRef, operation: AccessedOperation, person: Person): Promise<Reach> {
    const found = (await this.mayOversee(person, ref)) && (await this.#env.sessions.get(ref).look());
    if (!found) throw notFound();
    assertOverseen(operation);
    return { ref, sessionId: this.overseenId(ref), overseen: true };
  }

  /** The id by which those who may read all sessions reach one. */
  overseenId(ref: SessionRef): string {
    return this.#env.apps.format(ref.app, overseenName(ref));
  }

  /** Whether a caller may read the sessions of all users, or one of them. */
  mayOversee({ user, link }: Person, ref?: SessionRef): MaybePromise<boolean> {
    const { oversight } = this.#env;
    if (!oversight || link) return false;
    const owner = ref && userOfScope(ref.scope);
    return this.#ask('oversight', () => oversight(user, ref && { ...ref, ...(owner && { owner }) }));
  }

  async #byGrant(
    app: string,
    grantId: string,
    { operation, ownGrant }: { readonly operation: AccessedOperation; readonly ownGrant: string | undefined },
    person: Person,
  ): Promise<Reach> {
    const found = await this.#env.grants.find(grantId);
    const reach = found?.home.app === app ? await this.shared(found, operation, person, ownGrant) : null;
    if (reach) return reach;
    throw notFound();
  }

  /**
   * Finds the session of a grant; null if the grant is another user's, or its conversation is over.
   *
   * @throws GatewayError `ACCESS_DENIED` for an operation that the grant does not allow
   */
  async shared(
    { home, epoch, kept }: FoundGrant,
    operation: AccessedOperation,
    person: Person,
    ownGrant?: string,
  ): Promise<Reach | null> {
    const { grant, userKey } = kept;
    const { grantId, as, hide = [] } = grant;
    const { link: guest } = person;
    if (guest ? guest.grantId !== grantId : userKey !== person.key) return null;
    const log = await this.#env.sessions.get(home).look();
    if (log?.ref.epoch !== epoch || !(await this.mayReach(home, operation, person, { grantId, as })))
      return null;
    if (guest || ownGrant !== grantId) assertAllowed(as, operation);
    const sessionId = this.#env.apps.format(home.app, grantName(grantId));
    return { ref: home, sessionId, via: { grantId, as, hide, epoch, view: new View(hide, as) } };
  }

  /** Whether a caller may use an app. */
  mayUse(app: string, { user }: Person): MaybePromise<boolean> {
    const { appAccess } = this.#env;
    return appAccess ? this.#ask('appAccess', () => appAccess(user, app)) : true;
  }

  /** Whether the host allows an operation of a caller on a session, of its scope or by a grant. */
  mayReach(
    { app, name }: SessionRef,
    operation: AccessedOperation,
    { user }: Person,
    via?: { readonly grantId: string; readonly as: GrantRole },
  ): MaybePromise<boolean> {
    const { sessionAccess, apps } = this.#env;
    if (!sessionAccess) return true;
    const sessionId = apps.format(app, name);
    return this.#ask('sessionAccess', () =>
      sessionAccess(user, { app, name, sessionId, ...(via && { via }) }, operation),
    );
  }

  /** The apps that a caller may use. */
  apps(person: Person): MaybePromise<readonly AppSummary[]> {
    const all = this.#env.apps.summaries();
    if (person.link) return this.#appOf(person.link.grantId, all);
    if (!this.#env.appAccess) return all;
    const answers = Promise.all(all.map(({ name }) => this.mayUse(name, person)));
    return answers.then((usable) => all.filter((_app, i) => usable[i]));
  }

  /** The app of the session that a link reaches. Its tools are not the guest's. */
  async #appOf(grantId: string, all: readonly AppSummary[]): Promise<readonly AppSummary[]> {
    const app = (await this.#env.grants.find(grantId))?.home.app;
    return all.filter(({ name }) => name === app).map((summary) => ({ ...summary, tools: [] }));
  }

  /** Checks the tools, outputs of tools and parameters that a client brings with a message. @throws GatewayError `INVALID_PARAMS` */
  async brought(
    { clientTools = [], parameters = {}, toolOutputs = [] }: ClientParts,
    app: string,
    person: Person,
  ): Promise<void> {
    const { clientMessages } = this.#env;
    const tools = clientTools.map(({ name }) => name);
    if (tools.length > 0)
      checkBrought('clientTools', tools, await this.#allowed('tools', clientMessages.tools, app, person));
    const given = toolOutputs.map(({ name }) => name);
    if (given.length > 0) {
      const allowed = await this.#allowed('toolOutputs', clientMessages.toolOutputs, app, person);
      checkBrought('toolOutputs', given, allowed);
    }
    const names = Object.keys(parameters);
    if (names.length > 0) {
      const allowed = await this.#allowed('parameters', clientMessages.parameters, app, person);
      checkBrought('parameters', names, allowed);
    }
  }

  /** Whether a client may import a whole conversation. */
  mayImport(app: string, { user }: Person): MaybePromise<boolean> {
    const { import: allowed = false } = this.#env.clientMessages;
    return typeof allowed === 'function'
      ? this.#ask('clientMessages.import', () => allowed(user, app))
      : allowed;
  }

  async #allowed(
    what: 'tools' | 'parameters' | 'toolOutputs',
    allowance: Allowance = false,
    app: string,
    { user }: Person,
  ): Promise<boolean | readonly string[]> {
    if (typeof allowance !== 'function') return allowance;
    let names: readonly string[] | undefined;
    const allowed = await this.#ask(`clientMessages.${what}`, async () => {
      const answer = await allowance(user, app);
      if (!Array.isArray(answer)) return answer === true;
      names = answer;
      return true;
    });
    return allowed && (names ?? true);
  }

  #ask(name: string, run: () => MaybePromise<boolean>): MaybePromise<boolean> {
    const refused = (error: unknown): false => {
      this.#env.report(error, `${name} failed`);
      return false;
    };
    try {
      const answer = run();
      if (!isPromise(answer)) return answer === true;
      const late = () => ({
        error: new GatewayError({ code: 'TIMEOUT', message: `${name} did not answer` }),
      });
      return settleWithin(answer, this.#env.limits.guardMs, late).then((value) => value === true, refused);
    } catch (error) {
      return refused(error);
    }
  }
}
