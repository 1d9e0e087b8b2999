import { type Client, createClient } from 'agent-session-gateway/client';
import { createFiles } from 'agent-session-gateway/client/files';
import { exportSession } from 'agent-session-gateway/client/history';
import { FaultLine } from '../network/fault-line.js';
import { settings } from './settings.js';
import { token } from './token.js';

export type TransportName = 'sse' | 'websocket';

/** The line to the gateway for everything on the page. */
export const line = new FaultLine();

const { baseUrl, extraRoutes } = settings;
const options = { baseUrl, extraRoutes, token, fetch: line.fetch };

export const files = createFiles(options);

/** All messages of a session, one a line. */
export async function exportMessages(sessionId: string): Promise<string> {
  const lines: string[] = [];
  for await (const message of exportSession(options, sessionId)) lines.push(`${JSON.stringify(message)}\n`);
  return lines.join('');
}

export function openClient(transport: TransportName): Client {
  return createClient({ ...options, transport, WebSocket: line.WebSocket });
}

const bearer = (): Record<string, string> => (token() ? { authorization: `Bearer ${token()}` } : {});

/** Throws the error of an unsuccessful response. */
async function ensureOk(response: Response): Promise<void> {
  if (response.ok) return;
  const body = await response.json().catch(() => undefined);
  throw new Error(body?.error?.message ?? body?.message ?? `HTTP ${response.status}`);
}

/** Reads one of the gateway's documents. @throws Error with the gateway's answer */
export async function readDocument(path: string): Promise<Record<string, unknown>> {
  const response = await line.fetch(`${baseUrl}${extraRoutes}${path}`, { headers: bearer() });
  await ensureOk(response);
  return response.json();
}

/** Reads what ran in a run. @throws Error with the gateway's answer */
export async function readTrace<T>(url: string, sessionId: string, runId: string): Promise<T> {
  const response = await line.fetch(`${url}?${new URLSearchParams({ sessionId, runId })}`, {
    headers: bearer(),
  });
  await ensureOk(response);
  return response.json();
}

/** The outcome of a replay: the turns that went as before, and the first that did not. */
export interface Replayed {
  readonly turns: number;
  readonly divergence?: Readonly<Record<'message' | 'step' | 'text', string> & Record<'turn', number>>;
}

/** Has a session run against the app as it is now. @throws Error with the gateway's answer */
export async function replay(url: string, sessionId: string, answersMayDiffer: boolean): Promise<Replayed> {
  const headers = { ...bearer(), 'content-type': 'application/json' };
  const body = JSON.stringify({ sessionId, answersMayDiffer });
  const response = await line.fetch(url, { method: 'POST', headers, body });
  await ensureOk(response);
  return response.json();
}

/** Kills the server's process, as a crash would. @throws Error with the reason of a refusal */
export async function killServer(url: string): Promise<void> {
  const response = await line.fetch(url, { method: 'POST', headers: bearer() }).catch(() => undefined);
  // Without a response, the process ended before it could send one.
  if (response) await ensureOk(response);
}
