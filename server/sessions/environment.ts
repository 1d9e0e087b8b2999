import type { OnDisconnect } from '../apps/application.js';
import type { Cluster } from '../cluster/cluster.js';
import type { HeldEnvironment } from '../held/environment.js';
import type { Moderation } from '../log/moderation.js';
import type { Written } from '../log/written.js';
import type { RecordHome } from '../stores/records.js';
import type { SessionRef } from '../stores/stored.js';
import type { AtWork } from './at-work.js';
import type { RecordsOfEvents } from './event-cause.js';
import type { Exporters } from './export.js';
import type { Workers } from './perform.js';

/** The parts of a gateway that its sessions use and notify. */
export interface SessionEnvironment extends HeldEnvironment {
  /** The work and the exported items that features add. */
  readonly workers: Workers;
  readonly exporters: Exporters;
  /** Called before all that is kept of a session or scope is dropped. */
  readonly erasing: (home: RecordHome) => Promise<unknown>;
  /** The records that features add to an append. */
  readonly addedRecords: readonly RecordsOfEvents[];
  /** The other gateways on the same store. */
  readonly cluster: Cluster;
  /** Id of this process as a holder. Another process with the same gateway id has a different one. */
  readonly holder: string;
  readonly moderation: Moderation;
  readonly written: Written;
  readonly atWork: AtWork;
  readonly onDisconnect: OnDisconnect;
  /** Open sessions a scope may have. */
  sessionsIn(scope: string): number;
  /** Whether nobody chose a session, which may make room for another one. */
  isSpare(ref: SessionRef): boolean;
  /** Whether a session can be taken up here, with an active run of this version of its app. */
  serves(ref: SessionRef, version?: string): boolean;
  /** Drops a session that may make room. False if a scope has none. */
  makeRoom(scope: string): Promise<boolean>;
  /** The clock for ageing, in milliseconds since the epoch. */
  now(): number;
  /** Canonical form of a key. */
  format(app: string, name: string): string;
  /** Called when a session opened its log. */
  opened(ref: SessionRef): void;
  /** Called when a session that has not begun is no longer looked at. */
  unused(ref: SessionRef): void;
  /** Called when the store could not be reached for a lease, and when it can be again. Only on stores that gateways share. */
  reaches(isReached: boolean): void;
}

/** The part of it that a gateway gives its sessions. The rest is theirs. */
export type GivenEnvironment = Omit<
  SessionEnvironment,
  'opened' | 'unused' | 'cluster' | 'written' | 'atWork' | 'makeRoom' | 'serves'
>;
