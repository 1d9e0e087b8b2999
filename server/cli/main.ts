#!/usr/bin/env node
import { runCli } from './program.js';
import { processTerminal } from './terminal.js';

await runCli(process.argv.slice(2), processTerminal);
