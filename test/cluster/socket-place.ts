import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from '../chaos/chaos-node.js';
import { freePort } from '../support/free-port.js';
import { LineNode } from '../support/line-node.js';
import { openStore } from '../support/open-store.js';
import type { Program } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { reachStore } from '../support/served-store.js';
import type { Place } from './place.js';

/** As that of Redis. */
const LEASE_MS = 2000;

/** A place in a SQLite file that another process serves. */
export async function socketPlace(): Promise<Place> {
  const directory = closeLater(mkdtempSync(join(tmpdir(), 'served-')), (path) =>
    rmSync(path, { recursive: true, force: true }),
  );
  const port = await freePort();
  let program: Program | null = null;
  const run = async (): Promise<void> => {
    program = await startProgram('test/chaos/stores/served.ts', [directory, `${port}`, `${LEASE_MS}`]);
    await program.prints(/ready/);
  };
  const stop = async (): Promise<void> => {
    await program?.kill('SIGKILL');
    program = null;
  };
  closeLater(directory, stop);
  await run();
  const beside = await openStore(reachStore(port));
  return {
    node: () => LineNode.start(`http://127.0.0.1:${port}`, reachStore),
    async holder() {
      const held = await beside.shared!.held({ limit: 9 });
      return held.find(({ name }) => name === 'main')?.holder ?? '';
    },
    stop,
    run,
  };
}
