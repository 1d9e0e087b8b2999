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

/** What the sessions of a gateway hear and may use of it. */
export interface SessionEnvironment {
  readonly store: Store;
  readonly files: Files;
  /** Who is told of what happens in them while nobody looks; null where nobody is. */
  readonly notices: Pick<Notices, 'of'> | null;
  /** The other gateways on the same store, where there may be others. */
  readonly cluster: Cluster;
  readonly gatewayId: string;
  /** This process, as the holder of what it acquires: another one that is given the same id is not taken for it. */
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
  readonly parkMs: number;
  readonly written: Written;
  /** How long a call of the store is waited for. */
  readonly storeMs: number;
  readonly disconnectGraceMs: number;
  readonly onDisconnect: OnDisconnect;
  /** Open sessions a scope may have. */
  sessionsIn(scope: string): number;
  /** The time by which things age, in milliseconds since the epoch. */
  now(): number;
  app(name: string): Application;
  /** Canonical form of a key. */
  format(app: string, name: string): string;
  /** @throws GatewayError `INVALID_PARAMS` when the payload does not fit the channel's or event's schema. */
  checkPayload(kind: 'channels' | 'events', name: string, payload: unknown): void;
  /** A session took up its log. */
  opened(ref: SessionRef): void;
  /** Nobody looks at a session any more that has not begun. */
  unused(ref: SessionRef): void;
  /** Where other gateways may use the store: it was not reached for a lease, or is reached again. */
  reaches(isReached: boolean): void;
  /** What is open by a grant is to end, here and at the other gateways. */
  ungranted(grantId: string): void;
  notify(event: SessionNotice): void;
  report: Report;
}

/** What sessions tell the gateway's listeners. */
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
