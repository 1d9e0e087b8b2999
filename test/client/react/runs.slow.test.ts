import { expect } from 'chai';
import { runTree } from '../../../client/runs/index.js';
import { defineApp } from '../../../server/index.js';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage, untilTitled } from '../../support/browser.js';
import { connectClient } from '../../support/client.js';
import { gate } from '../../support/gate.js';
import { PRELUDE } from './pages.js';

describe('react hook of runs', () => {
  before(function () {
    needChromium(this);
  });

  it('shows the runs of a session as a tree, ends and steers them, and renders for no other session', async () => {
    const held = gate();
    const app = defineApp({
      async *run(turn) {
        if (turn.text !== 'go') {
          for (let n = 0; n < 50; n++) yield `${n} `;
          return;
        }
        const children = ['one', 'two'].map((id) =>
          turn.spawn('helper', { id, message: id, run: (child) => child.ask({ name: 'colour' }) as never }),
        );
        for (const { result } of children) await result;
        await held.passed;
      },
    });
    const url = await servePage(
      `import { useRuns } from 'agent-session-gateway/client/react';
      ${PRELUDE}
      const line = (runs) => runs.map(({ name, status, steering = [], children }) =>
        [name, status, steering.length || '', children.length ? '(' + line(children) + ')' : ''].filter(Boolean).join(' ')).join(', ');
      function Page() {
        const { runs, ...calls } = useRuns('main');
        count('page');
        Object.assign(globalThis, { runs, held: calls, all: [...(globalThis.all ?? []), calls.abort] });
        return h('h1', null, line(runs));
      }
      mount(h(Page));`,
      { app },
    );
    const other = connectClient(`${url}/agent`);
    const { page, problems } = await openPage(url);
    await untilTitled(page, '');
    const run = other.send('main', 'go');
    await untilTitled(page, 'default running (one waiting, two waiting)');
    const renders = () => page.evaluate(() => (globalThis as any).renders.page as number);
    const before = await renders();
    await other.send('other', 'count').result;
    // The page follows its own session alone.
    expect(await renders()).to.equal(before);
    await page.evaluate(() =>
      (globalThis as any).held.steer((globalThis as any).runs[0].children[0].runId, 'x'),
    );
    await untilTitled(page, 'default running (one waiting 1, two waiting)');
    await page.evaluate(() => (globalThis as any).held.abort((globalThis as any).runs[0].children[0].runId));
    await untilTitled(page, 'default running (one aborted 1, two waiting)');
    const [root] = runTree(await other.session('main').state());
    await other.session('main').abort({ runId: root!.children[1]!.runId });
    await untilTitled(page, 'default running (one aborted 1, two aborted)');
    held.open();
    await run.result;
    await untilTitled(page, '');
    const functions = await page.evaluate(() => new Set((globalThis as any).all).size);
    expect(functions).to.equal(1);
    expect(problems).to.deep.equal([]);
  });
});
