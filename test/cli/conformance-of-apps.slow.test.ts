import { expect } from 'chai';
import { serveApp } from '../../server/app-adapters/remote/index.js';
import { conformanceApp } from '../app-adapters/remote/conformance-app.js';
import { SECRET } from '../app-adapters/remote/scripted-app.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { runToEnd } from './run-cli.js';

describe('agent-session-gateway conformance --app', function () {
  this.timeout(2 * 60_000);

  const examined = (url: string, secret = SECRET) =>
    runToEnd(ROOT, 'conformance', '--app', url, '--secret', secret);

  it('says of each case whether the app server keeps it', async () => {
    const good = await serveApp({ conformance: conformanceApp }, { secret: SECRET, onError: () => {} });
    closeLater(good, (it) => it.close());
    const { code, output } = await examined(good.url);
    expect(output).to.match(/kept {3}says text, and ends\n/);
    expect([code, output.match(/broken/g)]).to.deep.equal([0, null]);
    const bad = await serveApp({ conformance: { run: () => 'x' } }, { secret: SECRET });
    closeLater(bad, (it) => it.close());
    const other = await examined(bad.url);
    expect(other.code).to.equal(1);
    expect(other.output).to.include('the text from 0 on must be "Hello there", and is "x"');
  });

  it('says what is wrong with its options', async () => {
    expect((await examined('shop')).output).to.include('url: must be the address of a gateway, or --app');
    expect((await examined('http://127.0.0.1:1/', 'short')).output).to.include('--secret: must be');
  });
});
