import { once } from 'node:events';
import { createServer } from 'node:http';
import { gateway, stores } from './gateway.js';
import { talk } from './talk.js';

await gateway.start();
const server = createServer((request, response) =>
  gateway.handleRequest(request, response, { basePath: '/agent' }),
);
await once(server.listen(0, '127.0.0.1'), 'listening');
const heard = await talk(`http://127.0.0.1:${server.address().port}/agent`);
await gateway.close();
server.close();
console.log(JSON.stringify(stores.length === 2 ? heard : null));
