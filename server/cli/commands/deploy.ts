import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Argument, Command } from 'commander';
import { packageFile, packageVersion } from '../../runtime/package-files.js';
import { writeTemplate } from '../template.js';
import { styled, type Terminal } from '../terminal.js';

/** The files of each place, below the folder `deploy` of the package. */
const PLACES = {
  compose: ['compose.yaml', 'server.js', 'caddy/Caddyfile'],
  cluster: ['compose.cluster.yaml', 'server.js', 'nginx/cluster.conf'],
  systemd: ['systemd/agent-session-gateway@.service', 'server.js'],
  kubernetes: ['gateway', 'network-policy', 'service-monitor'].map((name) => `kubernetes/${name}.yaml`),
  nginx: ['nginx/agent-session-gateway.conf', 'nginx/cluster.conf'],
  haproxy: ['haproxy/haproxy.cfg'],
  caddy: ['caddy/Caddyfile'],
  prometheus: ['prometheus/alerts.yaml', 'grafana/agent-session-gateway.json'],
} as const;

interface DeployOptions {
  readonly to: string;
  readonly site?: string;
  readonly image: string;
}

/** `deploy`: writes the files of a place where gateways are deployed. */
export function deployCommand(terminal: Terminal): Command {
  return new Command('deploy')
    .description('write tested files for a place where gateways run: to change as you like')
    .addArgument(new Argument('<place>', 'where').choices(Object.keys(PLACES)))
    .option('--to <folder>', 'where they are written; none of them may be there yet', 'deploy')
    .option('--site <host>', 'the public host name that they name')
    .option(
      '--image <image>',
      'the image that they name',
      `registry.example/agent-session-gateway:${packageVersion()}`,
    )
    .action(async (place: keyof typeof PLACES, { to, site, image }: DeployOptions) => {
      const files = new Map<string, string>();
      for (const path of PLACES[place])
        files.set(path, filled(await readFile(packageFile('deploy', path), 'utf8'), { site, image }));
      await writeTemplate(resolve(to), to, files);
      for (const path of files.keys()) terminal.say('  ', join(to, path));
      terminal.say(styled('bold', place), `: ${files.size} files written. Each says what has to be changed.`);
    });
}

/** A file with names in place of the examples. */
function filled(
  text: string,
  { site, image }: { readonly site: string | undefined; readonly image: string },
): string {
  const named = text
    // The repository builds its image, and a project names one.
    .replace(/^( *)build: \.\.\n(?: *image: .*\n)?/gm, (_, indent: string) => `${indent}image: ${image}\n`)
    .replace(/registry\.example\/agent-session-gateway:[\w.-]+/g, () => image);
  return site === undefined ? named : named.replaceAll('gateway.example', () => site);
}
