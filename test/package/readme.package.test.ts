import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { ROOT, runCommand } from '../support/program.js';
import { packPackage } from './installed.js';

/** Warnings of npm about its own configuration are no output of ours. */
const QUIET = { npm_config_loglevel: 'error' };

/** A program in the folder of the README's server, with what the README says of types. */
const CLIENT = `// client.ts
import { createClient } from 'agent-session-gateway/client';
import type { gateway } from './server.js';

const client = createClient<typeof gateway>({ baseUrl: 'http://127.0.0.1:3000/agent' });
for await (const text of client.send('main', 'Hello there').text) process.stdout.write(text);
console.log(await client.api.math.add({ a: 1, b: 2 }));
client.disconnect();
`;

/** The README's server with its commands, in order, and then the client. Its page runs in test/docs. */
function blocks(): { kind: string; code: string }[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const samples = readme.slice(readme.indexOf('\n## A server\n'), readme.indexOf('\n## Why believe it\n'));
  const fenced = [...samples.matchAll(/^```(sh|ts)\n([\s\S]*?)^```$/gm)].map(([, kind, code]) => ({
    kind: kind!,
    code: code!,
  }));
  const [, command] = /`(npx tsx server\.ts)`/.exec(samples)!;
  return [
    ...fenced,
    { kind: 'sh', code: command! },
    { kind: 'ts', code: CLIENT },
    { kind: 'sh', code: 'npx tsx client.ts' },
  ];
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
    expect(lines['server.ts']).to.equal(11);
  });
});
