import { isGatewayError } from 'agent-session-gateway/client';
import { type ConnectionOptions, mountOf, withClient } from '../connection.js';
import { examineCors } from './cors.js';
import { type Finding, ok, problem } from './finding.js';
import { examineClock, examineIdentity, examineVersion } from './identity.js';
import { examineDatabase, examineNode, examinePort } from './machine.js';
import { examineReach } from './reach.js';
import { examineStream } from './stream.js';
import { examineUpgrade } from './upgrade.js';

/** What is to be examined. */
export interface ExamineOptions extends ConnectionOptions {
  /** Whether a running gateway is, too. */
  readonly isRunning: boolean;
  /** Of pages that are to call the gateway. */
  readonly origin?: string;
  /** A port that a gateway is to listen on, here. */
  readonly port?: number;
  readonly host: string;
  /** Milliseconds within which everything has to answer. */
  readonly patienceMs: number;
  /** A database that a gateway is to open, here. */
  readonly db?: string;
}

/** Examines this machine and a running gateway. Yields each finding when it is there. */
export async function* examine(options: ExamineOptions): AsyncGenerator<Finding, void> {
  const { port, host, db, isRunning, patienceMs } = options;
  yield examineNode();
  if (port !== undefined) yield await examinePort(host, port, patienceMs);
  if (db !== undefined) yield await examineDatabase(db);
  if (!isRunning) return;
  if (options.socket === undefined) yield* examineUrl(options);
  else yield await examineSocket(options, options.socket);
}

async function* examineUrl({
  url,
  token,
  extraRoutes = '',
  origin,
  patienceMs,
}: ExamineOptions): AsyncGenerator<Finding> {
  const place = { mount: mountOf(url), extraRoutes, patienceMs };
  const { findings, answer } = await examineReach(place, token);
  yield* findings;
  if (answer === undefined) return;
  yield* examineClock(answer);
  yield* examineVersion(answer);
  yield* examineIdentity(answer, token);
  // Who is refused gets no stream either, for the same reason.
  if (answer.error === undefined) yield* await examineStream(place, token);
  yield await examineUpgrade(place);
  if (origin !== undefined) yield await examineCors(place, token, origin);
}

const SOCKET_FIXES: Readonly<Record<string, string>> = {
  ENOENT: 'Give the path that the option socketPath of the gateway has, and start the gateway.',
  ECONNREFUSED: 'The gateway that made it has ended: start it again.',
  EACCES: 'The socket is for the user that the gateway runs as: run this as that user.',
};

async function examineSocket(options: ExamineOptions, path: string): Promise<Finding> {
  const about = `socket ${path}`;
  try {
    const { user } = await withClient(options, (client) => client.status());
    return ok(
      about,
      user === null ? 'a gateway answers' : `a gateway answers; you are the user ${JSON.stringify(user.id)}`,
    );
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (error.code === 'UNAUTHENTICATED')
      return problem(
        about,
        'the token is refused',
        'Give a good one with --token or AGENT_SESSION_GATEWAY_TOKEN.',
      );
    const [code = ''] = /\b(?:ENOENT|ECONNREFUSED|EACCES)\b/.exec(error.message) ?? [];
    return problem(about, error.message, SOCKET_FIXES[code] ?? 'Look at the log of the gateway.');
  }
}
