import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
// @ts-expect-error It has no types.
import { resultOf, summaryOf } from '../../scripts/peers/results.mjs';
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
      'react',
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

  it('are counted over all legs, as .ci/run reads them', () => {
    const legs = [ran('\n  12 passing (3s)\n  1 pending\n'), ran('  7 passing (1m)\n  2 failing\n', 2)];
    expect(legs).to.deep.equal([
      { passed: 12, failed: 0 },
      { passed: 7, failed: 2 },
    ]);
    const suite = /^suite\(\) \{\n[\s\S]*?^\}/m.exec(readFileSync('.ci/run', 'utf8'))![0];
    const script = `log=$(mktemp); passed=0; failed=0\n${suite}\nsuite cat >/dev/null; rm "$log"; echo "$passed $failed"`;
    const { stdout } = spawnSync('bash', ['-c', script], { input: summaryOf(legs), encoding: 'utf8' });
    expect(stdout).to.equal('19 2\n');
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
