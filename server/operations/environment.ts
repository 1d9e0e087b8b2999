import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { UserContext } from '../../shared/contract.js';
import { GatewayError } from '../../shared/errors.js';
import type { ApiDocument } from '../../shared/operation-types.js';
import type { AppRegistry } from '../apps/registry.js';
import type { Audit } from '../audit/audit.js';
import type { Presence } from '../auth/presence.js';
import type { Tickets } from '../auth/tickets.js';
import type { AppAccess, ClientMessages, Oversight, SessionAccess } from '../config/access.js';
import type { Limits } from '../config/limits.js';
import type { Connections } from '../delivery/connections.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { GatewayFiles } from '../files/files.js';
import type { Grants } from '../grants/grants.js';
import type { SessionNotice } from '../held/environment.js';
import type { Quotas } from '../limits/quotas.js';
import type { MethodEntry } from '../methods/flatten.js';
import type { OwnerRoom } from '../records/owner-room.js';
import type { SessionDirectory } from '../sessions/directory.js';
import type { Store } from '../stores/store.js';
import type { FeatureParts } from './feature.js';
import type { SharingRules } from './grant-operations.js';
import type { OpenCalls } from './open-calls.js';

/** Writes the documents that describe the gateway, for a caller. */
export interface DocumentWriter {
  openapi(user: UserContext): ApiDocument;
}

/** The parts of the gateway that operations use. */
export interface OperationEnvironment {
  readonly gatewayId: string;
  readonly store: Store;
  readonly apps: AppRegistry;
  readonly methods: ReadonlyMap<string, MethodEntry>;
  /** Schemas of the payloads of declared channels and custom events. */
  readonly payloads: {
    readonly channels: Readonly<Record<string, StandardSchemaV1>>;
    readonly events: Readonly<Record<string, StandardSchemaV1>>;
  };
  readonly sessions: SessionDirectory;
  readonly connections: Connections;
  readonly tickets: Tickets;
  readonly presence: Presence;
  readonly quotas: Quotas;
  readonly owners: OwnerRoom;
  readonly clientMessages: ClientMessages;
  readonly limits: Limits;
  readonly features: readonly FeatureParts[];
  readonly grants: Grants;
  readonly audit: Audit;
  readonly sharing: SharingRules;
  readonly calls: OpenCalls;
  readonly files: GatewayFiles;
  readonly documents: DocumentWriter;
  readonly sessionAccess: SessionAccess | undefined;
  readonly appAccess: AppAccess | undefined;
  readonly oversight: Oversight | undefined;
  /** Whether new work is refused. */
  readonly state: { readonly draining: boolean };
  notify(event: SessionNotice): void;
  report: Report;
}

/** @throws GatewayError `SHUTTING_DOWN` if new work is refused, but for a request that was let in before */
export function assertOpen({ state, calls }: Pick<OperationEnvironment, 'state' | 'calls'>): void {
  if (state.draining && !calls.isServing)
    throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
}
