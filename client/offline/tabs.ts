import { randomId } from '../random.js';

/** The tabs of a page that share kept data. */
export interface Tabs {
  /** This tab. */
  readonly own: string;
  /** Calls back once another tab has ended, in any way. At once if the runtime cannot tell tabs apart. */
  whenGone(tab: string, run: () => Promise<void>): void;
  /** Calls back for each other tab, now and later. */
  onTab(run: (tab: string) => void): void;
  tellWiped(): void;
}

/** @param wiped Called when another tab has dropped all data */
export function openTabs(name: string, wiped: () => void): Tabs {
  const own = randomId();
  const { locks } = (globalThis.navigator ?? {}) as { readonly locks?: LockManager };
  const opened = new Set<(tab: string) => void>();
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : undefined;
  // A program in Node must be able to end when it has nothing else to do.
  (channel as { unref?(): void } | undefined)?.unref?.();
  channel?.addEventListener(
    'message',
    ({ data }: MessageEvent<{ opened?: string; here?: string; wiped?: true }>) => {
      if (data.wiped) return wiped();
      if (data.opened) channel.postMessage({ here: own });
      for (const run of opened) run((data.opened ?? data.here)!);
    },
  );
  // The lock is held as long as this tab lives. The browser releases it even after a crash.
  const held = locks?.request(`${name}:${own}`, () => new Promise<void>(() => {}));
  held?.catch(() => {});
  channel?.postMessage({ opened: own });
  return {
    own,
    whenGone: (tab, run) => {
      if (locks) locks.request(`${name}:${tab}`, run).catch(() => {});
      else void run();
    },
    onTab: (run) => {
      opened.add(run);
    },
    tellWiped: () => channel?.postMessage({ wiped: true }),
  };
}
