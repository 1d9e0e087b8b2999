#!/usr/bin/env node
// Not imported statically: the check has to come before whatever an old Node cannot load.
try {
  await import('../runtime/node-version.js');
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
const [{ runCli }, { processTerminal }] = await Promise.all([
  import('./program.js'),
  import('./terminal.js'),
]);
await runCli(process.argv.slice(2), processTerminal);
