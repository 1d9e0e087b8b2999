import type { Registry } from 'prom-client';

/**
 * Options of `metricsPlugin`. The page is on the monitoring port, if the gateway has one. With `token` or `addresses` it is on the public port
 * too; if both are given, a request must satisfy both.
 */
export interface MetricsPluginOptions {
  /** Path of the page, below the gateway's mount. @default '/metrics' */
  readonly path?: string;
  /** The scraper's token in `Authorization: Bearer …`, at least 32 bytes; several during a rotation. It is no token of the gateway's users. */
  readonly token?: string | readonly string[];
  /**
   * Addresses or networks such as `10.0.0.0/8` that may read the page. They are compared with the client's address as `trustProxy`
   * determines it. Behind an untrusted proxy all clients have the proxy's address.
   */
  readonly addresses?: readonly string[];
  /** The registry of the metrics. With one of your own, the page shows your metrics too. @default a new one */
  readonly registry?: Registry;
  /** Whether the page has metrics of the process: memory, CPU, event loop lag, garbage collection. @default true, unless `registry` is given */
  readonly processMetrics?: boolean;
}
