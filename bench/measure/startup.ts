import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { BENCH, BUILT_PACKAGE } from '../rig/paths.js';
import type { Sample, Settings } from './sample.js';

/** Programs that serve on `port()` and then say under which path they answer. */
const PROGRAMS: Readonly<Record<string, string>> = {
  raw: `
    const { createServer } = await import('node:http');
    const server = createServer((request, response) => response.end('ok'));
    server.listen(0, '127.0.0.1', () => answered(server.address().port, '/'));`,
  express: `
    const { default: express } = await import('express');
    const server = express().get('/', (request, response) => response.send('ok'));
    const listening = server.listen(0, '127.0.0.1', () => answered(listening.address().port, '/'));`,
  fastify: `
    const { default: fastify } = await import('fastify');
    const app = fastify().get('/', async () => 'ok');
    await app.listen({ port: 0, host: '127.0.0.1' });
    answered(app.server.address().port, '/');`,
  'socket.io': `
    const { createServer } = await import('node:http');
    const { Server } = await import('socket.io');
    const server = createServer();
    new Server(server);
    server.listen(0, '127.0.0.1', () => answered(server.address().port, '/socket.io/?EIO=4&transport=polling'));`,
  gateway: `
    const { createGateway, defineApp } = await import(process.env.PACKAGE);
    const { port } = await createGateway({ app: defineApp({ run: () => 'ok' }), port: 0 }).start();
    answered(port, '/healthz');`,
};

const ANSWERED = `
  const { get } = await import('node:http');
  const answered = (port, path) => get({ port, host: '127.0.0.1', path }, (response) => {
    const ms = performance.now();
    const { user, system } = process.cpuUsage();
    const { rss } = process.memoryUsage();
    process.stdout.write(JSON.stringify({ ms, cpu: (user + system) / 1000, rss: rss / 1048576, status: response.statusCode }));
    process.exit();
  });`;

/** From the start of a process to its first answer, Node's own start included. */
export async function measureStartup(peer: string, { against }: Settings): Promise<Sample> {
  const isOther = peer === 'other';
  const folder = isOther ? against! : BUILT_PACKAGE;
  const said = execFileSync(
    process.execPath,
    ['--input-type=module', '--eval', `${ANSWERED}${PROGRAMS[isOther ? 'gateway' : peer]}`],
    {
      cwd: BENCH,
      encoding: 'utf8',
      env: { ...process.env, PACKAGE: pathToFileURL(`${folder}/server/index.js`).href },
    },
  );
  const { ms, cpu, rss, status } = JSON.parse(said);
  return { value: ms, lost: status === 200 ? 0 : 1, more: { 'CPU ms': cpu, 'RSS MiB': rss } };
}
