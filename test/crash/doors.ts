import { createInProcessTransport, type Gateway } from '../../server/index.js';
import { openUnixSocket, openWebSocket, type RawSocket } from '../support/raw-socket.js';

/** How a caller was answered: with a value, or with an error that has a code. */
export type Answered = { readonly ok: true } | { readonly ok: false; readonly code: unknown };

/** A door as the matrix uses it. */
export interface CrashDoor {
  invoke(method: string, sessionId: string): Promise<Answered>;
  stream(method: string, sessionId: string): Promise<Answered>;
  /** Sends a message; answered once it is accepted or its run has ended. */
  send(sessionId: string): Promise<Answered>;
}

export const GOOD_TOKEN = 'a-good-token-of-more-than-32-bytes-long';

type Fetch = (path: string, init: RequestInit) => Promise<Response>;

export const openDoors: Readonly<
  Record<
    string,
    (gateway: Gateway<any, any, any>, at: { url: string; socketPath: string }) => Promise<CrashDoor>
  >
> = {
  http: async (_gateway, { url }) => httpDoor((path, init) => fetch(url + path, init)),
  fetch: async (gateway) =>
    httpDoor((path, init) => gateway.fetch(new Request(`http://localhost${path}`, init))),
  websocket: async (_gateway, { url }) => frameDoor(await openWebSocket(url)),
  'unix socket': async (_gateway, { socketPath }) => frameDoor(await openUnixSocket(socketPath)),
  'in process': async (gateway) => inProcessDoor(gateway),
};

function httpDoor(request: Fetch): CrashDoor {
  const post = (path: string, body: unknown, accept: string): Promise<Response> =>
    request(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${GOOD_TOKEN}`, 'content-type': 'application/json', accept },
      body: JSON.stringify(body),
    });
  const read = async (answer: Response): Promise<Answered> => {
    const text = await answer.text();
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) {
      return answer.ok ? { ok: true } : { ok: false, code: JSON.parse(text).error.code };
    }
    const last = text.trim().split('\n\n').at(-1) ?? '';
    if (/^event: (?:end|message_end)\n/.test(last)) return { ok: true };
    return { ok: false, code: JSON.parse(/data: (.*)$/.exec(last)?.[1] ?? '{}').code };
  };
  return {
    invoke: async (method, sessionId) =>
      read(await post('/invoke', { method, sessionId, params: {} }, 'application/json')),
    stream: async (method, sessionId) =>
      read(await post('/invoke', { method, sessionId, params: {} }, 'text/event-stream')),
    send: async (sessionId) => read(await post('/send', { sessionId, message: 'x' }, 'text/event-stream')),
  };
}

async function frameDoor(socket: RawSocket): Promise<CrashDoor> {
  await socket.connect({ token: GOOD_TOKEN });
  let asked = 0;
  const ask = async (method: string, params: object): Promise<Answered> => {
    asked += 1;
    const { ok, error } = await socket.ask(String(asked), method, params);
    socket.frames.length = 0;
    return ok ? { ok } : { ok: false, code: error.code };
  };
  const invoke = (method: string, sessionId: string): Promise<Answered> =>
    ask('invoke', { method, sessionId, params: {} });
  return { invoke, stream: invoke, send: (sessionId) => ask('send', { sessionId, message: 'x' }) };
}

function inProcessDoor(gateway: Gateway<any, any, any>): CrashDoor {
  const transport = createInProcessTransport(gateway, { user: { id: 'u' } });
  const { signal } = new AbortController();
  const answered = async (work: Promise<unknown>): Promise<Answered> =>
    work.then(
      () => ({ ok: true }),
      (error: { code?: unknown }) => ({ ok: false, code: error.code }),
    );
  const params = (method: string, sessionId: string) => ({ method, sessionId, params: {} });
  const drain = async (items: AsyncIterable<unknown>): Promise<void> => {
    for await (const _ of items);
  };
  return {
    invoke: (method, sessionId) =>
      answered(transport.request('invoke', params(method, sessionId), { signal })),
    stream: (method, sessionId) => answered(drain(transport.stream(params(method, sessionId), { signal }))),
    send: (sessionId) => answered(transport.request('send', { sessionId, message: 'x' }, { signal })),
  };
}
