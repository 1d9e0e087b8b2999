import type { GatewayBudgets } from '../../shared/budgets/options.js';
import { GatewayError } from '../../shared/errors.js';
import type { FeatureOperator } from '../../shared/features.js';
import { encodeLine } from '../../shared/ndjson.js';
import type { HistoryPlace, ParamsOf, ResultOf } from '../../shared/operation-types.js';
import { parseSessionKey } from '../../shared/session-key.js';
import { type Audit, isName } from '../audit/audit.js';
import { erasedName } from '../audit/audit-trail.js';
import type { Authenticator } from '../auth/authenticate.js';
import type { Person } from '../auth/types.js';
import type { Act } from '../diagnostics/audit-entry.js';
import { type DeadWork, deadIdOf, deadWork, deadWorkOf, revive } from '../due/dead.js';
import type { DueWorker } from '../due/due-worker.js';
import { gatewayIdOf } from '../ids.js';
import { asUnavailable } from '../log/unavailable.js';
import { type FeatureParts, joined } from '../operations/feature.js';
import type { Operations } from '../operations/operations.js';
import type { SessionDirectory } from '../sessions/directory.js';
import type { Erased, Eraser } from '../sessions/eraser.js';
import { exportItems } from '../sessions/export.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import { budgetsOf } from './budgets.js';
import type {
  DoneBy,
  EraseOptions,
  ExportOptions,
  HeldOptions,
  HeldSessionInfo,
  ImportOptions,
  ImportSource,
  WholeScope,
} from './data-options.js';
import type { WhoseSessions } from './execute-options.js';
import { type HostIdentityOptions, hostIdentity } from './host-identity.js';
import { importedLines } from './imported-lines.js';
import { hostCaller } from './open-session.js';

/** Held sessions that are looked up at once. */
const HELD_PAGE = 500;

/** The parts of a gateway that its data is reached through. */
interface DataEnvironment {
  readonly config: Omit<HostIdentityOptions, 'authenticator'> & {
    readonly store: Store;
    readonly limits: { readonly importedMessages: number };
  };
  readonly authenticator: Authenticator;
  readonly apps: { readonly defaultApp: string; format(app: string, name: string): string };
  readonly operations: Operations;
  readonly sessions: SessionDirectory;
  readonly eraser: Eraser;
  readonly audit: Audit;
  readonly due: DueWorker;
  readonly features: readonly FeatureParts[];
  /** Opens the store on first use; null once it is open. */
  ready(): Promise<void> | null;
}

/** Operators' access to people's data: of any user, without an access check. */
export class HostData {
  readonly #env: DataEnvironment;

  constructor(env: DataEnvironment) {
    this.#env = env;
  }

  async list(scope: string, params: ParamsOf<'sessions'>): Promise<ResultOf<'sessions'>> {
    await this.#env.ready();
    return this.#env.operations.sessionsIn(scope, params);
  }

  async erase(target: string | WholeScope, { vacuum = true, by, ...whose }: EraseOptions): Promise<Erased> {
    const what =
      typeof target === 'string' ? this.#refOf(target, whose) : { scope: this.#wholeScope(target) };
    await this.#env.ready();
    // The trail is not to name whom nothing else names any more.
    const of = 'name' in what ? this.#named(what) : { scope: erasedName(what.scope) };
    return this.#noted('erase', by, of, () => this.#env.eraser.erase(what, vacuum));
  }

