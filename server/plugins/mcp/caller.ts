import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../auth/types.js';
import type { ToolView } from './catalogue.js';
import type { AuthInfo } from './sdk.js';

/** Who makes a request of the protocol, and which tools it has. */
export interface McpCaller {
  readonly identity: Identity;
  readonly view: ToolView;
  /** Whether it can be asked something while it waits for the answer to its request; otherwise it is, by that answer. */
  readonly inSession: boolean;
  /** Runs a call of its tools, as long as it takes. */
  during<T>(call: () => Promise<T>): Promise<T>;
}

/**
 * Serves a request with its caller attached where the SDK passes it on to handlers. A host's own `auth` is back on the request when
 * it has been served.
 */
export async function servedAs<T>(
  request: IncomingMessage,
  caller: McpCaller,
  serve: (request: IncomingMessage & { auth?: AuthInfo }) => Promise<T>,
): Promise<T> {
  const carrier = request as IncomingMessage & { auth?: AuthInfo };
  const own = carrier.auth;
  carrier.auth = { token: '', clientId: caller.identity.userKey, scopes: [], extra: { caller } };
  try {
    return await serve(carrier);
  } finally {
    // Deleting it would make the request a slow object.
    (carrier as { auth: AuthInfo | undefined }).auth = own;
  }
}

/** The caller that `servedAs` attached. */
export function callerOf(auth: AuthInfo | undefined): McpCaller | undefined {
  return auth?.extra?.caller as McpCaller | undefined;
}

/** The same user in another scope is somebody else. */
export function ownerOf({ userKey, scope }: Identity): string {
  return JSON.stringify([userKey, scope]);
}
