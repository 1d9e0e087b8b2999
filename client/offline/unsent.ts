import { GatewayError } from '../../shared/gateway-error.js';
import { mayPass, type OperationCaller } from '../call.js';
import { draftMessage, type Outbox } from '../outbox.js';
import { type Core, startRun } from '../run.js';
import type { PersistenceParts } from './persistence.js';
import type { Tabs } from './tabs.js';

const UNSENT = 'u:';
const UNSENT_MS = 23 * 3_600_000;
/** The wait after a long series of failures, as the number of attempts that back-off counts. */
const LATE = 4;

/** A request for a run that was not accepted yet. */
interface Unsent {
  readonly operation: 'send' | 'regenerate';
  readonly params: {
    readonly sessionId: string;
    readonly idempotencyKey: string;
    readonly [name: string]: unknown;
  };
  readonly at: number;
  /** The tab that sends it. */
  readonly tab: string;
  /** The reason why it is not tried any more. */
  readonly failed?: { readonly code: string; readonly message: string; readonly status?: number };
}

/**
 * Keeps requests for runs until they are accepted or given up. Each is repeated under its key, in the order of the requests, by its own tab, or by
 * another one once that has ended.
 */
export function persistUnsent(
  core: Core,
  { disk, options, attempt, isOver, isForeign }: PersistenceParts,
  tabs: Tabs,
): { stop(): void } {
  const { call, connection, outbox, person, retries } = core;
  const lifeMs = options.unsentMs ?? UNSENT_MS;
  const kept = new Map<string, string>();
  /** Requests that wait for their own user. */
  const held = new Map<string, Unsent>();
  /** Writes on their way to the disk, so that a dropped entry does not come back after its deletion. */
  const writes = new Map<string, Promise<unknown>>();
  /** The last request of each session that is on its way. */
  const last = new Map<string, Promise<unknown>>();
  let at = 0;

  const keyOf = ({ at, params }: Unsent): string =>
    `${UNSENT}${String(at).padStart(16, '0')}:${params.idempotencyKey}`;
  const keep = (unsent: Unsent): Promise<unknown> => {
    if (isOver()) return Promise.resolve();
    const { idempotencyKey } = unsent.params;
    kept.set(idempotencyKey, keyOf(unsent));
    const written = attempt(() => disk.set(keyOf(unsent), JSON.stringify(unsent), 'strict'));
    writes.set(idempotencyKey, written);
    return written;
  };
  const drop = (idempotencyKey: string): void => {
    const key = kept.get(idempotencyKey);
    if (!key) return;
    kept.delete(idempotencyKey);
    void attempt(async () => {
      await writes.get(idempotencyKey);
      writes.delete(idempotencyKey);
      await disk.delete(key);
    });
  };

  /** Leaves it on the device for its own user. */
  const hold = (unsent: Unsent, error: GatewayError): void => {
    const { idempotencyKey } = unsent.params;
    if (isOver()) return;
    kept.delete(idempotencyKey);
    held.set(idempotencyKey, unsent);
    outbox.remove(idempotencyKey);
    void attempt(() => Promise.reject(error));
  };

  const persistent: OperationCaller = async (operation, given, onRetry) => {
    if ((operation !== 'send' && operation !== 'regenerate') || isForeign())
      return call(operation, given, onRetry);
    const { signal = new AbortController().signal, ...asked } = given as unknown as {
      readonly signal?: AbortSignal;
    } & Unsent['params'];
    // Its gateway takes it from this user alone, whoever is there by then.
    const rest = { onlyAs: person.user, ...asked };
    // The clock may stand still, or go back.
    at = Math.max(at + 1, Date.now());
    const known = kept.get(rest.idempotencyKey);
    const unsent: Unsent = {
      ...{ operation, params: rest, tab: tabs.own },
      at: known ? Number(known.slice(UNSENT.length).split(':')[0]) : at,
    };
    // Not awaited: a device that hangs must not delay a send.
    void keep(unsent);
    const before = last.get(rest.sessionId);
    const sent = (async () => {
      await before;
      for (let tried = 0; ; tried++) {
        try {
          if (isForeign())
            throw new GatewayError({ code: 'OTHER_USER', message: 'It waits for its own user' });
          return await call(operation, { ...given, ...rest } as never, onRetry);
        } catch (cause) {
          const error = cause as GatewayError;
          if (error.code === 'OTHER_USER' || isForeign()) {
            hold(unsent, error);
            throw error;
          }
          if (signal.aborted || isOver() || !mayPass(error) || Date.now() - unsent.at > lifeMs) {
            const { code, message, status } = error;
            // If its client let it go, the next client sends it.
            if (code !== 'ABORTED') void keep({ ...unsent, failed: { code, message, status } });
            throw error;
          }
          await retries.wait(error, tried + LATE, signal, (hurry) => onRetry?.(error, hurry));
        }
      }
    })();
    const over = sent.then(
      () => drop(rest.idempotencyKey),
      () => {},
    );
    last.set(rest.sessionId, over);
    void over.then(() => {
      if (last.get(rest.sessionId) === over) last.delete(rest.sessionId);
    });
    return sent as never;
  };
  const own: Outbox = {
    ...outbox,
    // Its session shows it, or it was given up.
    remove: (key) => {
      drop(key);
      outbox.remove(key);
    },
  };
  Object.assign(core, { call: persistent, outbox: own });

  const begin = ({ operation, params }: Unsent): void => {
    const { sessionId, message, ...rest } = params;
    const begun = operation === 'send' ? { operation, input: message, ...rest } : { operation, ...rest };
    startRun(core, sessionId, begun as never).accepted.catch(() => {});
  };
  const show = (unsent: Unsent, error: GatewayError): void => {
    const { sessionId, idempotencyKey: key, message, replaces, messageId } = unsent.params;
    const shown = message
      ? { message: draftMessage(message as never), ...(replaces ? { replaces } : {}) }
      : { messageId };
    const entry = {
      key,
      ...shown,
      status: 'failed',
      error,
      retry: () => begin(unsent),
      discard: () => own.remove(key),
    };
    outbox.set(sessionId, entry as never);
  };
  /** Takes over the requests that a closed tab left. */
  const takeOver = async (tab: string): Promise<void> => {
    for (const unsent of await readAll()) {
      if (isOver() || isForeign() || unsent.tab !== tab || kept.has(unsent.params.idempotencyKey)) continue;
      kept.set(unsent.params.idempotencyKey, keyOf(unsent));
      const isLate = Date.now() - unsent.at > lifeMs;
      const late = { code: 'TIMEOUT', message: 'It is too old to be sent by itself' };
      const failed = unsent.failed ?? (isLate ? late : undefined);
      if (!failed) begin(unsent);
      else {
        await keep({ ...unsent, tab: tabs.own, failed });
        show(unsent, GatewayError.fromJSON(failed as never));
      }
    }
  };
  const readAll = async (): Promise<readonly Unsent[]> => {
    const keys = ((await attempt(() => disk.keys())) ?? []).filter((key) => key.startsWith(UNSENT)).sort();
    const texts = await Promise.all(keys.map((key) => attempt(() => disk.get(key))));
    return texts.flatMap((text) => (text ? [JSON.parse(text) as Unsent] : []));
  };
  const watched = new Set([tabs.own]);
  const watchOver = (tab: string): void => {
    if (!watched.has(tab)) tabs.whenGone(tab, () => takeOver(tab));
    watched.add(tab);
  };
  tabs.onTab(watchOver);
  // The connection shows whose client it is. Held requests go on when their user is back.
  const unwatch = connection.subscribe((state) => {
    if (state !== 'open' || isForeign() || isOver()) return;
    const all = [...held.values()];
    held.clear();
    for (const unsent of all) {
      kept.set(unsent.params.idempotencyKey, keyOf(unsent));
      begin(unsent);
    }
  });
  void readAll().then((all) => new Set(all.map(({ tab }) => tab)).forEach(watchOver));
  return {
    stop: () => {
      unwatch();
      for (const entry of outbox.of(() => true)) if (kept.has(entry.key)) entry.discard();
      kept.clear();
    },
  };
}
