import type { Store } from '../stores/store.js';
import type { LogRef, SessionRef } from '../stores/stored.js';
import { channels } from './channels.js';
import { Trace, traced } from './trace.js';

/** Wraps a store so that its appends are traced. @param store Its methods need no `this`. */
export function withTracedAppends(
  store: Store,
  { gatewayId, format }: { readonly gatewayId: string; format(ref: SessionRef): string },
): Store {
  const messageOf = (log: LogRef, events: Parameters<Store['append']>[1]) => ({
    gatewayId,
    sessionId: format(log),
    app: log.app,
    epoch: log.epoch,
    runId: events.find(({ runId }) => runId !== undefined)?.runId,
    events: events.length,
    bytes: events.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0),
  });
  const append: Store['append'] = (log, events, options) =>
    traced(new Trace(channels.append, messageOf(log, events)), () => store.append(log, events, options));
  return {
    ...store,
    append: (log, events, options) =>
      (channels.append.hasSubscribers ? append : store.append)(log, events, options),
  };
}
