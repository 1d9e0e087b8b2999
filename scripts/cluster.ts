// Three gateways that share a Redis of their own, with the demo, behind nginx on this machine, for who wants to kill some of them.
//   npm run cluster                                 PORT and GATEWAY_TOKEN as for npm start
//   GATEWAY_DB=redis://… npm run cluster            a Redis or PostgreSQL that runs already
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, delimiter as SEPARATOR } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DemoWorkerOptions } from '../server/cli/serve/demo-worker.js';
import type { ServeReport } from '../server/cli/serve/running-service.js';
import { readSettings } from '../server/demo/settings.js';
import { isGatewayError } from '../server/index.js';
import { stopOnSignals } from '../server/runtime/stop-on-signals.js';
import { isSharedPlace, shownPlace } from '../server/runtime/store-at.js';

const GATEWAYS = 3;
const AGAIN_MS = 5000;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WORKER = join(ROOT, 'server/cli/serve/demo-worker.ts');
const CONFIG = join(ROOT, 'deploy/nginx/cluster.conf');
/** Where programs are that ordinary users have no path to. */
const FOLDERS = [...(process.env.PATH ?? '').split(SEPARATOR), '/usr/sbin', '/usr/local/sbin'];

class Plain extends Error {}

/** The path of a program that has to be installed. */
function need(program: string, debian: string): string {
  for (const folder of FOLDERS) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // In the next one, then.
    }
  }
  throw new Plain(
    `npm run cluster needs ${program}, which is not installed here: apt install ${debian}, or brew install ${debian.split('-')[0]}`,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Runs a program until this process ends, however that ends: then its input does, which a shell waits for beside it. In a group of its own,
 * so that Ctrl+C does not reach it: gateways end first.
 */
function leashed(command: string, args: readonly string[]): ChildProcess {
  const script = 'exec 3<&0; (read -r _ <&3; kill $$) 2>/dev/null & exec "$@" </dev/null 3<&-';
  return spawn('/bin/sh', ['-c', script, 'sh', command, ...args], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
}

/** A process that is started again after its end. */
class Kept {
  readonly name: string;
  readonly #start: () => ChildProcess;
  #child: ChildProcess | undefined;
  #isEnding = false;

  constructor(name: string, start: () => ChildProcess) {
    this.name = name;
    this.#start = start;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it. @param ready Resolves once it can be used. */
  async start(ready: (child: ChildProcess) => Promise<unknown>): Promise<void> {
    const child = this.#start();
    this.#child = child;
    const ended = once(child, 'exit');
    await Promise.race([
      ready(child),
      ended.then(([code, signal]) => {
        throw new Plain(`${this.name} ended at once (${signal ?? code})`);
      }),
    ]);
    void ended.then(([code, signal]) => {
      child.stdin?.end();
      if (this.#isEnding) return;
      console.log(
        `${this.name} has ended (${signal ?? code}), and is started again in ${AGAIN_MS / 1000} s.`,
      );
      setTimeout(() => {
        if (this.#isEnding) return;
        this.start(ready).then(
          () => console.log(`${this.name} is there again: kill -9 ${this.pid}`),
          (error) => console.log(String(error)),
        );
      }, AGAIN_MS);
    });
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }
}

/** Resolves once something listens on a port. */
async function listens(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await delay(50);
    } finally {
      socket.destroy();
    }
  }
}

async function redis(folder: string): Promise<{ readonly kept: Kept; readonly url: string }> {
  const program = need('redis-server', 'redis-server');
  const port = await freePort();
  const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
  const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''];
  const kept = new Kept('Redis', () => leashed(program, [...place, ...settings, '--loglevel', 'warning']));
  await kept.start(() => listens(port));
  return { kept, url: `redis://127.0.0.1:${port}` };
}

async function nginx(folder: string, port: number, ports: readonly number[]): Promise<Kept> {
  const program = need('nginx', 'nginx-light');
  let text = readFileSync(CONFIG, 'utf8').replace('listen 80;', `listen 127.0.0.1:${port};`);
  for (const [at, one] of ports.entries()) text = text.replace(`gateway-${at + 1}:18789`, `127.0.0.1:${one}`);
  writeFileSync(join(folder, 'cluster.conf'), text);
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (it) => `${it}_temp_path ${folder}/${it};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user} daemon off; pid ${folder}/nginx.pid; error_log stderr crit; events {} http { access_log off; ${temp.join(' ')} include ${folder}/cluster.conf; }`,
  );
  const kept = new Kept('nginx', () =>
    leashed(program, ['-c', join(folder, 'nginx.conf'), '-p', folder, '-e', 'stderr']),
  );
  await kept.start(() => listens(port));
  return kept;
}

async function gateway(name: string, settings: DemoWorkerOptions['settings']): Promise<Kept> {
  const options: DemoWorkerOptions = { settings, command: 'npm run cluster', isAgain: true };
  const kept = new Kept(name, () => fork(WORKER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
  await kept.start(
    (child) =>
      new Promise<void>((resolve, reject) => {
        child.on('message', (report: ServeReport<unknown>) => {
          if (report.type === 'kill') kept.kill();
          else if (report.type === 'failed') reject(new Plain(report.reason));
          else resolve();
        });
        child.send(options);
      }),
  );
  return kept;
}

async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'asg-cluster-'));
  const all: Kept[] = [];
  process.on('exit', () => {
    // The others end by themselves with their input.
    for (const kept of all) if (kept.name.startsWith('gateway')) kept.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  stopOnSignals(
    async () => {
      console.log('Stopping: the gateways let their runs finish. Ctrl+C again ends them at once.');
      const [gateways, others] = [all.filter(({ name }) => name.startsWith('gateway')), all.toReversed()];
      await Promise.all(gateways.map((kept) => kept.end()));
      for (const kept of others) await kept.end();
    },
    (error) => console.error(String(error)),
  );
  const given = readSettings(process.env);
  const isGiven = given.database !== undefined && isSharedPlace(given.database);
  // Before anything runs.
  need('nginx', 'nginx-light');
  const own = isGiven ? undefined : await redis(folder);
  if (own) all.push(own.kept);
  const database = own?.url ?? given.database;
  const settings = {
    ...given,
    database,
    files: given.files ?? join(folder, 'files'),
    host: undefined,
    warnings: [],
  };
  const ports: number[] = [];
  for (let at = 0; at < GATEWAYS; at++) {
    const port = await freePort();
    ports.push(port);
    all.push(await gateway(`gateway ${at + 1}`, { ...settings, port }));
  }
  const port = given.port || (given.port === 0 ? await freePort() : 18_789);
  const balancer = await nginx(folder, port, ports);
  all.push(balancer);
  const { admin, guest } = given.tokens;
  const url = `http://127.0.0.1:${port}`;
  const rows = all
    .filter((kept) => kept !== balancer)
    .map(({ name, pid }) => `  kill -9 ${String(pid).padEnd(8)} # ${name}`);
  console.log(`
Agent Session Gateway: the demo on three gateways that share ${shownPlace(database!)}, behind nginx.

  Open ${url}/#token=${encodeURIComponent(admin)}

  URL          ${url}
  token        ${admin}   (user demo, role admin)
  guest token  ${guest}   (user guest, no roles)

Say "story", in two windows, and kill one, in another terminal:

${rows.join('\n')}

The others take over what it did within some seconds; no window loses an event. What was killed is started again after ${AGAIN_MS / 1000} s.
The button "Kill the server" of the page kills the gateway that it happens to ask. docs/cluster.md tells more.

Stop all with Ctrl+C.
`);
}

run().catch((error: unknown) => {
  console.error(error instanceof Plain || isGatewayError(error) ? (error as Error).message : error);
  process.exit(1);
});
