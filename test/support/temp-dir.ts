import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeLater } from './resources.js';

/** A directory of its own for a test; it is removed after it. */
export function tempDir(): string {
  return closeLater(mkdtempSync(join(tmpdir(), 'gateway-')), (dir) =>
    // A program that ends of itself may still put away its files.
    rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }),
  );
}
