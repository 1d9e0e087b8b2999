import type {
  FeatureHandle,
  FeatureHostCalls,
  FeatureOperator,
  FeatureStats,
} from '../../shared/features.js';
import type { ResultOf } from '../../shared/operation-types.js';
import type { AppRegistry } from '../apps/registry.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Errands } from '../cluster/errands.js';
import type { FeatureConfigShape, ParsedConfig } from '../config/parse.js';
import type { EventConnection, Followed } from '../delivery/connection.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { DueKind } from '../due/due-kind.js';
import type { Grants } from '../grants/grants.js';
import type { RecordsOfSender, TakesUp } from '../held/environment.js';
import type { Prices, RunGate } from '../held/gates.js';
import type { LogView } from '../log/log-view.js';
import type { RecordKind } from '../records/kind.js';
import type { SessionDirectory } from '../sessions/directory.js';
import type { DueWork } from '../sessions/due-in-session.js';
import type { RecordsOfEvents } from '../sessions/event-cause.js';
import type { Exporters } from '../sessions/export.js';
import type { Workers } from '../sessions/perform.js';
import type { RecordHome } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import type { CommitWatcher } from '../stores/watched-store.js';
import type { Access } from './access.js';
import type { Handlers, PlainOperation, SessionCall } from './call.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';
import type { Reach } from './reach.js';

/** Calls an operation on a session for host code, by its caller. */
export type HandleCall = <Name extends PlainOperation>(
  name: Name,
  params?: object,
) => Promise<ResultOf<Name>>;

/** Does a feature's call on a session for host code, by its caller. */
export type HandleHostCall = <Name extends keyof FeatureHostCalls>(
  name: Name,
  params: Omit<FeatureHostCalls[Name]['params'], 'sessionId'>,
) => Promise<FeatureHostCalls[Name]['result']>;

/** The code of the calls that host code has and no client. */
export type HostHandlers = {
  readonly [Name in keyof FeatureHostCalls]: (
    params: FeatureHostCalls[Name]['params'],
    call: SessionCall,
  ) => MaybePromise<FeatureHostCalls[Name]['result']>;
};

/** Streams that a connection may follow beside sessions, by their names. */
export type Follows = Readonly<Record<string, (connection: EventConnection) => Followed>>;

/** A message on its way to a session, and who sends it. */
export interface AdmittedSend {
  readonly reach: Reach;
  readonly caller: Caller;
}

/** A gateway as its features know it. */
export interface FeatureGateway {
  readonly config: ParsedConfig;
  readonly store: Store;
  readonly apps: AppRegistry;
  readonly grants: Grants;
  /** The log of a session that is open. @throws GatewayError `SESSION_NOT_FOUND` */
  logOf(ref: SessionRef): Promise<LogView>;
  /** Whether a user may do this in a session, of their own scope or by a grant. */
  mayReach(...asked: Parameters<Access['mayReach']>): MaybePromise<boolean>;
  /** The sessions of the gateway. Ask once it is assembled. */
  sessions(): SessionDirectory;
  /** Opens the store on first use; null once it is open. */
  ready(): Promise<void> | null;
  /** All features of the gateway. Ask once it is assembled. */
  features(): readonly FeatureParts[];
  report: Report;
}

/** The parts of a feature. */
export interface FeatureParts {
  /** The code of its operations. */
  readonly operations?: (env: OperationEnvironment, parts: OperationParts) => Partial<Handlers>;
  /** The code of its calls for host code. The caller reaches the session. */
  readonly hostCalls?: (env: OperationEnvironment) => Partial<HostHandlers>;
  /** Its calls for operators, once the store is open. */
  readonly operator?: Partial<FeatureOperator>;
  /** Methods of a session for host code, by its operations and its calls for host code. */
  readonly handle?: (call: HandleCall, hostCall: HandleHostCall) => Partial<FeatureHandle>;
  /** Work in a held session. */
  readonly work?: Workers;
  /** Its kinds of records. */
  readonly kinds?: readonly RecordKind[];
  /** Work in their sessions that its due records ask for. */
  readonly due?: readonly DueWork[];
  /** Kinds of due work that it does itself. */
  readonly dueKinds?: Readonly<Record<string, DueKind>>;
  /** Items of an export. */
  readonly exports?: Exporters;
  /** Records that events bring, in the same append. */
  readonly recordsOf?: RecordsOfEvents;
  /** Watches what the store has answered of this gateway's writes. */
  readonly committed?: CommitWatcher;
  /** Records that go with a message, for its sender. */
  readonly recordsOfSender?: RecordsOfSender;
  /** Joins the other gateways on the store. */
  readonly join?: (errands: Errands) => void;
  /** Streams that a connection may follow beside sessions, by names that no session has. */
  readonly follows?: Follows;
  /** Does what follows a successful operation on a session, before the operation is answered. */
  readonly after?: { readonly [Name in PlainOperation]?: (call: SessionCall) => Promise<void> };
  /** Looks for its work in the store, once sessions are recovered and then twice a minute. Never rejects. */
  readonly look?: () => Promise<void>;
  /** Its numbers. */
  readonly stats?: () => Partial<FeatureStats>;
  /** Called once the gateway begins to end. */
  readonly drain?: () => void;
  /** Ends it. Its due work has ended before. */
  readonly close?: () => void;
  /** Asked before a message is accepted that begins a run. @throws GatewayError to refuse it */
  readonly admits?: (sent: AdmittedSend) => MaybePromise<void>;
  /** Asked before a run makes a call that costs. */
  readonly gate?: RunGate;
  /** Asked for the cost of a call. */
  readonly prices?: Prices;
  /** Called before all that is kept of a session or scope is dropped. */
  readonly erasing?: (home: RecordHome) => Promise<void>;
  /** Asked before a run goes on that another process left. */
  readonly takesUp?: TakesUp;
}

/** All that a feature adds to a gateway. Its words, in `shared`, say what the gateway asks before any of it runs. */
export interface Feature extends FeatureParts {
  /** Schemas of the fields of a gateway's configuration that it reads. */
  readonly config?: FeatureConfigShape;
  /** Makes the parts that have something of one gateway. */
  readonly open?: (gateway: FeatureGateway) => FeatureParts;
}

/** One part of all features, as one table. */
export const joined = <Part extends 'work' | 'dueKinds' | 'exports' | 'follows' | 'operator'>(
  features: readonly FeatureParts[],
  part: Part,
): Required<NonNullable<FeatureParts[Part]>> =>
  Object.assign({}, ...features.map((feature) => feature[part]));
