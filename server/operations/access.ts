import { GatewayError } from '../../shared/errors.js';
import type { AppSummary } from '../../shared/operation-types.js';
import { settleWithin } from '../async/deadline.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { Identity } from '../auth/types.js';
import type { AccessedOperation, Allowance } from '../config/access.js';
import type { SessionRef } from '../stores/store.js';
import { type Brought, checkBrought } from './client-messages.js';
import type { OperationEnvironment } from './environment.js';

type AccessEnvironment = Pick<
  OperationEnvironment,
  'apps' | 'appAccess' | 'sessionAccess' | 'clientMessages' | 'guardMs' | 'report'
>;

/** Decides which apps and sessions a caller reaches. Whatever the host's code does other than saying yes refuses. */
export class Access {
  readonly #env: AccessEnvironment;

  constructor(env: AccessEnvironment) {
    this.#env = env;
  }

  /** The place a key names for a caller. @throws GatewayError `INVALID_REQUEST`, `APP_NOT_FOUND`, `SESSION_NOT_FOUND` */
  session(sessionId: string, operation: AccessedOperation, identity: Identity): MaybePromise<SessionRef> {
    const { apps } = this.#env;
    const { app, name } = apps.parse(sessionId);
    const ref = { scope: identity.scope, app, name };
    return andThen(this.mayUse(app, identity), (usable) => {
      if (!usable) throw apps.unknown(app);
      return andThen(this.mayReach(ref, operation, identity), (allowed) => {
        if (allowed) return ref;
        throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
      });
    });
  }

  /** Whether a caller may use an app. */
  mayUse(app: string, { user }: Identity): MaybePromise<boolean> {
    const { appAccess } = this.#env;
    return appAccess ? this.#ask('appAccess', () => appAccess(user, app)) : true;
  }

  /** Whether a caller may do something with a session of its scope. */
  mayReach(
    { app, name }: SessionRef,
    operation: AccessedOperation,
    { user }: Identity,
  ): MaybePromise<boolean> {
    const { sessionAccess, apps } = this.#env;
    if (!sessionAccess) return true;
    const sessionId = apps.format(app, name);
    return this.#ask('sessionAccess', () => sessionAccess(user, { app, name, sessionId }, operation));
  }

  /** The apps that a caller may use. */
  apps(identity: Identity): MaybePromise<readonly AppSummary[]> {
    const all = this.#env.apps.summaries();
    if (!this.#env.appAccess) return all;
    const answers = Promise.all(all.map(({ name }) => this.mayUse(name, identity)));
    return answers.then((usable) => all.filter((_app, i) => usable[i]));
  }

  /** @throws GatewayError `INVALID_PARAMS` for tools and parameters that a client may not bring with a message */
  async brought(
    { clientTools = [], parameters = {} }: Brought,
    app: string,
    identity: Identity,
  ): Promise<void> {
    const { clientMessages } = this.#env;
    const tools = clientTools.map(({ name }) => name);
    if (tools.length > 0)
      checkBrought('clientTools', tools, await this.#allowed('tools', clientMessages.tools, app, identity));
    const names = Object.keys(parameters);
    if (names.length > 0) {
      const allowed = await this.#allowed('parameters', clientMessages.parameters, app, identity);
      checkBrought('parameters', names, allowed);
    }
  }

  /** Whether a client may bring a whole conversation of elsewhere. */
  mayImport(app: string, { user }: Identity): MaybePromise<boolean> {
    const { import: allowed = false } = this.#env.clientMessages;
    return typeof allowed === 'function'
      ? this.#ask('clientMessages.import', () => allowed(user, app))
      : allowed;
  }

  async #allowed(
    what: 'tools' | 'parameters',
    allowance: Allowance = false,
    app: string,
    { user }: Identity,
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
      return settleWithin(answer, this.#env.guardMs, late).then((value) => value === true, refused);
    } catch (error) {
      return refused(error);
    }
  }
}
