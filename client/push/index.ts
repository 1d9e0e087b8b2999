import type { PushTarget } from '../../shared/notices/contract.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** The used members of a `ServiceWorkerRegistration`. */
export interface PushRegistration {
  readonly pushManager: {
    getSubscription(): Promise<BrowserSubscription | null>;
    subscribe(options: {
      readonly userVisibleOnly: boolean;
      readonly applicationServerKey: string;
    }): Promise<BrowserSubscription>;
  };
}

/** The used members of a `PushSubscription`. */
export interface BrowserSubscription {
  readonly endpoint: string;
  readonly options?: { readonly applicationServerKey: ArrayBuffer | null };
  toJSON(): { readonly endpoint?: string; readonly keys?: Record<string, string> };
  unsubscribe(): Promise<boolean>;
}

/** The pushes of a client's user to this browser. */
export interface ClientPush {
  /**
   * Has this browser receive pushes while nobody looks. Safe to repeat, and best done at each start of a page, since browsers change the subscription
   * from time to time. Ask for the permission of `Notification` before, in an event of the user's.
   *
   * @throws GatewayError `INVALID_REQUEST` if the gateway sends no pushes, `QUOTA_EXCEEDED` beyond `limits.pushSubscriptions`; also the browser's own
   * error if the permission is missing
   */
  subscribe(registration: PushRegistration, options?: SignalOptions): Promise<void>;
  /** Ends pushes to this browser. Call it before the user signs out. */
  unsubscribe(registration: PushRegistration, options?: SignalOptions): Promise<void>;
}

/**
 * The pushes of a client's user. A service worker shows them: `agent-session-gateway/client/push-worker`, or one of yours.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const registration = await navigator.serviceWorker.register('/push-worker.js');
 * await clientPush(client).subscribe(registration);
 * ```
 */
export function clientPush(client: Pick<Client, 'connection'>): ClientPush {
  const core = coreOf.get(client);
  if (!core) throw misused('clientPush needs a client of createClient');
  const { call } = core;

  return {
    async subscribe({ pushManager }, options) {
      const { publicKey } = await call('push', { ...options });
      if (publicKey === null) throw misused('This gateway sends no pushes (notify.push)');
      let subscription = await pushManager.getSubscription();
      // A subscription under another key is of no use, and a browser has one at a time.
      if (subscription && keyOf(subscription) !== publicKey) {
        await subscription.unsubscribe();
        subscription = null;
      }
      subscription ??= await pushManager.subscribe({
        userVisibleOnly: true,
        applicationServerKey: publicKey,
      });
      await call('push', { ...options, add: targetOf(subscription) });
    },
    async unsubscribe({ pushManager }, options) {
      const subscription = await pushManager.getSubscription();
      if (!subscription) return;
      await call('push', { ...options, remove: subscription.endpoint });
      await subscription.unsubscribe();
    },
  };
}

/** The parts of a subscription that the gateway takes. */
function targetOf(subscription: BrowserSubscription): PushTarget {
  const { p256dh = '', auth = '' } = subscription.toJSON().keys ?? {};
  return { endpoint: subscription.endpoint, keys: { p256dh, auth } };
}

/** The key of a subscription in base64url. */
function keyOf({ options }: BrowserSubscription): string {
  const bytes = new Uint8Array(options?.applicationServerKey ?? new ArrayBuffer(0));
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
