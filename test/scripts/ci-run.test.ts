import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ROOT } from '../support/program.js';

/** Runs checks the way `.ci/run` runs its own. */
function ciRun(...checks: string[]): { readonly status: number | null; readonly end: string } {
  const [tools, rest] = readFileSync(`${ROOT}.ci/run`, 'utf8').split('# The checks.\n');
  expect(rest).to.contain('suite npm test\n');
  const { status, stdout } = spawnSync('bash', ['-c', `${tools}\n${checks.join('\n')}`, `${ROOT}.ci/run`], {
    encoding: 'utf8',
  });
  const what = stdout.indexOf('== what failed\n');
  return { status, end: stdout.slice(what < 0 ? stdout.trimEnd().lastIndexOf('\n') + 1 : what) };
}

const says = (text: string, status = 0) => `sh -c ${JSON.stringify(`printf '${text}'; exit ${status}`)}`;

describe('.ci/run', () => {
  it('adds up what passed', () => {
    const suites = [says('\\n  12 passing (3s)\\n'), says('  7 passing (1m)\\n  3 pending\\n')];
    expect(ciRun('step true', ...suites.map((it) => `suite ${it}`))).to.deep.equal({
      status: 0,
      end: '19 passed, 0 failed\n',
    });
  });

  it('says at its end which test failed, and how', () => {
    const failing = says(
      '    1) answers\\n  7 passing (1m)\\n  1 failing\\n\\n  1) answers:\\n     Error: no\\n',
      1,
    );
    const { status, end } = ciRun(`suite ${failing}`, `suite ${says('  2 passing (1s)\\n')}`);
    expect(status).to.equal(1);
    expect(end).to.match(/failing\n\n {2}1\) answers:\n {5}Error: no\n9 passed, 1 failed\n$/);
    expect(end).not.to.contain('2 passing');
  });

  it('says which suite crashed, or ran nothing, and what it said last', () => {
    const crashed = ciRun(`suite ${says('  7 passing (1m)\\nout of memory\\n', 134)}`);
    expect(crashed.status).to.equal(1);
    expect(crashed.end).to.match(/^== what failed\n== failed: .*\(status 134, 7 passing\)\n/);
    expect(crashed.end).to.match(/out of memory\n7 passed, 1 failed\n$/);
    expect(ciRun(`suite ${says('nothing to run\\n')}`).end).to.match(
      /0 passing\)\nnothing to run\n0 passed, 1 failed/,
    );
  });

  it('says which step failed, and what it said last', () => {
    const { status, end } = ciRun(
      `step ${says('error TS2304\\n', 2)}`,
      `suite ${says('  2 passing (1s)\\n')}`,
    );
    expect(status).to.equal(1);
    expect(end).to.match(/== failed: sh -c .*\nerror TS2304\n2 passed, 1 failed\n$/);
  });
});
