#!/usr/bin/env node
// Not imported statically: the check has to come before modules that an old Node cannot load.
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
// The reader of the output may close it early, like `head`. Runs on the gateway continue.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 2));
await runCli(process.argv.slice(2), processTerminal);
