import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Context } from 'mocha';
import { freePort } from '../support/free-port.js';
import { type Program, ROOT, runCommand } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

/** What is changed in the file that is shipped. */
export interface ProxySetting {
  /** Where it finds the gateways, as many as its file names. */
  readonly ports: readonly number[];
  /** Its times of a minute and more are divided by this; those for connecting stay. @default 1 */
  readonly faster?: number;
  /** Other changes of its text. @default none */
  readonly edit?: (text: string) => string;
}

/** A proxy that we ship the configuration of. */
export interface ProxyKind {
  readonly name: string;
  readonly file: string;
  /** Whether its times can be made shorter: it has some. */
  readonly hasTimes: boolean;
  /** How many gateways its file names. */
  readonly gateways: number;
  /** Skips the test on a machine without it; where `CI` is set that is a failure. */
  need(test: Context): void;
  /** Runs it from the file that is shipped, until after the test. Returns its URL. */
  start(setting: ProxySetting): Promise<string>;
}

interface Kind {
  readonly name: string;
  /** The gateways, as the file names them. @default a pair on loopback */
  readonly gateways?: readonly string[];
  readonly binary: string;
  readonly file: string;
  readonly listens: string;
  readonly times?: RegExp;
  readonly env?: (port: number, setting: ProxySetting) => Record<string, string>;
  /** The arguments that have it run from a file, without going to the background. */
  args(file: string, folder: string): readonly string[];
}

const isRoot = process.getuid?.() === 0;
const PAIR = ['127.0.0.1:18789', '127.0.0.1:18790'];

const NGINX: Kind = {
  name: 'nginx',
  binary: '/usr/sbin/nginx',
  file: 'deploy/nginx/agent-session-gateway.conf',
  listens: 'listen 80;',
  times: /(?<=_timeout )(\d+)s(?=;)/g,
  args: (file, folder) => {
    const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const main = join(folder, 'nginx.conf');
    writeFileSync(
      main,
      `${isRoot ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temp.join(' ')} include ${file}; }`,
    );
    return ['-c', main, '-p', folder, '-e', 'stderr'];
  },
};

const CLUSTER: Kind = {
  ...NGINX,
  file: 'deploy/nginx/cluster.conf',
  gateways: ['gateway-1:18789', 'gateway-2:18789', 'gateway-3:18789'],
};

const KINDS: readonly Kind[] = [
  NGINX,
  {
    name: 'HAProxy',
    binary: '/usr/sbin/haproxy',
    file: 'deploy/haproxy/haproxy.cfg',
    listens: 'bind :80',
    times: /(?<=timeout \S+ )(\d+)s$/gm,
    args: (file) => ['-db', '-f', file],
  },
  {
    name: 'Caddy',
    binary: '/usr/bin/caddy',
    file: 'deploy/caddy/Caddyfile',
    listens: '',
    env: (port, { ports }) => ({
      SITE: `http://127.0.0.1:${port}`,
      GATEWAYS: ports.map((it) => `127.0.0.1:${it}`).join(' '),
    }),
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
];

/** The text of a file of ours. */
export const shipped = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

function prepared(
  { file, listens, times, gateways = PAIR }: Kind,
  port: number,
  { ports, faster = 1, edit }: ProxySetting,
): string {
  let text = shipped(file);
  for (const [at, name] of gateways.entries()) text = text.replaceAll(name, `127.0.0.1:${ports[at]}`);
  if (listens !== '') text = text.replace(listens, listens.replace(/:?80/, `127.0.0.1:${port}`));
  if (edit) text = edit(text);
  if (times)
    text = text.replace(times, (time, seconds) =>
      Number(seconds) < 60 ? time : `${Math.round((Number(seconds) * 1000) / faster)}ms`,
    );
  return text;
}

function need({ binary, name }: Kind, test: Context): void {
  if (existsSync(binary)) return;
  const what = `There is no ${binary}: install Debian's package ${name.toLowerCase()}`;
  if (process.env.CI) throw new Error(what);
  console.log(`      ${what}`);
  test.skip();
}

async function run(
  kind: Kind,
  setting: ProxySetting,
): Promise<{ readonly program: Program; readonly port: number; readonly file: string }> {
  const folder = tempDir();
  const port = await freePort();
  const file = join(folder, 'proxy.conf');
  writeFileSync(file, prepared(kind, port, setting));
  const home = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const env = { ...home, ...kind.env?.(port, setting) };
  const program = runCommand(kind.binary, { args: kind.args(file, folder), env, cwd: folder, group: true });
  const died = program.exited.then((code) => {
    throw new Error(`${kind.name} ended with ${code}:\n${program.output}`);
  });
  died.catch(() => {});
  await Promise.race([died, listening(port)]);
  return { program, port, file };
}

const proxyOf = (kind: Kind): ProxyKind => ({
  name: kind.name,
  file: kind.file,
  hasTimes: kind.times !== undefined,
  gateways: (kind.gateways ?? PAIR).length,
  need: (test) => need(kind, test),
  start: async (setting) => `http://127.0.0.1:${(await run(kind, setting)).port}`,
});

/** Before a pair of gateways on one database. */
export const PROXIES: readonly ProxyKind[] = KINDS.map(proxyOf);
/** Before gateways that share a store. */
export const CLUSTER_PROXY: ProxyKind = proxyOf(CLUSTER);
/** Resolves when something listens on a port. */
async function listening(port: number): Promise<void> {
  for (;;) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      }).once('error', () => resolve(false));
    });
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
