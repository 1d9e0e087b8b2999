import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { OLDEST_NODE } from '../../server/runtime/node-version.js';
import { buildPackage } from '../support/built-package.js';
import { ROOT } from '../support/program.js';

const run = promisify(execFile);

/** Runs an old Node, that of `NODE18` or of the registry, on what was built. */
function onOldNode(...args: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  const given = process.env.NODE18;
  const old = `node-${process.platform}-${process.arch}@18`;
  const [command, ...before] = given ? [given] : ['npx', '--yes', '--package', old, '--', 'node'];
  const env = { ...process.env, npm_config_loglevel: 'error', NODE_OPTIONS: '' };
  return run(command!, [...before, ...args], { cwd: ROOT, env }).then(
    ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  );
}

describe('a Node that is too old', () => {
  before(() => buildPackage());

  it('is told so in one sentence, by the package and by its command', async () => {
    const said = /^agent-session-gateway needs Node 20\.19 or newer; this is Node 18\.\d+\.\d+$/;
    const imported = await onOldNode(
      '--input-type=module',
      '--eval',
      "import('./dist/server/index.js').catch(({ message }) => console.log(message))",
    );
    expect(imported.stdout.trim()).to.match(said);
    for (const asked of ['--help', 'doctor']) {
      const command = await onOldNode('dist/server/cli/main.js', asked);
      expect(command.stderr.trim()).to.match(said);
      expect(command.code).to.equal(1);
    }
  });

  it('is one that engines of the package leaves out', () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(engines.node).to.equal(`>=${OLDEST_NODE.major}.${OLDEST_NODE.minor}.0`);
  });
});
