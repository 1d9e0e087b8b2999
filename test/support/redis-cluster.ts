import { spawnSync } from 'node:child_process';
import { freePort } from './free-port.js';
import { APPENDING, RedisServer } from './redis-server.js';

/** Three masters that share the slots. @param more Options of the command line */
export async function startCluster(more: readonly string[] = []): Promise<readonly RedisServer[]> {
  // On a busy machine a master may not run for seconds: the others are not to take it for one that is away.
  const options = [...APPENDING, '--cluster-enabled', 'yes', '--cluster-node-timeout', '5000', ...more];
  // Its bus has a port of its own: one that is 10000 higher by default, which may not be there.
  const start = async () => RedisServer.start([...options, '--cluster-port', String(await freePort())]);
  const servers = await Promise.all([start(), start(), start()]);
  const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
  const made = spawnSync('redis-cli', ['--cluster', 'create', ...nodes, '--cluster-yes'], {
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(made.stdout + made.stderr);
  while (servers.some((server) => !/cluster_state:ok/.test(server.cli('cluster', 'info'))))
    await new Promise((resolve) => setTimeout(resolve, 50));
  return servers;
}
