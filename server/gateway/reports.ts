import type { AppRegistry } from '../apps/registry.js';
import { userOfScope } from '../auth/scope.js';
import type { ParsedConfig } from '../config/parse.js';
import type { LogFacts, Report } from '../diagnostics/log-facts.js';
import type { SessionNotice } from '../held/environment.js';
import { logCalls } from '../lifecycle/call-log.js';
import { Lifecycle } from '../lifecycle/lifecycle.js';
import { Refusals } from '../lifecycle/refusals.js';

/** The ways by which a gateway tells its host what happens: the log, and the listeners of `gateway.on`. */
export interface Reports {
  readonly lifecycle: Lifecycle;
  readonly refusals: Refusals;
  readonly report: Report;
  /** Tells listeners what happened to a session. */
  notify(notice: SessionNotice): void;
  /** Stops the log of calls. */
  stopLog(): void;
}

/** Connects a gateway's log and its listeners, and logs the warnings about its configuration. */
export function createReports({ id, logger, warnings }: ParsedConfig, apps: AppRegistry): Reports {
  const appOf = ({ sessionId, app }: LogFacts = {}): { readonly app?: string } => {
    if (sessionId === undefined || app !== undefined) return {};
    try {
      const named = apps.parse(sessionId).app;
      return apps.get(named) ? { app: named } : {};
    } catch {
      // The name is not a session's.
      return {};
    }
  };
  /** The user of a scope, unless somebody else is named. */
  const userOf = ({ scope, user }: LogFacts = {}): { readonly user?: string } => {
    const owner = user === undefined && scope !== undefined ? userOfScope(scope) : null;
    return owner ? { user: owner.id } : {};
  };
  const factsOf = (about?: LogFacts): object => ({ ...about, ...appOf(about), ...userOf(about) });
  const log: Report = (error, what, about) =>
    logger.error({ err: error, gateway: id, ...factsOf(about) }, what);
  const lifecycle = new Lifecycle(log);
  const refusals = new Refusals(logger, lifecycle, id);
  const report: Report = Object.assign(
    (error: unknown, what: string, about?: LogFacts) => {
      log(error, what, about);
      lifecycle.emit('error', { error, message: what });
    },
    { warn: (what: string, about: LogFacts) => refusals.warn(what, { ...factsOf(about) }) },
  );
  for (const warning of warnings) logger.warn({ gateway: id }, warning);
  const stopLog = logger.debugs
    ? logCalls({
        ...{ gatewayId: id, logger, lifecycle, failed: log },
        appOf: (key) => apps.parse(key).app,
      })
    : () => {};
  return { lifecycle, refusals, report, notify: (notice) => announce(lifecycle, notice), stopLog };
}

function announce(lifecycle: Lifecycle, notice: SessionNotice): void {
  const { type, ...payload } = notice;
  if (notice.type === 'session:created') {
    const { sessionId, app, userId } = notice;
    lifecycle.emit('session:created', {
      sessionId,
      app,
      ...(userId !== undefined && { user: { id: userId } }),
    });
  } else lifecycle.emit(type, payload as never);
}
