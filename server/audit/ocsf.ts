import type { AuditEntry } from '../diagnostics/audit-entry.js';
import { packageVersion } from '../runtime/package-files.js';

/** The classes of OCSF 1.3 by which acts are told: API Activity, and Authentication for log-ins. */
const API = {
  class_uid: 6003,
  class_name: 'API Activity',
  category_uid: 6,
  category_name: 'Application Activity',
};
const AUTHENTICATION = {
  ...{ class_uid: 3002, class_name: 'Authentication' },
  ...{ category_uid: 3, category_name: 'Identity & Access Management' },
};

/** The activities of API Activity, by act. All others change something. */
const ACTIVITIES: Readonly<Record<string, readonly [id: number, name: string]>> = {
  ...{ share: [1, 'Create'], fork: [1, 'Create'], import: [1, 'Create'], backup: [1, 'Create'] },
  ...{ export: [2, 'Read'], oversee: [2, 'Read'] },
  ...{ unshare: [4, 'Delete'], delete: [4, 'Delete'], erase: [4, 'Delete'], close: [4, 'Delete'] },
};

/** An entry by the names of the Open Cybersecurity Schema Framework, as log collectors take it. */
export function toOcsf(entry: AuditEntry): object {
  const { id, at, gatewayId, act, door, by, scope, sessionId, outcome, about, requestId, address } = entry;
  const isLogIn = act === 'log-in';
  const [activity, name] = isLogIn ? [1, 'Logon'] : (ACTIVITIES[act] ?? [3, 'Update']);
  const ok = outcome === 'ok';
  const kind = isLogIn ? AUTHENTICATION : API;
  const user = by && { uid: by.id, ...(by.tenantId !== undefined && { org: { uid: by.tenantId } }) };
  return {
    ...kind,
    ...{ activity_id: activity, activity_name: name, type_uid: kind.class_uid * 100 + activity },
    ...{ time: Math.round(at), severity_id: 1, severity: 'Informational' },
    ...{ status_id: ok ? 1 : 2, status: ok ? 'Success' : 'Failure', ...(!ok && { status_code: outcome }) },
    metadata: {
      ...{ version: '1.3.0', uid: id, log_name: 'audit' },
      product: {
        name: 'agent-session-gateway',
        vendor_name: 'agent-session-gateway',
        version: packageVersion(),
      },
    },
    ...(user && { actor: { user }, ...(isLogIn && { user }) }),
    api: {
      ...{ operation: act, service: { name: gatewayId } },
      ...(requestId !== undefined && { request: { uid: requestId } }),
    },
    src_endpoint: { name: door, ...(address !== undefined && { ip: address }) },
    ...((sessionId ?? scope) !== undefined && {
      resources: [
        { type: sessionId === undefined ? 'scope' : 'session', uid: sessionId ?? scope, namespace: scope },
      ],
    }),
    ...(about && { unmapped: about }),
  };
}
