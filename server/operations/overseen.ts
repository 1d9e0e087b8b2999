import { GatewayError } from '../../shared/errors.js';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import type { AccessedOperation } from '../config/access.js';
import type { SessionRef } from '../stores/stored.js';

/** The prefix of a name that reaches a session of any scope. Ids of grants have no dot. */
const MARK = '~of.';

/** The name under which a session of any scope is reached by those who may read all. */
export const overseenName = ({ scope, name }: SessionRef): string =>
  `${MARK}${Buffer.from(JSON.stringify([scope, name])).toString('base64url')}`;

/** The session that such a name stands for; null for any other name. */
export function overseenIn(app: string, text: string): SessionRef | null {
  if (!text.startsWith(MARK)) return null;
  try {
    const [scope, name] = JSON.parse(
      Buffer.from(text.slice(MARK.length), 'base64url').toString(),
    ) as string[];
    const ref = { scope: String(scope), app, name: String(name) };
    // One session has one address.
    return overseenName(ref) === text ? ref : null;
  } catch {
    return null;
  }
}

/** @throws GatewayError `ACCESS_DENIED` for what may not be done in the session of somebody else who shares nothing */
export function assertOverseen(operation: AccessedOperation): void {
  const words = OPERATION_WORDS as Readonly<Record<string, { readonly overseen?: true } | undefined>>;
  if (operation === 'events' || words[operation]?.overseen) return;
  const message = `Only the owner of a session, or with a grant, may call ${operation}; you may read it`;
  throw new GatewayError({ code: 'ACCESS_DENIED', message });
}
