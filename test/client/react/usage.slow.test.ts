import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage, untilTitled } from '../../support/browser.js';
import { connectClient } from '../../support/client.js';
import { PRELUDE } from './pages.js';

const app = defineApp({
  async *run(turn) {
    await turn.usage({ model: 'm', inputTokens: Number(turn.text), cost: 0.5, currency: 'USD' });
    yield 'Done.';
  },
});

describe('the react hook of usage', () => {
  before(function () {
    needChromium(this);
  });

  it('shows what the user has used, again whenever an answer of the session ends, by the fields that are asked for', async () => {
    const url = await servePage(
      `import { useUsage } from 'agent-session-gateway/client/react';\n${PRELUDE}
      function Page() {
        const [by, ask] = useState([]);
        globalThis.ask = ask;
        const { usage, isLoading } = useUsage({ by, sessionId: 'main' });
        const rows = usage.map(({ model = 'all', inputTokens, cost }) => [model, inputTokens, cost].join(' '));
        return h('h1', null, isLoading ? 'loading' : rows.join() || 'nothing');
      }
      mount(h(StrictMode, null, h(Page)));`,
      { app },
    );
    const { page, problems } = await openPage(url);
    await untilTitled(page, 'nothing');
    const other = connectClient(`${url}/agent`);
    await other.send('main', '10').result;
    await untilTitled(page, 'all 10 0.5');
    await other.send('main', '5').result;
    await untilTitled(page, 'all 15 1');
    await page.evaluate(() => (globalThis as any).ask(['model']));
    await untilTitled(page, 'm 15 1');
    expect(problems).to.deep.equal([]);
  });
});
