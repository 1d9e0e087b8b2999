import * as z from 'zod';
import { isLoopback } from '../auth/address.js';
import { SHORT_SECRET } from '../auth/secrets.js';
import type { MonitorOptions } from './monitor-options.js';

const MIN_BYTES = 32;

const token = z.string().refine((text) => Buffer.byteLength(text) >= MIN_BYTES, `a token ${SHORT_SECRET}`);

/** The schema of `MonitorOptions`. */
export const monitorSchema = z.strictObject({
  port: z.number().int().min(0).max(65_535),
  host: z.string().min(1).optional(),
  token: z.union([token, z.array(token).min(1)]).optional(),
});

/** Checks the options together. Returns the problem, if there is one. */
export function checkMonitor({
  host = '127.0.0.1',
  token: given,
}: MonitorOptions): { readonly path: string; readonly message: string } | undefined {
  if (isLoopback(host) || given !== undefined) return undefined;
  const message = 'is required where others than this machine reach the monitoring port';
  return { path: 'monitor.token', message };
}
