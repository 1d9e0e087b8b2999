import type { UserContext } from '../../shared/contract.js';
import type { EventDraft } from '../../shared/events.js';
import type { Application } from '../apps/application.js';
import type { Limits } from '../config/limits.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { GatewayFiles } from '../files/files.js';
import type { RecordChange } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { HeldSession } from './held-session.js';

/** The parts of a gateway that a session uses and notifies while it is held. */
export interface HeldEnvironment {
  /** The ends of all that features give a person by a grant. */
  readonly endsWithGrant: readonly EndsWithGrant[];
  readonly store: Store;
  readonly files: GatewayFiles;
  readonly gatewayId: string;
  readonly limits: Limits;
  app(name: string): Application;
  /** @throws GatewayError `INVALID_PARAMS` if the payload does not fit the channel's or event's schema. */
  checkPayload(kind: 'channels' | 'events', name: string, payload: unknown): void;
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

/** The end of what a person has by a grant, for the append that ends the grant. @throws StoreError */
export type EndsWithGrant = (
  held: HeldSession,
  grantId: string,
) => Promise<{ readonly events: readonly EventDraft[]; readonly records: readonly RecordChange[] }>;
