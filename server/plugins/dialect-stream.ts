import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../shared/errors.js';
import type { Identity } from '../auth/types.js';
import { type Dialect, DialectSink, NOWHERE, type TextSink } from '../delivery/dialect.js';
import { objectForm } from '../delivery/wire-form.js';
import { type HostEnvironment, startOf } from '../host/open-session.js';
import { newConnectionId } from '../ids.js';
import { SseSink } from '../transports/http/sse-sink.js';
import type { DialectOptions, DialectStream, PluginContext } from './plugin.js';

/** What streams of plugins work with. */
export interface DialectEnvironment {
  readonly host: HostEnvironment;
  readonly limits: PluginContext['limits'];
}

/** Tells of a session in a dialect, over the same delivery as every client: its reader is a cursor, not a queue. */
export function streamDialect<State>(
  { host, limits }: DialectEnvironment,
  session: { readonly id: string; readonly identity: Identity; readonly transport: string },
  dialect: Dialect<State>,
  { from, signal, response, lines }: DialectOptions,
): DialectStream<State> {
  const type = lines && { type: NDJSON };
  const sse = response && new SseSink(response.req, response, { ids: 'cursor', ended: () => {}, ...type });
  const sink = new DialectSink(
    dialect,
    sse ? textOf(sse, response, lines ? '\n' : COMMENT) : NOWHERE,
    () => connection.caughtUp,
  );
  const connection = host.connections.add({
    id: newConnectionId(),
    transport: session.transport,
    identity: session.identity,
    form: objectForm,
    sink,
    heartbeatMs: limits.heartbeatMs,
    slowClientMs: sse ? limits.slowClientMs : Number.POSITIVE_INFINITY,
    client: false,
    ofRun: true,
  });
  sse?.onDrain(() => connection.drained());
  const leave = (): void => sink.fail(new GatewayError({ code: 'ABORTED' }));
  response?.once('close', leave);
  signal?.addEventListener('abort', leave, { once: true });
  if (response?.closed || signal?.aborted) leave();
  const gone = (): void => {
    response?.off('close', leave);
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
  return { over: sink.over, finish: (text) => sse?.finish(text) };
}

/** A comment (HTML standard, section 9.2.6): readers pass it over, proxies see that somebody is there. */
const COMMENT = ':\n\n';
const NDJSON = 'application/x-ndjson; charset=utf-8';

function textOf(sse: SseSink, response: ServerResponse, blank: string): TextSink {
  return {
    write: (text) => sse.writeText(text),
    beat: () => sse.writeText(blank),
    sent: () => sse.sent(),
    unread: () => sse.unread(),
    cut: () => void response.destroy(),
  };
}
