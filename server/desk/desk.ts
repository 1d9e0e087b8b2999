import { GatewayError } from '../../shared/errors.js';
import type { FeatureOperator } from '../../shared/features.js';
import { encodeLine } from '../../shared/ndjson.js';
import { parseSessionKey } from '../../shared/session-key.js';
import type { AppRegistry } from '../apps/registry.js';
import type { Audit } from '../audit/audit.js';
import type { AuditTrail } from '../audit/audit-trail.js';
import { toOcsf } from '../audit/ocsf.js';
import type { DisconnectTarget } from '../auth/presence.js';
import { userOfScope } from '../auth/scope.js';
import type { Person, UserLike } from '../auth/types.js';
import { type Errands, errand } from '../cluster/errands.js';
import type { ParsedConfig } from '../config/parse.js';
import type { Connections } from '../delivery/connections.js';
import type { Act } from '../diagnostics/audit-entry.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { DeadWork } from '../due/dead.js';
import { gatewayIdOf } from '../ids.js';
import { asUnavailable } from '../log/unavailable.js';
import { packageVersion } from '../runtime/package-files.js';
import type { SessionDirectory } from '../sessions/directory.js';
import type { SessionRef } from '../stores/stored.js';
import { connectionRow, liveRuns } from './live-rows.js';
import { type DeskOwner, type DeskQuestion, parseQuestion } from './questions.js';
import type { DeskConnection, DeskGateway, DeskKept, DeskRun, DeskSession, DeskUsage } from './rows.js';
import { storedRuns } from './stored-runs.js';

type Asked<Action extends DeskQuestion['action']> = Extract<DeskQuestion, { readonly action: Action }>;
/** Each gateway answers these for itself. */
type Local = Asked<'status'> | Asked<'runs'> | Asked<'connections'> | Asked<'lame-duck'>;

/** Asks other gateways what they have, or has one become a lame duck. */
const DESK = errand<Local, readonly object[]>('desk');

/** Has another gateway answer a question for all. */
const ANSWER = errand<DeskQuestion, readonly object[]>('desk-answer');

/** Rows of one answer, unless the question says how many. */
const ROWS = 1000;

/** The parts of a gateway that operators ask for. */
export interface DeskEnvironment {
  readonly config: ParsedConfig;
  readonly holder: string;
  readonly apps: AppRegistry;
  readonly errands: Errands;
  readonly sessions: SessionDirectory;
  readonly connections: Connections;
  readonly state: { lameDuck: boolean };
  readonly data: {
    dead(): AsyncIterable<DeadWork>;
    retry(id: string, door: 'operator'): Promise<boolean>;
    features(): Promise<FeatureOperator>;
  };
  identify(user: UserLike): Person;
  readonly audit: Audit;
  readonly trail: AuditTrail;
  disconnect(target: DisconnectTarget, door: 'operator'): number;
  stats(): GatewayStats;
  /** Opens the store on first use; null once it is open. */
  ready(): Promise<void> | null;
}

/** The operators' desk: what the gateways of a store believe and do, and acts on it. No text of a conversation is told. */
export class Desk {
  readonly #env: DeskEnvironment;
  readonly #startedAt = performance.now();

