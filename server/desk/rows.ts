import type { UsageRow } from '../../shared/budgets/contract.js';
import type { UserName } from '../../shared/user-name.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { WAITS } from './questions.js';

/** A gateway, as it tells of itself. */
export interface DeskGateway {
  readonly gateway: string;
  readonly version: string;
  readonly node: string;
  readonly pid: number;
  readonly uptimeMs: number;
  /** Versions of apps by name; null for an app without one. */
  readonly apps: Readonly<Record<string, string | null>>;
  readonly stats: GatewayStats;
  /** The limits in effect; null means no limit. */
  readonly limits: object;
}

/** A run that has not ended. */
export interface DeskRun {
  /** The process that holds it; null if none does. */
  readonly gateway: string | null;
  readonly sessionId: string;
  readonly scope: string;
  /** Null where nothing but its session is known. */
  readonly runId: string | null;
  readonly app: string;
  readonly user: UserName | null;
  readonly state: 'accepting' | 'queued' | 'active' | 'parked' | 'held' | 'left';
  readonly waitsFor: (typeof WAITS)[number];
  /** Time since this process accepted it or took it up; null if no process has it. */
  readonly ageMs: number | null;
  /** When it goes on by itself, in milliseconds since the epoch; null if nothing but an answer wakes it. */
  readonly until?: number | null;
}

/** An open connection of a client. */
export interface DeskConnection {
  readonly gateway: string;
  readonly id: string;
  readonly user: UserName;
  readonly transport: string;
  readonly openMs: number;
  readonly sessions: number;
  readonly unreadBytes: number;
  /** Whether its reader does not keep up now. */
  readonly blocked: boolean;
}

/** A session, without a text of it. */
export interface DeskSession {
  readonly sessionId: string;
  readonly scope: string;
  /** The process that holds it; null if none does, or if it is not known. */
  readonly gateway: string | null;
  readonly status: string;
  readonly queued: number;
  readonly cursor: string | null;
  readonly characters: number;
  readonly runs: readonly DeskRun[];
}

/** The sums of what runs have used; of a user or a scope, behind what is kept and open of it. */
export type DeskUsage = UsageRow | DeskKept;

/** The amount that is kept and open of one scope: of one user, unless `sessionScope` says otherwise. */
export interface DeskKept {
  readonly scope: string;
  readonly sessions: number;
  readonly characters: number;
  readonly connections: number;
  readonly runs: number;
}
