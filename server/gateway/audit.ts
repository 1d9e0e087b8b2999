import type { AppRegistry } from '../apps/registry.js';
import { Audit } from '../audit/audit.js';
import { AuditTrail } from '../audit/audit-trail.js';
import type { AuthRefusal } from '../auth/authenticate.js';
import type { ParsedConfig } from '../config/parse.js';
import type { Act } from '../diagnostics/audit-entry.js';
import { storeTime } from '../stores/skew.js';
import type { Reports } from './reports.js';

/** The parts that note acts, and keep them. */
export interface Audits {
  readonly audit: Audit;
  readonly trail: AuditTrail;
}

/** A log-in that was refused, as an act. */
export const refusedLogIn = ({ code, reason, address, requestId }: AuthRefusal): Act => ({
  ...{ act: 'log-in', door: 'auth', by: null, outcome: code, about: { reason } },
  ...(address !== '' && { address }),
  ...(requestId !== undefined && { requestId }),
});

/** @param given.ready Opens the store on first use; null once it is open */
export function createAudits(
  { id: gatewayId, store, limits, logger }: ParsedConfig,
  given: Pick<Reports, 'lifecycle' | 'refusals' | 'report'> & {
    readonly apps: AppRegistry;
    ready(): Promise<void> | null;
  },
): Audits {
  const { lifecycle, refusals, apps, ready, report } = given;
  const now = (): number => storeTime(store);
  const { auditMs: keptMs, auditEntries: most } = limits;
  const trail = new AuditTrail({ store, keptMs, most, now, ready, report });
  const audit = new Audit({
    ...{ gatewayId, logger, now, format: (...key) => apps.format(...key) },
    keep: (entry) => trail.keep(entry),
    tell: (entry) => lifecycle.emit('audit', entry),
  });
  refusals.told = (refusal) => audit.note(refusedLogIn(refusal));
  return { audit, trail };
}
