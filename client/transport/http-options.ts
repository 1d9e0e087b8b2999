/** A value, or a function that is called at each attempt. `refresh` is true after the last value was refused with 401, or runs out. */
export type Supplied<T> = T | ((context: { readonly refresh: boolean }) => T | Promise<T>);

/** How to reach a gateway over HTTP. */
export interface HttpOptions {
  /** Mount of the gateway; relative to the page in browsers. A slash at its end makes no difference. */
  readonly baseUrl: string;
  /**
   * Sent as `Authorization: Bearer`; null or an empty text sends none. Whoever needs a new one at the same time shares one call with
   * `refresh`, and there is one at most every 5 s.
   */
  readonly token?: Supplied<string | null | undefined> | undefined;
  readonly headers?: Supplied<Readonly<Record<string, string>>> | undefined;
  /** Whether cookies travel, as in `fetch`. */
  readonly credentials?: 'include' | 'omit' | 'same-origin' | undefined;
  /** The gateway's own `extraRoutes`, where it moved them; below Nest's default controller `/_gateway`. @default '' */
  readonly extraRoutes?: string | undefined;
  /** @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined;
}