  /** Does an act of the host, and notes its outcome. */
  async #noted<Result>(
    act: string,
    by: string | undefined,
    of: Pick<Act, 'scope' | 'sessionId' | 'about'>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const who = by === undefined ? null : { id: by };
    return this.#env.audit.noted(() => ({ act, door: 'host', by: who, ...of }), work);
  }

  #named(ref: SessionRef): Pick<Act, 'scope' | 'sessionId'> {
    return { scope: ref.scope, sessionId: this.#env.audit.nameOf(ref) };
  }

  async vacuum(): Promise<void> {
    await this.#env.ready();
    await this.#env.eraser.vacuum();
  }

  async *export(key: string, { what = 'messages', by, ...whose }: ExportOptions): AsyncGenerator<string> {
    const ref = this.#refOf(key, whose);
    await this.#env.ready();
    const find = async () => asUnavailable(() => this.#env.sessions.existing(ref));
    const session = await this.#noted('export', by, { ...this.#named(ref), about: { what } }, find);
    for await (const item of exportItems(session, what, { sessionId: session.id })) yield encodeLine(item);
  }

  async *held({ by }: HeldOptions): AsyncGenerator<HeldSessionInfo> {
    await this.#env.ready();
    const { shared } = this.#env.config.store;
    if (!shared) throw refused('This store is not shared, so its one gateway holds every session');
    const { cluster } = this.#env.sessions;
    const living = new Map<string, boolean>();
    for (let after: SessionRef | undefined; ; ) {
      const page = await asUnavailable(() => shared.held({ limit: HELD_PAGE, after }));
      for (const { holder, scope, app, name } of page) {
        if (by !== undefined && by !== holder && by !== gatewayIdOf(holder)) continue;
        if (!living.has(holder)) living.set(holder, await cluster.alive(holder));
        const sessionId = this.#env.apps.format(app, name);
        yield { sessionId, scope, holder, alive: living.get(holder)! };
      }
      if (page.length < HELD_PAGE) return;
      after = page.at(-1);
    }
  }

  /** The operators' access to features. */
  async features(): Promise<FeatureOperator> {
    await this.#env.ready();
    return joined(this.#env.features, 'operator');
  }

  async *dead(): AsyncGenerator<DeadWork> {
    await this.#env.ready();
    for await (const found of deadWork(this.#env.config.store))
      yield deadWorkOf(found, (app, name) => this.#env.apps.format(app, name));
  }

  /** The budgets that are set at run time. */
  get budgets(): GatewayBudgets {
    return budgetsOf(
      () => this.features(),
      (act, by, name, work) => this.#noted(act, by, isName(name) ? { about: { name } } : {}, work),
    );
  }

  resendNotice(id: string): Promise<number> {
    const send = async () => (await this.features()).resendNotice(id);
    return this.#noted('resend-notice', undefined, isName(id) ? { about: { id } } : {}, send);
  }

  async retry(id: string, door = 'host'): Promise<boolean> {
    const act = { act: 'retry', door, by: null, ...(isName(id) && { about: { id } }) };
    return this.#env.audit.noted(
      () => act,
      () => this.#retry(id),
    );
  }

  async #retry(id: string): Promise<boolean> {
    await this.#env.ready();
    const { store } = this.#env.config;
    for await (const found of deadWork(store)) {
      if (deadIdOf(found.record) !== id) continue;
      const isRevived = await asUnavailable(() => revive(store, found));
      this.#env.due.expect(storeTime(store));
      return isRevived;
    }
    return false;
  }

  async import(key: string, source: ImportSource, options: ImportOptions): Promise<HistoryPlace> {
    const { user, anonymous, ...params } = options;
    const caller = hostCaller(this.#person({ ...(user && { user }), ...(anonymous && { anonymous }) }));
    const messages = await importedLines(source, this.#env.config.limits.importedMessages);
    await this.#env.ready();
    const imported = await this.#env.operations.execute(
      'import',
      { ...params, sessionId: key, messages },
      caller,
    );
    return { tip: imported.tip, cursor: imported.cursor };
  }

  async backup(path: string, { by }: DoneBy): Promise<void> {
    await this.#env.ready();
    const { store } = this.#env.config;
    await this.#noted('backup', by, {}, async () => {
      if (!store.backup)
        throw refused(
          'This store cannot make backups: copy its data with its own tools. Data in memory ends with the process',
        );
      await asUnavailable(() => store.backup!(path));
    });
  }

  #person(whose: WhoseSessions): Person {
    const { auth, sessionScope } = this.#env.config;
    return hostIdentity({ authenticator: this.#env.authenticator, auth, sessionScope }, whose);
  }

  /** The place that a key names, even if its app no longer exists. */
  #refOf(key: string, { scope, ...whose }: WhoseSessions): SessionRef {
    const { app, name } = parseSessionKey(key, this.#env.apps.defaultApp);
    return { scope: scope ?? this.#person(whose).scope, app, name };
  }

  #wholeScope({ user, scope }: WholeScope): string {
    if (typeof scope === 'string' && scope !== '') return scope;
    // A missing user must not mean the caller here.
    if (!user) throw refused('erase: name a session, { user } or { scope }');
    const person = this.#env.authenticator.identify(user);
    if (person.scope === person.key) return person.scope;
    throw refused(
      "erase: this user's sessions are in a scope that others may share; name the sessions, or { scope } for all that is in it",
    );
  }
}

function refused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
