import type { Percentiles } from '../load/latencies.js';
import type { RigOptions } from '../rig/rig.js';

/** What one peer showed in one round. */
export interface Sample {
  /** How fast, or how large, in the unit of the key. */
  readonly value: number;
  /** Microseconds of the server's CPU for each delivery, event or request. */
  readonly cpu?: number;
  /** Bytes that a client read for each event. */
  readonly bytes?: number;
  /** Events that never came, requests that were not answered, or not well. The row is not valid then. */
  readonly lost?: number;
  /** How busy the load generator was, from 0 to 1. */
  readonly load?: number;
  /** More figures, in units of their own. */
  readonly more?: Readonly<Record<string, number>>;
}

export interface Settings extends RigOptions {
  /** Time of the server's processor for which events are produced in one round; about half as much is used before that. */
  readonly ms: number;
}

/** Milliseconds at two quantiles. */
export const millis = (name: string, { p50, p99 }: Percentiles): Record<string, number> => ({
  [`${name} p50 ms`]: p50 / 1000,
  [`${name} p99 ms`]: p99 / 1000,
});

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
