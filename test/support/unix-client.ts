import { createClient } from '../../client/index.js';
import { createUnixSocketClientTransport } from '../../client/node/index.js';

/** A program that asks once over a Unix socket and lets go of nothing. */
const [socketPath = '', token] = process.argv.slice(2);
const client = createClient({ transport: createUnixSocketClientTransport({ socketPath, token }) });
console.log(JSON.stringify(await client.status()));
