import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

/** Runs steps the way `.ci/run` runs its own: phases of lanes of steps, as code. */
function ciRun(phases: string, before = ''): { readonly status: number | null; readonly end: string } {
  const program = `import { after, check, runPhases, suite } from './scripts/ci/lanes.mjs'; ${before}; await runPhases(${phases});`;
  const args = ['--input-type=module', '-e', program];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  const what = stdout.indexOf('== what failed\n');
  return { status, end: stdout.slice(what < 0 ? stdout.trimEnd().lastIndexOf('\n') + 1 : what) };
}

const says = (kind: 'check' | 'suite', text: string, status = 0) =>
  `${kind}('sh', '-c', ${JSON.stringify(`printf '${text}'; exit ${status}`)})`;

describe('the lanes of .ci/run', () => {
  it('adds up what passed, in all lanes and phases, in our words and in those of mocha', () => {
    const [ours, theirs] = [
      says('suite', 'quick: 12 passed, 0 failed, 1 unsteady\\n'),
      says('suite', '  7 passing (1m)\\n  3 pending\\n'),
    ];
    expect(ciRun(`[[[check('true')]], [[${ours}], [${theirs}]]]`)).to.deep.equal({
      status: 0,
      end: '19 passed, 0 failed\n',
    });
  });

  it('says at its end what failed, and how, and goes on with the rest', () => {
    const failing = says('suite', 'Error: no\\nslow,quick: 7 passed, 2 failed, 0 unsteady\\n', 1);
    const { status, end } = ciRun(`[[[${failing}, ${says('suite', '  2 passing (1s)\\n')}]]]`);
    expect(status).to.equal(1);
    expect(end)
      .to.match(/Error: no\n/)
      .and.match(/9 passed, 2 failed\n$/);
    expect(end).not.to.contain('2 passing');
  });

  it('says which suite crashed, or ran nothing, and what it said last', () => {
    const crashed = ciRun(`[[[${says('suite', '  7 passing (1m)\\nout of memory\\n', 134)}]]]`);
    expect(crashed.status).to.equal(1);
    expect(crashed.end).to.match(/^== what failed\n== .*status 134, 7 passed/);
    expect(crashed.end).to.match(/out of memory\n7 passed, 1 failed\n$/);
    expect(ciRun(`[[[${says('suite', 'nothing to run\\n')}]]]`).end).to.match(
      /nothing to run\n0 passed, 1 failed\n$/,
    );
  });

  it('has a step wait for one of another lane, however that ends', () => {
    const begun = join(tempDir(), 'begun');
    const first = `const first = check('sh', '-c', 'sleep 0.2; touch ${begun}; exit 3')`;
    const second = `after(first, suite('sh', '-c', 'test -f ${begun} && echo "1 passed, 0 failed"'))`;
    const { end } = ciRun(`[[[${second}], [first]]]`, first);
    expect(end).to.match(/\n1 passed, 1 failed\n$/);
  });

  it('says which step failed, and what it said last', () => {
    const failed = says('check', 'error TS2304\\n', 2);
    const { status, end } = ciRun(`[[[${failed}], [${says('suite', '  2 passing (1s)\\n')}]]]`);
    expect(status).to.equal(1);
    expect(end).to.match(/== sh -c .*\nerror TS2304\n2 passed, 1 failed\n$/);
  });
});
