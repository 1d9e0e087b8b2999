import type { Served } from './make-gateway.js';

/** The levels of a logger that reloading writes. */
interface ReloadLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Makes the function that takes the changed configuration of a served gateway in, and says in the log what became of it. */
export function reloading({ gateway: { id: gateway }, reload }: Served, log: ReloadLog): () => void {
  let last: Promise<void> = Promise.resolve();
  const once = async (): Promise<void> => {
    try {
      const waiting = await reload();
      log.info({ gateway }, 'reloaded: keys, origins and limits');
      if (waiting.length > 0) log.warn({ gateway, options: waiting }, 'these options take a restart');
    } catch (err) {
      log.error({ gateway, err }, 'not reloaded: the gateway goes on as before');
    }
  };
  return () => {
    last = last.then(once);
  };
}
