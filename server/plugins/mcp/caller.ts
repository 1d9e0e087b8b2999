import type { IncomingMessage } from 'node:http';
import type { Person } from '../../auth/types.js';
import type { ToolView } from './catalogue.js';
import type { AuthInfo } from './sdk.js';

/** The caller of a request of the protocol, and its tools. */
export interface McpCaller {
  readonly person: Person;
  readonly view: ToolView;
  /** Whether the client can be asked while it waits for its response. Otherwise the response itself asks. */
  readonly inSession: boolean;
  /** Runs a call of a tool, as long as it takes. */
  during<T>(call: () => Promise<T>): Promise<T>;
}

/**
 * Serves a request with its caller attached where the SDK passes it on to handlers. Afterwards a host's own `auth` is on the request again.
 */
export async function servedAs<T>(
  request: IncomingMessage,
  caller: McpCaller,
  serve: (request: IncomingMessage & { auth?: AuthInfo }) => Promise<T>,
): Promise<T> {
  const carrier = request as IncomingMessage & { auth?: AuthInfo };
  const own = carrier.auth;
  carrier.auth = { token: '', clientId: caller.person.key, scopes: [], extra: { caller } };
  try {
    return await serve(carrier);
  } finally {
    // Deleting the property would make the request a slow object.
    (carrier as { auth: AuthInfo | undefined }).auth = own;
  }
}

/** The caller that `servedAs` attached. */
export function callerOf(auth: AuthInfo | undefined): McpCaller | undefined {
  return auth?.extra?.caller as McpCaller | undefined;
}

/** The same user in another scope counts as another owner. */
export function ownerOf({ key: userKey, scope }: Person): string {
  return JSON.stringify([userKey, scope]);
}
