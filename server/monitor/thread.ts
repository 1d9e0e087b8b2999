import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { FromThread, ThreadData, ToThread } from './messages.js';

// The thread of the monitoring port: its own event loop answers while the gateway's is late, or stands still. It knows what it is told, and
// nothing of the gateway's code.

/** Silence of the gateway's event loop, in milliseconds, after which it counts as overloaded. */
const LATE_MS = 2000;
/** Silence after which the process counts as dead, so that whoever asks whether it lives restarts it. */
const DEAD_MS = 60_000;
/** Time that a page waits to be made anew before the last one is given. */
const FRESH_MS = 25;
/** Time that a page waits where there is no last one, and the desk for the beginning of an answer. */
const PATIENCE_MS = 20_000;
/** Most bytes of a question to the desk. */
const MOST_BYTES = 64 * 1024;

const data = workerData as ThreadData;
const port = parentPort!;
const say = (message: FromThread): void => port.postMessage(message);

interface LastPage {
  readonly media: string;
  readonly text: string;
  readonly at: number;
}

/** The last page of each path, once one was made. */
const pages = new Map<string, LastPage | null>();
const asked = new Map<number, (answer: Extract<ToThread, { type: 'answer' }>) => void>();
let nextId = 1;
let beat: { readonly refusal: string | null; readonly forMs: number } = {
  refusal: JSON.stringify({
    code: 'OVERLOADED',
    message: 'The gateway starts',
    details: { reason: 'starting' },
  }),
  forMs: 0,
};
let stats = { text: 'null', at: performance.now() };
let beatAt = performance.now();

/** Time for which the gateway's event loop has been silent, in milliseconds. */
const silentMs = (): number => Math.max(0, performance.now() - beatAt - data.beatMs);

port.on('message', (message: ToThread) => {
  if (message.type === 'page') return void pages.set(message.path, null);
  if (message.type === 'answer') return asked.get(message.id)?.(message);
  beatAt = performance.now();
  beat = message;
  if (message.stats !== undefined) stats = { text: message.stats, at: beatAt };
});

const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

function send(response: ServerResponse, status: number, text: string, media = 'application/json'): void {
  response.writeHead(status, {
    ...HEADERS,
    'Content-Type': `${media}${media.includes(';') ? '' : '; charset=utf-8'}`,
  });
  response.end(text);
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (status === 503) response.setHeader('Retry-After', '1');
  send(response, status, JSON.stringify({ error: { code, message, status } }));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const tokens = data.tokens.map((token) => Buffer.from(token, 'hex'));

function showsToken(request: IncomingMessage): boolean {
  const shown = digest(/^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '');
  let found = false;
  // Compares all of them, so that the time reveals nothing.
  for (const token of tokens) if (timingSafeEqual(token, shown)) found = true;
  return found;
}

/** Whether a page of another site cannot have asked: it would name its own host. */
function isDirect({ headers: { host = '' } }: IncomingMessage): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return name === '' || name === 'localhost' || isIP(name) !== 0;
}

/** Whether the caller may read, else answers. */
function mayRead(request: IncomingMessage, response: ServerResponse): boolean {
  if (tokens.length > 0) {
    if (showsToken(request)) return true;
    refuse(response, 401, 'UNAUTHENTICATED', 'Show the token of the monitoring port');
    return false;
  }
  if (isDirect(request)) return true;
  refuse(response, 421, 'ORIGIN_DENIED', 'Ask by an address, or as localhost');
  return false;
}

function live(response: ServerResponse): void {
  const lateMs = Math.round(silentMs());
  if (lateMs < DEAD_MS)
    return send(response, 200, JSON.stringify({ ok: true, lateMs, version: data.version }));
  refuse(response, 503, 'OVERLOADED', `The event loop has stood still for ${Math.round(lateMs / 1000)} s`);
}

function ready(response: ServerResponse): void {
  const lateMs = Math.round(silentMs());
  const { gatewayId: id, version } = data;
  if (lateMs >= LATE_MS) {
    const message = `The event loop has stood still for ${lateMs} ms`;
    const error = { code: 'OVERLOADED', message, status: 503, details: { reason: 'overloaded' } };
    response.setHeader('Retry-After', '1');
    return send(response, 503, JSON.stringify({ error, id, version }));
  }
  const forMs = Math.round(beat.forMs + performance.now() - beatAt);
  if (beat.refusal === null) return send(response, 200, JSON.stringify({ ok: true, id, version, forMs }));
  response.setHeader('Retry-After', '1');
  const error = { ...JSON.parse(beat.refusal), status: 503 };
  send(response, 503, JSON.stringify({ error, id, version, forMs }));
}

