/** A value, or a function that is called at each attempt. `refresh` is true after the last value was refused with 401, or before it runs out. */
export type Supplied<T> = T | ((context: { readonly refresh: boolean }) => T | Promise<T>);

/** How to reach a gateway over HTTP. */
export interface HttpOptions {
  /** Mount of the gateway; relative to the page in browsers. A slash at its end makes no difference. */
  readonly baseUrl: string;
  /**
   * Sent as `Authorization: Bearer`; null or an empty text sends none. Requests that need a new token at the same time share one call with `refresh`,
   * at most one every 5 s.
   */
  readonly token?: Supplied<string | null | undefined> | undefined;
  readonly headers?: Supplied<Readonly<Record<string, string>>> | undefined;
  /** Whether cookies travel, as in `fetch`. */
  readonly credentials?: 'include' | 'omit' | 'same-origin' | undefined;
  /** The gateway's own `extraRoutes`, if it moved them; below Nest's default controller `/_gateway`. @default '' */
  readonly extraRoutes?: string | undefined;
  /** @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined;
}
