interface PageTarget {
  addEventListener?(type: string, listener: (event: { readonly persisted?: boolean }) => void): void;
  removeEventListener?(type: string, listener: (event: { readonly persisted?: boolean }) => void): void;
}

interface BrowserPage extends PageTarget {
  readonly document?: PageTarget & { readonly visibilityState?: string };
}

/** The callbacks for changes of the page's network and visibility. */
export interface PageHandlers {
  /** The network is back, or the page was thawed: earlier connections may be dead without notice. */
  changed(): void;
  shown(): void;
  hidden?(): void;
}

/** Whether this is a hidden page. */
export function isHidden(): boolean {
  return (globalThis as BrowserPage).document?.visibilityState === 'hidden';
}

/** Listens to the page, if there is one. Returns a function that stops it. */
export function watchPage({ changed, shown, hidden }: PageHandlers): () => void {
  const page = globalThis as unknown as BrowserPage;
  const stops: (() => void)[] = [];
  const on = (
    target: PageTarget | undefined,
    type: string,
    listener: (event: { readonly persisted?: boolean }) => void,
  ) => {
    target?.addEventListener?.(type, listener);
    stops.push(() => target?.removeEventListener?.(type, listener));
  };
  on(page, 'online', changed);
  on(page, 'pageshow', ({ persisted }) => persisted && changed());
  on(page.document, 'resume', changed);
  on(page.document, 'visibilitychange', () => (isHidden() ? hidden?.() : shown()));
  return () => {
    for (const stop of stops) stop();
  };
}