/** Asks the gateway. `over` is called once, with the answer or without one in time. */
function ask(
  path: string,
  {
    body,
    waitMs,
    heard,
  }: {
    readonly body?: string;
    readonly waitMs: number;
    readonly heard: (answer: Extract<ToThread, { type: 'answer' }> | null) => void;
  },
): () => void {
  const id = nextId;
  nextId += 1;
  const timer = setTimeout(() => heard(null), waitMs);
  asked.set(id, (answer) => {
    clearTimeout(timer);
    if (answer.isLast) asked.delete(id);
    heard(answer);
  });
  say({ type: 'ask', id, path, ...(body !== undefined && { body }) });
  return () => {
    clearTimeout(timer);
    asked.delete(id);
    say({ type: 'gone', id });
  };
}

function page(path: string, response: ServerResponse): void {
  const last = pages.get(path) ?? null;
  let isSent = false;
  const give = (made: LastPage | null): void => {
    if (isSent) return;
    isSent = true;
    if (!made) return refuse(response, 503, 'OVERLOADED', 'The gateway has not answered yet');
    response.setHeader('Age', String(Math.floor((performance.now() - made.at) / 1000)));
    send(response, 200, `${made.text}${isExposition(made) ? ownMetrics() : ''}`, made.media);
  };
  const heard = (answer: Extract<ToThread, { type: 'answer' }> | null): void => {
    if (!answer) return give(last);
    const { status = 200, media = 'text/plain', text } = answer;
    if (status !== 200) {
      if (isSent) return;
      isSent = true;
      return send(response, status, text, media);
    }
    const made = { media, text, at: performance.now() };
    pages.set(path, made);
    give(made);
  };
  ask(path, { waitMs: last ? FRESH_MS : PATIENCE_MS, heard });
}

const isExposition = ({ media }: LastPage): boolean => /^text\/plain\b|openmetrics/.test(media);

function ownMetrics(): string {
  const name = 'agent_gateway_silent_seconds';
  const help = 'Time for which the event loop has not turned; other values are as old';
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${silentMs() / 1000}\n`;
}

function desk(request: IncomingMessage, response: ServerResponse): void {
  if (tokens.length === 0)
    return refuse(
      response,
      403,
      'FORBIDDEN',
      'The desk needs a token: set monitor.token, or use the commands beside the database',
    );
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MOST_BYTES) return void chunks.push(chunk);
    if (response.headersSent) return;
    refuse(response, 413, 'PAYLOAD_TOO_LARGE', `A question has at most ${MOST_BYTES} bytes`);
    request.destroy();
  });
  request.on('end', () => {
    if (response.headersSent) return;
    const leave = ask('/desk', {
      ...{ body: Buffer.concat(chunks).toString(), waitMs: PATIENCE_MS },
      heard: (answer) => {
        if (!answer) return refuse(response, 503, 'OVERLOADED', 'The gateway has not answered in time');
        const { status, media, text, isLast } = answer;
        // Break the answer off, to show its reader that lines are missing.
        if (status !== undefined && response.headersSent) return void response.destroy();
        if (status !== undefined) response.writeHead(status, { ...HEADERS, 'Content-Type': media });
        if (response.writableEnded) return;
        response.write(text);
        if (isLast) response.end();
      },
    });
    response.once('close', () => !response.writableFinished && leave());
  });
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? '').replace(/\?.*$/s, '');
  const isDesk = path === '/desk';
  if (!isDesk && request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return refuse(response, 405, 'METHOD_NOT_ALLOWED', 'This can be read, and nothing else');
  }
  if (path === '/healthz') return live(response);
  if (path === '/readyz') return ready(response);
  if (!mayRead(request, response)) return;
  if (isDesk && request.method === 'POST') return desk(request, response);
  if (isDesk) {
    response.setHeader('Allow', 'POST');
    return refuse(response, 405, 'METHOD_NOT_ALLOWED', 'The desk takes questions by POST');
  }
  if (path === '/stats') {
    const { gatewayId: id, version } = data;
    const ageMs = Math.round(performance.now() - stats.at);
    return send(
      response,
      200,
      `{"id":${JSON.stringify(id)},"version":${JSON.stringify(version)},"ageMs":${ageMs},"stats":${stats.text}}`,
    );
  }
  if (pages.has(path)) return page(path, response);
  refuse(
    response,
    404,
    'ROUTE_NOT_FOUND',
    'There are /healthz, /readyz, /stats, /metrics with metricsPlugin, and /desk',
  );
}

const server = createServer(
  { headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 65_000 },
  serve,
);
server.once('error', ({ code = '', message }: NodeJS.ErrnoException) =>
  say({ type: 'failed', code, message }),
);
server.listen(data.port, data.host, () =>
  say({ type: 'listening', port: (server.address() as AddressInfo).port }),
);
