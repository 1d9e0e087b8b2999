import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeLater } from './resources.js';

/** A new directory of this user alone, with a short path; removed after the test. */
export function socketDirectory(): string {
  return closeLater(mkdtempSync(join(tmpdir(), 'gw-')), (path) =>
    rmSync(path, { recursive: true, force: true }),
  );
}
