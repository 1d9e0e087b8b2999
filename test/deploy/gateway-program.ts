import { runCli } from '../../server/cli/program.js';
import { processTerminal } from '../../server/cli/terminal.js';

// The command line, to be built into one file: a test that restarts gateways again and again waits for each start.
await runCli(process.argv.slice(2), processTerminal);
