import { freePort } from '../../support/free-port.js';
import type { Program } from '../../support/program.js';
import { startProgram } from '../chaos-node.js';
import type { StartStore } from './store-under-test.js';

/** The store of the tests themselves: SQLite behind a TCP port. */
export const hubUnderTest: StartStore = async ({ directory, leaseMs }) => {
  const port = await freePort();
  let program: Program | null = null;
  return {
    kind: 'hub',
    port,
    get up() {
      return program !== null;
    },
    async start() {
      program = await startProgram('test/chaos/hub/server.ts', [directory, `${port}`, `${leaseMs}`]);
      await program.prints(/ready/);
    },
    async kill() {
      await program?.kill('SIGKILL');
      program = null;
    },
    remove: () => program?.kill('SIGKILL'),
  };
};
