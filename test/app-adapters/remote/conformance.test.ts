import { expect } from 'chai';
import { serveApp } from '../../../server/app-adapters/remote/index.js';
import { examineApp } from '../../../server/cli/app-conformance/examine.js';
import { closeLater } from '../../support/resources.js';
import { conformanceApp } from './conformance-app.js';
import { SECRET } from './scripted-app.js';

describe('the cases of conformance of apps that run elsewhere', () => {
  it('are kept by serveApp', async () => {
    const onError = (): void => {};
    const server = await serveApp({ conformance: conformanceApp }, { secret: SECRET, onError });
    closeLater(server, (it) => it.close());
    const faults: string[] = [];
    let count = 0;
    for await (const { name, fault } of examineApp({ url: server.url, secret: SECRET, patienceMs: 20_000 })) {
      count += 1;
      if (fault !== undefined) faults.push(`${name}: ${fault}`);
    }
    expect(faults).to.deep.equal([]);
    expect(count).to.be.at.least(40);
  });
});
