import type { PushTarget } from '../../shared/notices.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

/** What of a `ServiceWorkerRegistration` is used. */
export interface PushRegistration {
  readonly pushManager: {
    getSubscription(): Promise<BrowserSubscription | null>;
    subscribe(options: {
      readonly userVisibleOnly: boolean;
      readonly applicationServerKey: string;
    }): Promise<BrowserSubscription>;
  };
}

/** What of a `PushSubscription` is used. */
export interface BrowserSubscription {
  readonly endpoint: string;
  readonly options?: { readonly applicationServerKey: ArrayBuffer | null };
  toJSON(): { readonly endpoint?: string; readonly keys?: Record<string, string> };
  unsubscribe(): Promise<boolean>;
}

/** The pushes of a client's user to this browser. */
export interface ClientPush {
  /**
   * Has this browser be told what happens while nobody looks. Safe to be repeated, as at each start of a page: a browser gives another
   * subscription from time to time. Ask for the permission of `Notification` before, in an event of the user's.
   *
   * @throws GatewayError `INVALID_REQUEST` where the gateway sends no pushes, `QUOTA_EXCEEDED` beyond `limits.pushSubscriptions`; what the
   *   browser throws where it may not
   */
  subscribe(registration: PushRegistration, options?: SignalOptions): Promise<void>;
  /** Has it be told no more: before its user signs out. */
  unsubscribe(registration: PushRegistration, options?: SignalOptions): Promise<void>;
}

/**
 * The pushes of a client's user. What shows them is a service worker: `agent-session-gateway/client/push-worker`, or one of yours.
 *
 * @throws GatewayError `INVALID_REQUEST` for what is no client of this package
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
      // One under another key is no good: a browser has one at a time.
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

/** What the gateway takes of a subscription. */
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
