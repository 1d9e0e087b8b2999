import { type ClientTransport, GatewayError, type GatewayEvent } from '../client/index.js';
import type { Link, LinkEnd } from '../shared/client-transport.js';

/** A test's control of a client's line. */
export interface Line {
  /** Breaks every open connection. The client makes new ones by itself. */
  cut(): void;
  /** Breaks the line, and lets no new connection or request through until `goOnline`. */
  goOffline(): void;
  goOnline(): void;
  /**
   * Breaks the connections right after an event came through.
   *
   * @param matches The event's type, or a function that recognizes it. @returns the event
   */
  cutAt(matches: string | ((event: GatewayEvent) => boolean)): Promise<GatewayEvent>;
}

const offline = (): GatewayError =>
  new GatewayError({ code: 'NETWORK', message: 'The test has cut this line' });

/**
 * A transport on a line that a test can cut. Data under way may or may not arrive, as with a pulled cable.
 *
 * @param inner Returns the present transport; throws if there is none. @param close Frees the transport
 */
export function cuttable(
  name: string,
  inner: () => ClientTransport,
  close: () => void,
): {
  readonly transport: ClientTransport;
  readonly line: Line;
} {
  const cuts = new Set<() => void>();
  const waits = new Set<(event: GatewayEvent) => void>();
  let isOffline = false;
  const cut = (): void => {
    for (const now of [...cuts]) now();
  };

  const open: ClientTransport['open'] = (targets, handlers) => {
    let link: Link | undefined;
    let isOver = false;
    const finish = (end: LinkEnd): void => {
      cuts.delete(cutOff);
      if (isOver) return;
      isOver = true;
      handlers.onClose(end);
    };
    const sever = (error = offline()): void => {
      finish({ error });
      link?.close();
    };
    const cutOff = (): void => sever();
    cuts.add(cutOff);
    try {
      if (isOffline) throw offline();
      link = inner().open(targets, {
        ...(handlers.onProgress && { onProgress: () => isOver || handlers.onProgress?.() }),
        ...(handlers.onStale && { onStale: () => isOver || handlers.onStale?.() }),
        onEvent: (event) => {
          if (isOver) return;
          handlers.onEvent(event);
          for (const heard of [...waits]) heard(event);
        },
        onClose: finish,
      });
      return link;
    } catch (error) {
      queueMicrotask(() => sever(error as GatewayError));
      return { subscribe: () => Promise.reject(error), close: () => finish({}) };
    }
  };
  const request: ClientTransport['request'] = (operation, params, options) => {
    if (isOffline) return Promise.reject(offline());
    return new Promise((resolve, reject) => {
      const sever = (): void => reject(offline());
      cuts.add(sever);
      inner()
        .request(operation, params, options)
        .then(resolve, reject)
        .finally(() => cuts.delete(sever));
    });
  };
  return {
    transport: {
      name,
      request,
      async *stream(params, options) {
        if (isOffline) throw offline();
        const stop = new AbortController();
        const sever = (): void => stop.abort(offline());
        cuts.add(sever);
        try {
          yield* inner().stream(params, {
            ...options,
            signal: AbortSignal.any([options.signal, stop.signal]),
          });
        } finally {
          cuts.delete(sever);
        }
      },
      open,
      close: () => {
        cut();
        close();
      },
    },
    line: {
      cut,
      goOffline: () => {
        isOffline = true;
        cut();
      },
      goOnline: () => {
        isOffline = false;
      },
      cutAt: (matches) =>
        new Promise((resolve) => {
          const isIt = typeof matches === 'string' ? ({ type }: GatewayEvent) => type === matches : matches;
          const heard = (event: GatewayEvent): void => {
            if (!isIt(event)) return;
            waits.delete(heard);
            cut();
            resolve(event);
          };
          waits.add(heard);
        }),
    },
  };
}
