import { freePort } from '../../support/free-port.js';
import type { Program } from '../../support/program.js';
import { startProgram } from '../chaos-node.js';
import type { StartStore } from './store-under-test.js';

/** A process that serves a SQLite file to gateways, as workers have it. */
export const socketUnderTest: StartStore = async ({ directory, leaseMs }) => {
  const port = await freePort();
  let program: Program | null = null;
  return {
    kind: 'socket',
    port,
    get up() {
      return program !== null;
    },
    async start() {
      program = await startProgram('test/chaos/stores/served.ts', [directory, `${port}`, `${leaseMs}`]);
      await program.prints(/ready/);
    },
    async kill() {
      await program?.kill('SIGKILL');
      program = null;
    },
    remove: () => program?.kill('SIGKILL'),
  };
};
