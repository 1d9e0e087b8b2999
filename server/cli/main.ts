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
// Whoever reads the output may have enough, as `head` does. What was begun on the gateway goes on.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 2));
await runCli(process.argv.slice(2), processTerminal);
