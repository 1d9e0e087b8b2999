import type { MaybePromise } from '../async/maybe-promise.js';
import { type Audit, isName } from '../audit/audit.js';
import { nameOf } from '../auth/scope.js';
import type { Act } from '../diagnostics/audit-entry.js';
import { nameIn } from './call-facts.js';
import type { Caller } from './caller.js';
import type { Reach } from './reach.js';

/** A call whose act is noted. */
export interface AuditedCall {
  readonly act: string;
  readonly caller: Caller;
  /** The params, which may be unchecked. */
  readonly params: unknown;
  /** The params that are noted. */
  readonly names: readonly string[];
  /** Found on the way. */
  reach?: Reach;
}

interface Placed {
  readonly caller: Pick<Caller, 'person'> & Partial<Caller>;
  readonly params: unknown;
  readonly reach?: Reach;
}

/** The person, the door and the session of a call. */
function placeOf(audit: Audit, { caller, params, reach }: Placed): Omit<Act, 'act' | 'outcome'> {
  const { person, transport = 'stream', requestId } = caller;
  const sessionId = reach
    ? audit.nameOf(reach.ref)
    : nameIn((params as { sessionId?: unknown } | null | undefined)?.sessionId);
  return {
    ...{ door: transport, by: nameOf(person.user) },
    ...(requestId !== undefined && { requestId }),
    ...(reach && { scope: reach.ref.scope }),
    ...(sessionId !== undefined && { sessionId }),
  };
}

function aboutOf({ params, names, reach }: AuditedCall): Record<string, string | boolean> {
  const about: Record<string, string | boolean> = {};
  for (const name of names) {
    let value: unknown = params;
    for (const part of name.split('.'))
      value =
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined;
    if (typeof value === 'boolean' || isName(value)) about[name.slice(name.indexOf('.') + 1)] = value;
  }
  if (reach?.via) about.via = reach.via.grantId;
  return about;
}

function actOf(audit: Audit, call: AuditedCall): Omit<Act, 'outcome'> {
  const about = aboutOf(call);
  return { act: call.act, ...placeOf(audit, call), ...(Object.keys(about).length > 0 && { about }) };
}

/** Does what a call is for, and notes its outcome. */
export function audited<Result>(
  audit: Audit,
  call: AuditedCall,
  work: () => MaybePromise<Result>,
): MaybePromise<Result> {
  return audit.noted(() => actOf(audit, call), work);
}

/** Notes that a caller reads a session of somebody else, if it does. */
export function noteOverseen(audit: Audit, caller: Placed['caller'], reach: Reach): Reach {
  if (reach.overseen) audit.oversees(placeOf(audit, { caller, params: {}, reach }));
  return reach;
}
