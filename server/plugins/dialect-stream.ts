import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../shared/errors.js';
import type { Person } from '../auth/types.js';
import { type Dialect, DialectSink, NOWHERE, type TextSink } from '../delivery/dialect.js';
import { objectForm } from '../delivery/wire-form.js';
import { type HostEnvironment, startOf } from '../host/open-session.js';
import { newConnectionId } from '../ids.js';
import { SseSink } from '../transports/http/sse-sink.js';
import type { PluginSocket } from '../transports/websocket/plugin-upgrade.js';
import type { DialectOptions, DialectStream, PluginContext } from './plugin.js';

/** The parts of a gateway that streams of plugins use. */
export interface DialectEnvironment {
  readonly host: HostEnvironment;
  readonly limits: PluginContext['limits'];
}

/** The output of a stream. */
interface StreamOutlet {
  readonly text: TextSink;
  /** Reports when the reader has caught up, and when it has left, until the returned function is called. */
  watch(drained: () => void, left: () => void): () => void;
  finish(text?: string): void;
}

/** Tells a session in a dialect, over the same delivery as every client: its reader is a cursor, not a queue. */
export function streamDialect<State>(
  { host, limits }: DialectEnvironment,
  session: { readonly id: string; readonly person: Person; readonly transport: string },
  dialect: Dialect<State>,
  { from, signal, response, socket, follows = false, lines = false }: DialectOptions,
): DialectStream<State> {
  const outlet = socket ? onSocket(socket, !follows) : response ? onResponse(response, lines) : null;
  const sink = new DialectSink(dialect, outlet?.text ?? NOWHERE, () => connection.caughtUp);
  const connection = host.connections.add({
    id: newConnectionId(),
    transport: session.transport,
    person: session.person,
    form: objectForm,
    sink,
    heartbeatMs: limits.heartbeatMs,
    slowClientMs: outlet ? limits.slowClientMs : Number.POSITIVE_INFINITY,
    // A socket counts as a client itself, however many streams it has.
    client: follows && !socket,
    ofRun: !follows,
  });
  const leave = (): void => sink.fail(new GatewayError({ code: 'ABORTED' }));
  const unwatch = outlet?.watch(() => connection.drained(), leave);
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted) leave();
  const gone = (): void => {
    unwatch?.();
    signal?.removeEventListener('abort', leave);
    connection.gone();
  };
  sink.over.then(gone, gone);
  if (from !== 'snapshot') sink.begin();
  const open = async (): Promise<void> => {
    await host.ready();
    await host.operations.open(connection, [{ sessionId: session.id, ...startOf(from) }]);
  };
  open().catch((error: unknown) => sink.fail(error));
  return { over: sink.over, finish: (text) => outlet?.finish(text) };
}

/** A comment (HTML standard, section 9.2.6): readers ignore it, and it keeps proxies from closing the connection. */
const COMMENT = ':\n\n';
const NDJSON = 'application/x-ndjson; charset=utf-8';

function onResponse(response: ServerResponse, lines: boolean): StreamOutlet {
  const type = lines && { type: NDJSON };
  const sse = new SseSink(response.req, response, { ids: 'cursor', ended: () => {}, ...type });
  const blank = lines ? '\n' : COMMENT;
  return {
    text: {
      write: (text) => sse.writeText(text),
      beat: () => sse.writeText(blank),
      sent: () => sse.sent(),
      unread: () => sse.unread(),
      cut: () => void response.destroy(),
    },
    watch(drained, left) {
      sse.onDrain(drained);
      response.once('close', left);
      if (response.closed) left();
      return () => response.off('close', left);
    },
    finish: (text) => sse.finish(text),
  };
}

function onSocket(socket: PluginSocket, ofRun: boolean): StreamOutlet {
  const write = (text: string): boolean => socket.send(...text.split('\n').filter((line) => line !== ''));
  return {
    text: {
      write,
      // The socket has its own pings.
      beat: () => true,
      sent: () => socket.taken,
      unread: () => socket.backlog,
      cut: () => socket.cut(),
    },
    watch(drained, left) {
      if (!socket.isOpen) left();
      return socket.carry({ ofRun, drained, left });
    },
    finish: (text = '') => void write(text),
  };
}
