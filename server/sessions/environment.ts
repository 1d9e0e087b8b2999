import type { UserContext } from '../../shared/contract.js';
import type { Application, OnDisconnect } from '../apps/application.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { Files } from '../files/files.js';
import type { Moderation } from '../log/moderation.js';
import type { Retention } from '../log/retention.js';
import type { Written } from '../log/written.js';
import type { Notices } from '../notices/notices.js';
import type { SessionRef, Store } from '../stores/store.js';

/** The parts of a gateway that its sessions use and notify. */
export interface SessionEnvironment {
  readonly store: Store;
  readonly files: Files;
  /** Makes the notices for people who are away; null if the gateway sends none. */
  readonly notices: Pick<Notices, 'of'> | null;
  /** The other gateways on the same store. */
  readonly cluster: Cluster;
  readonly gatewayId: string;
  /** Id of this process as a holder. Another process with the same gateway id has a different one. */
  readonly holder: string;
  readonly retention: Retention;
  readonly moderation: Moderation;
  /** Size of the messages of a snapshot or of a page of history, in bytes of JSON. */
  readonly pageBytes: number;
  readonly queueLength: number;
  readonly titleLength: number;
  readonly metadataBytes: number;
  readonly runMs: number;
  readonly waitMs: number;
  readonly answerSize: number;
  readonly stepsSize: number;
  readonly childRuns: number;
  readonly childDepth: number;
  readonly parkMs: number;
  readonly written: Written;
  /** Time limit of a call of the store. */
  readonly storeMs: number;
  readonly disconnectGraceMs: number;
  readonly onDisconnect: OnDisconnect;
  /** Open sessions a scope may have. */
  sessionsIn(scope: string): number;
  /** The clock for ageing, in milliseconds since the epoch. */
  now(): number;
  app(name: string): Application;
  /** Canonical form of a key. */
  format(app: string, name: string): string;
  /** @throws GatewayError `INVALID_PARAMS` if the payload does not fit the channel's or event's schema. */
  checkPayload(kind: 'channels' | 'events', name: string, payload: unknown): void;
  /** Called when a session opened its log. */
  opened(ref: SessionRef): void;
  /** Called when a session that has not begun is no longer looked at. */
  unused(ref: SessionRef): void;
  /** Called when the store could not be reached for a lease, and when it can be again. Only on stores that gateways share. */
  reaches(isReached: boolean): void;
  /** Ends everything that is open by a grant, here and at the other gateways. */
  ungranted(grantId: string): void;
  notify(event: SessionNotice): void;
  report: Report;
}

/** Notices of sessions to the gateway's listeners. */
export type SessionNotice =
  | {
      readonly type: 'session:created' | 'session:closed';
      readonly sessionId: string;
      readonly app: string;
      readonly userId?: string;
    }
  | {
      readonly type: 'run:started';
      readonly sessionId: string;
      readonly runId: string;
      readonly user: UserContext | null;
    }
  | {
      readonly type: 'run:ended';
      readonly sessionId: string;
      readonly runId: string;
      readonly stopReason: string;
    }
  | {
      readonly type: 'custom';
      readonly sessionId?: string;
      readonly name: string;
      readonly payload: unknown;
    };