  constructor(env: DeskEnvironment) {
    this.#env = env;
    env.errands.on(DESK, (question) => this.#own(question));
    env.errands.on(ANSWER, async (question) => {
      const rows: object[] = [];
      for await (const row of this.ask(question)) rows.push(row);
      return rows;
    });
  }

  /** Has a gateway that serves answer, where there is one: for a process that only looks in. @throws GatewayError during iteration */
  async *askElsewhere(question: DeskQuestion): AsyncGenerator<object> {
    const { errands, sessions, holder, ready } = this.#env;
    await ready();
    for (const other of await sessions.cluster.others()) {
      const rows = await errands.ask(other, ANSWER, question);
      if (!rows) continue;
      for (const row of rows) if ((row as Partial<DeskGateway>).gateway !== holder) yield row;
      return;
    }
    if (question.action === 'status' || question.action === 'lame-duck' || question.action === 'connections')
      throw new GatewayError({ code: 'INVALID_REQUEST', message: 'No gateway runs on this store' });
    yield* this.ask(question);
  }

  /** @throws GatewayError during iteration, before the first row or later */
  async *ask(question: DeskQuestion): AsyncGenerator<object> {
    const act = actOf(question);
    if (act === null) return yield* this.#answer(question);
    const acted = async (): Promise<readonly object[]> => {
      const rows: object[] = [];
      for await (const row of this.#answer(question)) rows.push(row);
      return rows;
    };
    yield* await this.#env.audit.noted(() => act, acted);
  }

  async *#answer(question: DeskQuestion): AsyncGenerator<object> {
    // The state of this process is told whatever the store does.
    if (question.action === 'status' && this.#isHere(question.gateway)) {
      yield* this.#status();
      if (question.gateway !== undefined) return;
      return yield* await this.#others(question);
    }
    if (question.action === 'lame-duck') return yield* await this.#lameDuck(question);
    await this.#env.ready();
    switch (question.action) {
      case 'status':
        return yield* await this.#others(question);
      case 'runs':
        return yield* this.#runs(question);
      case 'connections':
        return yield* cutTo(await this.#all(question), question.limit);
      case 'session':
        return yield await this.#session(question);
      case 'usage':
        return yield* this.#usage(question);
      case 'due':
        return yield* this.#env.data.dead();
      case 'retry':
        return yield { retried: await this.#env.data.retry(question.id, 'operator') };
      case 'abort': {
        const { run: runId, reason = 'aborted by an operator' } = question;
        const ref = this.#refOf(question.session, question);
        return yield { aborted: await this.#env.sessions.perform(ref, { type: 'abort', runId, reason }) };
      }
      case 'audit': {
        let left = question.limit ?? Number.POSITIVE_INFINITY;
        for await (const entry of this.#env.trail.entries(question.since)) {
          if (left-- <= 0) return;
          yield toOcsf(entry);
        }
        return;
      }
      case 'disconnect': {
        const { user, tenant } = question;
        const target = tenant === undefined ? { userId: user } : { id: user, tenantId: tenant };
        return yield { ended: this.#env.disconnect(target, 'operator') };
      }
    }
  }

  /** Lines of JSON, for a question in JSON. @throws GatewayError during iteration */
  async *lines(body: string): AsyncGenerator<string> {
    for await (const row of this.ask(parseQuestion(body))) yield encodeLine(row);
  }

  #isHere(gateway: string | undefined): boolean {
    const { holder } = this.#env;
    return gateway === undefined || gateway === holder || gateway === gatewayIdOf(holder);
  }

  /** Rows of this process. */
  #own(question: Local): readonly object[] {
    if (!this.#isHere(question.gateway)) return [];
    switch (question.action) {
      case 'status':
        return this.#status();
      case 'runs':
        return this.#ownRuns(question);
      case 'connections':
        return this.#ownConnections(question);
      case 'lame-duck':
        this.#env.state.lameDuck = question.on;
        return [{ gateway: this.#env.holder, lameDuck: question.on }];
    }
  }

  /** Rows of the other gateways. One that does not answer is left out. */
  async #others(question: Local): Promise<readonly object[]> {
    const answers = await this.#env.errands.askAll(DESK, question);
    return answers.flatMap((rows) => rows ?? []);
  }

  async #all(question: Local): Promise<readonly object[]> {
    return [...this.#own(question), ...(await this.#others(question))];
  }

  #status(): readonly [DeskGateway] {
    const { holder, config, apps, stats } = this.#env;
    return [
      {
        ...{ gateway: holder, version: packageVersion(), node: process.versions.node, pid: process.pid },
        uptimeMs: Math.round(performance.now() - this.#startedAt),
        apps: Object.fromEntries([...apps.entries()].map(([name, { version = null }]) => [name, version])),
        stats: stats(),
        limits: config.limits,
      },
    ];
  }

  #ownRuns({ user, tenant, app, olderMs = 0, waitsFor }: Asked<'runs'>): readonly DeskRun[] {
    const { sessions, holder } = this.#env;
    return [...sessions.values()]
      .flatMap((session) => liveRuns(session, holder))
      .filter((run) => isOf(run.user, user, tenant) && (app === undefined || run.app === app))
      .filter((run) => run.ageMs! >= olderMs && (waitsFor === undefined || run.waitsFor === waitsFor));
  }

  async *#runs(question: Asked<'runs'>): AsyncGenerator<DeskRun> {
    const { limit = ROWS, gateway, user, tenant, app, olderMs, waitsFor } = question;
    const { config, apps } = this.#env;
    const format = (of: string, name: string): string => apps.format(of, name);
    const names = [...apps.entries()].map(([name]) => name);
    // Read first: a run that is taken up meanwhile is then told of twice rather than not at all, and dropped below.
    const kept: DeskRun[] = [];
    if (gateway === undefined && olderMs === undefined)
      for await (const run of storedRuns(config.store, { apps: names, format })) {
        if (!isOf(run.user, user, tenant) || (app !== undefined && run.app !== app)) continue;
        if (waitsFor === undefined || run.waitsFor === waitsFor) kept.push(run);
      }
    const live = (await this.#all(question)) as readonly DeskRun[];
    const known = new Set(live.map(({ runId }) => runId));
    const busy = new Set(live.map(({ scope, sessionId }) => JSON.stringify([scope, sessionId])));
    const left = kept.filter(({ runId, scope, sessionId }) =>
      runId === null ? !busy.has(JSON.stringify([scope, sessionId])) : !known.has(runId),
    );
    // The oldest first: they are what an operator looks for.
    const sorted = [...live].sort((a, b) => b.ageMs! - a.ageMs!);
    yield* cutTo([...left, ...sorted], limit);
  }

  #ownConnections({ user, tenant }: Asked<'connections'>): readonly DeskConnection[] {
    const { connections, holder } = this.#env;
    return [...connections.values()]
      .map((connection) => connectionRow(connection, holder))
      .filter((row) => isOf(row.user, user, tenant));
  }

  async #session({ session: key, ...owner }: Asked<'session'>): Promise<DeskSession> {
    const { sessions, config } = this.#env;
    const ref = this.#refOf(key, owner);
    const session = await asUnavailable(() => sessions.existing(ref));
    const log = session.log!;
    await asUnavailable(() => log.folded());
    const size = await asUnavailable(() => config.store.usage(ref));
    const runs = (await this.#all({ action: 'runs' })) as readonly DeskRun[];
    const own = runs.filter(({ scope, sessionId }) => scope === ref.scope && sessionId === session.id);
    const { status, queued } = session.describe();
    return {
      ...{ sessionId: session.id, scope: ref.scope, gateway: own[0]?.gateway ?? null },
      ...{ status, queued, cursor: log.cursor, characters: size.session },
      ...{ runs: own },
    };
  }

  async *#usage({ by, from, to, ...owner }: Asked<'usage'>): AsyncGenerator<DeskUsage> {
    const { user, tenant, scope } = owner;
    if (user !== undefined || scope !== undefined) yield await this.#kept(owner);
    const { usage } = await this.#env.data.features();
    yield* await usage({
      ...{ by, from, to, scope },
      ...(user === undefined
        ? { tenant }
        : { user: { id: user, ...(tenant !== undefined && { tenantId: tenant }) } }),
    });
  }

  async #kept(owner: DeskOwner): Promise<DeskKept> {
    const { config, apps } = this.#env;
    const { scope } = this.#refOf(apps.defaultApp, owner);
    const ref = { scope, app: apps.defaultApp, name: '' };
    const [size, sessions] = await Promise.all([
      asUnavailable(() => config.store.usage(ref)),
      asUnavailable(() => config.store.count(scope)),
    ]);
    const runs = (await this.#all({ action: 'runs' })) as readonly DeskRun[];
    const connections = (await this.#all({ action: 'connections' })) as readonly DeskConnection[];
    const user = userOfScope(scope);
    return {
      ...{ scope, sessions, characters: size.scope, runs: runs.filter((run) => run.scope === scope).length },
      connections: connections.filter((each) => user !== null && isOf(each.user, user.id, user.tenantId))
        .length,
    };
  }

  async #lameDuck(question: Asked<'lame-duck'>): Promise<readonly object[]> {
    if (this.#isHere(question.gateway)) return this.#own(question);
    await this.#env.ready();
    const changed = await this.#others(question);
    if (changed.length > 0) return changed;
    throw new GatewayError({
      code: 'INVALID_PARAMS',
      message: `There is no gateway ${question.gateway} on this store, or it does not answer`,
      details: [{ path: 'gateway', message: 'names none that answers' }],
    });
  }

  /** @throws GatewayError `INVALID_PARAMS` if nobody is named and users have sessions of their own */
  #refOf(key: string, { user, tenant, scope }: DeskOwner): SessionRef {
    const { app, name } = parseSessionKey(key, this.#env.apps.defaultApp);
    if (scope !== undefined) return { scope, app, name };
    if (user === undefined) {
      const message = 'Name whose session it is: a user, or a scope';
      throw new GatewayError({ code: 'INVALID_PARAMS', message, details: [{ path: 'user', message }] });
    }
    const person = this.#env.identify({ id: user, ...(tenant !== undefined && { tenantId: tenant }) });
    return { scope: person.scope, app, name };
  }
}

/** An operator's deed as an act; null for a question, and for the end of all that a user has open, which is noted where it is done. */
function actOf(question: DeskQuestion): Omit<Act, 'outcome'> | null {
  const operator = { door: 'operator', by: null } as const;
  switch (question.action) {
    case 'abort': {
      const { session: sessionId, user, tenant, scope, run } = question;
      const about = {
        ...(user !== undefined && { userId: user }),
        ...(tenant !== undefined && { tenantId: tenant }),
        ...(run !== undefined && { runId: run }),
      };
      return { act: 'abort', ...operator, sessionId, ...(scope !== undefined && { scope }), about };
    }
    case 'lame-duck':
      return { act: 'lame-duck', ...operator, about: { on: question.on } };
    default:
      return null;
  }
}

/** Whether a person is the one that is asked for, if any is. */
function isOf(person: DeskRun['user'], user: string | undefined, tenant: string | undefined): boolean {
  if (user === undefined) return tenant === undefined || person?.tenantId === tenant;
  return person?.id === user && (tenant === undefined || person.tenantId === tenant);
}

const cutTo = <Row>(rows: readonly Row[], limit = ROWS): readonly Row[] => rows.slice(0, limit);
