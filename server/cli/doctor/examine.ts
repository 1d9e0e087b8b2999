import { isGatewayError } from 'agent-session-gateway/client';
import { type CommandConnection, mountOf, withClient } from '../connection.js';
import { examineCors } from './cors.js';
import { type Finding, ok, problem } from './finding.js';
import { examineClock, examineIdentity, examineVersion } from './identity.js';
import { examineDatabase, examineNode, examinePort } from './machine.js';
import { examineReach } from './reach.js';
import { examineReadiness } from './readiness.js';
import { examineStream } from './stream.js';
import { examineUpgrade } from './upgrade.js';

/** Options of `examine`. */
export interface ExamineOptions extends CommandConnection {
  /** Whether to examine a running gateway too. */
  readonly isRunning: boolean;
  /** Origin of pages that are to call the gateway. */
  readonly origin?: string;
  /** A port of this machine for a gateway to listen on. */
  readonly port?: number;
  readonly host: string;
  /** Longest wait for each answer, in milliseconds. */
  readonly patienceMs: number;
  /** A database on this machine for a gateway to open. */
  readonly db?: string;
}

/** Examines this machine and a running gateway. Yields each finding at once. */
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
  yield* await examineReadiness(place);
  // A refused caller gets no stream either, for the same reason.
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
