import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';
import { runToEnd } from './run-cli.js';

const FLAGS = ['--site', 'chat.example.org', '--image', 'registry.test/chat:7'];

const filesIn = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();

describe('agent-session-gateway deploy', () => {
  it('writes every file that the package has for deployments, with the names that are given', async () => {
    const folder = tempDir();
    const written = new Set<string>();
    const places = ['compose', 'cluster', 'systemd', 'kubernetes', 'nginx', 'haproxy', 'caddy', 'prometheus'];
    for (const place of places) {
      const { code, output } = await runToEnd(folder, 'deploy', place, '--to', place, ...FLAGS);
      expect(code, output).to.equal(0);
      for (const path of filesIn(join(folder, place))) {
        written.add(path);
        const text = readFileSync(join(folder, place, path), 'utf8');
        expect(text, path).to.not.match(/gateway\.example|registry\.example|build: \.\./);
      }
    }
    expect([...written].sort()).to.deep.equal(filesIn(join(ROOT, 'deploy')));
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
    expect(read('nginx/nginx/cluster.conf')).to.contain('server_name chat.example.org;');
    for (const path of [
      'compose/compose.yaml',
      'cluster/compose.cluster.yaml',
      'kubernetes/kubernetes/gateway.yaml',
    ])
      expect(read(path), path).to.contain('image: registry.test/chat:7\n');
    for (const path of filesIn(folder).filter((it) => it.endsWith('.yaml')))
      for (const document of parseAllDocuments(read(path), { merge: true }))
        expect(document.errors, path).to.deep.equal([]);
    execFileSync('promtool', ['check', 'rules', join(folder, 'prometheus/prometheus/alerts.yaml')]);
    execFileSync('haproxy', ['-c', '-f', join(folder, 'haproxy/haproxy/haproxy.cfg')]);
    const env = { ...process.env, HOME: folder };
    const caddyfile = join(folder, 'caddy/caddy/Caddyfile');
    execFileSync('caddy', ['validate', '--config', caddyfile, '--adapter', 'caddyfile'], {
      env,
      stdio: 'pipe',
    });
  });

  it('writes over nothing, and knows the places', async () => {
    const folder = tempDir();
    expect((await runToEnd(folder, 'deploy', 'haproxy')).code).to.equal(0);
    const again = await runToEnd(folder, 'deploy', 'haproxy');
    expect(again.code).to.equal(2);
    expect(again.output).to.contain('deploy has haproxy/haproxy.cfg already');
    expect((await runToEnd(folder, 'deploy', 'moon')).output).to.contain('Allowed choices are compose');
  });
});
