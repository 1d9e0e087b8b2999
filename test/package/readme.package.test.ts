import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { ROOT, runCommand } from '../support/program.js';
import { packPackage } from './installed.js';

/** Warnings of npm about its own configuration are no output of ours. */
const QUIET = { npm_config_loglevel: 'error' };

/** The README's samples, in order, and the command of its text that runs the client. */
function blocks(): { kind: string; code: string }[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const samples = readme.slice(readme.indexOf('\n## A server\n'), readme.indexOf('\n## Why believe it\n'));
  const fenced = [...samples.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind, code]) => ({
    kind: kind!,
    code: code!,
  }));
  const [, command] = /, `(npx tsx [^`]* client\.ts)`:/.exec(samples)!;
  return [...fenced, { kind: 'sh', code: command! }];
}

describe('README', () => {
  it('has blocks that run when they are pasted, in order, into an empty folder with the packed package', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'asg-readme-'));
    const tarball = await packPackage(folder);
    const port = String(await freePort());
    // What is not published yet comes from the tarball; the port is one that is free here.
    const pasted = (code: string): string =>
      code
        .replace('install agent-session-gateway', `install --prefer-offline --no-audit --no-fund ${tarball}`)
        .replaceAll('3000', port);
    const shell = (code: string) =>
      runCommand('sh', { args: ['-ec', pasted(code)], cwd: folder, group: true, env: QUIET });

    const outputs: string[] = [];
    const lines: Record<string, number> = {};
    for (const { kind, code } of blocks()) {
      if (kind === 'ts') {
        const [, name] = /^\/\/ (\w+\.ts)\n/.exec(code)!;
        lines[name!] = code.split('\n').filter((line) => line.trim() !== '').length - 1;
        writeFileSync(join(folder, name!), pasted(code));
        continue;
      }
      const command = shell(code);
      if (code.includes('server.ts')) {
        const ready = `curl -s --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:${port}/agent/readyz`;
        expect(await runCommand('sh', { args: ['-c', ready] }).exited, command.output).to.equal(0);
        continue;
      }
      expect(await command.exited, `${code}\n${command.output}`).to.equal(0);
      outputs.push(command.output);
    }

    expect(outputs).to.have.length(2);
    expect(outputs[1]).to.equal('Hello there 3\n');
    expect(lines['server.ts']).to.equal(12);
    expect(lines['client.ts']).to.equal(6);
  });
});
