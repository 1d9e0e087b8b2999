import type { Registry } from 'prom-client';

/** Options of `metricsPlugin`. `token` or `addresses` has to be given; where both are, both have to hold. */
export interface MetricsPluginOptions {
  /** Path of the page, below the gateway's mount. @default '/metrics' */
  readonly path?: string;
  /** What a scraper shows as `Authorization: Bearer …`, at least 32 bytes; several while one is replaced. It is no token of the gateway's users. */
  readonly token?: string | readonly string[];
  /**
   * Who may ask: addresses, or networks such as `10.0.0.0/8`. It is the client's address as `trustProxy` has it found: behind a proxy
   * that is not trusted all clients have the proxy's.
   */
  readonly addresses?: readonly string[];
  /** Where the metrics are kept: one of your own has your metrics on the page too. @default a new one */
  readonly registry?: Registry;
  /** Whether metrics of the process are there too: memory, CPU, event loop lag, garbage collection. @default true, unless `registry` is given */
  readonly processMetrics?: boolean;
}
