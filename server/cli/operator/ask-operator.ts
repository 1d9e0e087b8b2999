import { existsSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { GatewayError, isGatewayError } from 'agent-session-gateway/client';
import { isSharedPlace, storeAt } from '../../runtime/store-at.js';
import { type OperatorRequest, operate } from './operate.js';
import { operatorSocketOf } from './operator-socket.js';

/** App of a temporary gateway. No other gateway has an app of this name, so that it takes up no sessions. */
const NO_APP = 'operator.of.a.database';

/** The database of an operator's command. */
export interface OperatorDatabase {
  /** A place for `storeAt`. */
  readonly db: string;
  /** The folder of the database's files. @default beside the database */
  readonly files?: string | undefined;
}

/**
 * Has the gateway that uses the database do a request, or does it here if there is none. On a store that gateways share it acts as one more
 * gateway.
 *
 * @returns lines of JSON
 * @throws GatewayError the reason why the request was not done
 */
export async function* askOperator(
  { db, files }: OperatorDatabase,
  request: OperatorRequest,
): AsyncGenerator<string> {
  if (isSharedPlace(db)) return yield* withoutGateway({ db, files }, request);
  if (!existsSync(db)) throw refused(`There is no database ${db}; name it with --db`);
  const response = await post(operatorSocketOf(db), request);
  if (!response) return yield* withoutGateway({ db, files }, request);
  if (response.statusCode !== 200) {
    const { code, message, details } = (await json(response)) as GatewayError;
    throw new GatewayError({ code, message, details });
  }
  response.setEncoding('utf8');
  yield* response as AsyncIterable<string>;
  // A broken connection ends the body without an error.
  if (!response.complete)
    throw new GatewayError({ code: 'NETWORK', message: 'The gateway broke off its answer' });
}

/** Posts to a socket. Null if nobody listens there. */
function post(socketPath: string, body: OperatorRequest): Promise<IncomingMessage | null> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath, method: 'POST', path: '/' }, resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(error.code ?? '')) resolve(null);
      else
        reject(
          new GatewayError({ code: 'NETWORK', message: `${socketPath}: ${error.message}`, cause: error }),
        );
    });
    request.end(JSON.stringify(body));
  });
}

async function* withoutGateway(
  { db, files }: OperatorDatabase,
  request: OperatorRequest,
): AsyncGenerator<string> {
  const { createGateway, directoryFiles } = await import('agent-session-gateway');
  const gateway = createGateway({
    apps: { [NO_APP]: { run: () => {} } },
    defaultApp: NO_APP,
    // Accepts no user: each request names the owner of the data.
    auth: { type: 'custom', validate: () => ({ valid: false }) },
    store: await storeAt(db),
    ...(files !== undefined && { files: directoryFiles({ path: files }) }),
  });
  try {
    yield* operate(gateway, request, true);
  } catch (error) {
    const { reason } = (isGatewayError(error) && (error.details as { reason?: string } | undefined)) || {};
    if (reason !== 'locked') throw error;
    throw refused(
      `A process uses ${db} that takes no commands: only \`agent-session-gateway start\` does. Call the gateway's own \`backup\`, \`erase\` or \`export\` there, or stop it first`,
    );
  } finally {
    await gateway.close();
  }
}

function refused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
