import { randomId } from '../random.js';

/** The tabs of a page that share what is kept. */
export interface Tabs {
  /** This one. */
  readonly own: string;
  /** Calls back once another tab has ended, however it did. At once where tabs cannot be told from one another. */
  whenGone(tab: string, run: () => Promise<void>): void;
  /** Calls back for each other tab that there is, or is opened from now on. */
  onTab(run: (tab: string) => void): void;
  tellWiped(): void;
}

/** @param wiped Called where another tab has dropped all */
export function openTabs(name: string, wiped: () => void): Tabs {
  const own = randomId();
  const { locks } = (globalThis.navigator ?? {}) as { readonly locks?: LockManager };
  const opened = new Set<(tab: string) => void>();
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : undefined;
  // A program that runs in Node ends when it has nothing else to do.
  (channel as { unref?(): void } | undefined)?.unref?.();
  channel?.addEventListener(
    'message',
    ({ data }: MessageEvent<{ opened?: string; here?: string; wiped?: true }>) => {
      if (data.wiped) return wiped();
      if (data.opened) channel.postMessage({ here: own });
      for (const run of opened) run((data.opened ?? data.here)!);
    },
  );
  // Held for as long as this tab lives: the browser lets go of it, also where the tab crashes.
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
