import type { UserName } from '../../shared/user-name.js';

/** An act that is not an ordinary message, as it is told to the log, `gateway.on('audit')`, the channel and the trail. It has no text of people. */
export interface AuditEntry {
  readonly id: string;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly at: number;
  readonly gatewayId: string;
  /** An operation (`share`), an act of an operator, host or gateway (`erase`, `set-budget`, `expire-approval`), `oversee`, or `log-in` for one that was refused. */
  readonly act: string;
  /** The way in: a transport, `host` for host code, `operator` for the desk, `gateway` for an act of its own. */
  readonly door: string;
  /** The one who acted; null where nobody is known. */
  readonly by: UserName | null;
  /** Scope and name of the session, or of all that is in a scope. */
  readonly scope?: string;
  readonly sessionId?: string;
  /** `ok`, or the code of the error. */
  readonly outcome: string;
  /** Ids and names that tell more: `grantId`, `role`, `callId`, `reason` of a refused log-in. */
  readonly about?: Readonly<Record<string, string | boolean>>;
  readonly requestId?: string;
  /** The client's address, where it is known. */
  readonly address?: string;
}

/** An act, before it has its id, time and place. */
export type Act = Omit<AuditEntry, 'id' | 'at' | 'gatewayId'>;
