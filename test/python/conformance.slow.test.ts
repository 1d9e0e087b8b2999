import { expect } from 'chai';
import { examineApp } from '../../server/cli/app-conformance/examine.js';
import { describeWith } from '../support/describe-with.js';
import { NEEDS_PYTHON, PythonServer, SECRET } from './python.js';

describeWith(NEEDS_PYTHON, 'the cases of conformance of apps that run elsewhere', () => {
  it('are kept by the Python package', async () => {
    const { url } = await PythonServer.start('tests.conformance_app:app');
    const faults: string[] = [];
    let count = 0;
    for await (const { name, fault } of examineApp({ url, secret: SECRET, patienceMs: 20_000 })) {
      count += 1;
      if (fault !== undefined) faults.push(`${name}: ${fault}`);
    }
    expect(faults).to.deep.equal([]);
    expect(count).to.be.at.least(40);
  });
});
