import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
// @ts-expect-error It has no types.
import { failuresOf, resultOf, summaryOf } from '../../scripts/peers/results.mjs';
// @ts-expect-error It has no types.
import { PEERS } from '../../scripts/peers/versions.mjs';

const ran = (text: string, status: number | null = 0) => resultOf({ stdout: text, status });

describe('the tests of the peers', () => {
  it('have versions that are written down, the oldest being the lowest that the package takes', () => {
    const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(PEERS.map(({ name }: any) => name)).to.deep.equal([
      'ai',
      'openai',
      '@langchain/langgraph',
      '@openai/agents',
    ]);
    for (const { versions } of PEERS) {
      for (const version of versions.flatMap(({ install }: any) => Object.values(install))) {
        expect(version).to.match(/^\d+\.\d+\.\d+$/);
      }
      for (const [name, version] of Object.entries(versions[0].install)) {
        const range = peerDependencies[name];
        if (range) expect(/\d+\.\d+\.\d+/.exec(range)![0], name).to.equal(version);
      }
    }
  });

  it('are counted over all legs, with what failed in which', () => {
    const legs = [
      { title: 'ai 6.0.0', ...ran('\n  12 passing (3s)\n  1 pending\n') },
      { title: 'ai 7.0.0', ...ran('  7 passing (1m)\n  1 failing\n', 2), failures: '  1) answers' },
    ];
    expect(summaryOf(legs)).to.equal('\n  19 passing\n  1 failing\n\n  ai 7.0.0\n  1) answers\n');
  });

  it('say what failed, or how they ended', () => {
    const said = '  7 passing (1m)\n  1 failing\n\n  1) answers:\n     Error: no\n';
    expect(failuresOf({ stdout: said })).to.equal('1) answers:\n     Error: no');
    expect(failuresOf({ stdout: 'Cannot find package\n' })).to.equal('Cannot find package');
  });

  it('fail where a leg ran nothing, or ended before it had said how many fail', () => {
    expect(ran('')).to.deep.equal({ passed: 0, failed: 1 });
    expect(ran('  0 passing (1ms)\n')).to.deep.equal({ passed: 0, failed: 1 });
    expect(ran('  3 passing (1ms)\n', 7)).to.deep.equal({ passed: 3, failed: 1 });
    expect(ran('  3 passing (1ms)\n', null)).to.deep.equal({ passed: 3, failed: 1 });
  });

  it('fail for a peer that there is none of', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/test-peers.mjs', 'opnai'], {
      encoding: 'utf8',
    });
    expect(status).to.equal(1);
    expect(stderr).to.contain('opnai').and.contain('@openai/agents');
  });
});
