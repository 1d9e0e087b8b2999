import { expect } from 'chai';
import { sessionControl, sessionPresence } from '../../../client/people/index.js';
import { defineApp } from '../../../server/index.js';
import { servePage } from '../../e2e/page-host.js';
import { needChromium, openPage, untilTitled } from '../../support/browser.js';
import { connectClient } from '../../support/client.js';
import { closeLater } from '../../support/resources.js';
import { PRELUDE } from './pages.js';

const app = defineApp({
  async *run(turn) {
    yield 'Let me ask.';
    if (turn.text === 'help') turn.handOff({ reason: 'A refund' });
  },
});

/** A page, and somebody else in the same session. */
async function open(script: string) {
  const url = await servePage(
    `import { useControl, usePresence } from 'agent-session-gateway/client/react';\n${PRELUDE}${script}`,
    { app },
  );
  const other = connectClient(`${url}/agent`);
  await other.send('main', 'hello').result;
  const presence = closeLater(sessionPresence(other, 'main'), (it) => it.leave());
  return { other, presence, ...(await openPage(url)) };
}

describe('react hooks of people', () => {
  before(function () {
    needChromium(this);
  });

  it('show who has control, whoever moves it, and move it', async () => {
    const { page, other, problems } = await open(`
      function Page() {
        const { control, handOff, ...calls } = globalThis.held = useControl('main');
        return h('h1', null, [control?.reason ?? 'app', handOff?.reason].join(' '));
      }
      mount(h(StrictMode, null, h(Page)));`);
    await untilTitled(page, 'app ');
    await other.send('main', 'help').result;
    await untilTitled(page, 'app A refund');
    await page.evaluate(() => (globalThis as any).held.takeOver({ reason: 'mine' }));
    await untilTitled(page, 'mine ');
    await page.evaluate(() => (globalThis as any).held.handBack());
    await untilTitled(page, 'app ');
    await sessionControl(other, 'main').takeOver({ reason: 'theirs' });
    await untilTitled(page, 'theirs ');
    expect(problems).to.deep.equal([]);
  });

  it('show who is there and types, and say so of the page for as long as it is mounted', async () => {
    const { page, presence, problems } = await open(`
      function Who() {
        const [name, rename] = useState('Ann');
        const { members, me, typing } = usePresence('main', { name });
        Object.assign(globalThis, { rename, typing });
        const others = members.filter(({ id }) => id !== me);
        return h('h1', null, others.map(({ data, state }) => data.name + ' ' + state).join());
      }
      function Page() {
        const [shown, show] = useState(true);
        globalThis.show = show;
        return shown ? h(Who) : h('h1', null, 'nobody looks');
      }
      mount(h(StrictMode, null, h(Page)));`);
    const there = (wanted: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          const { members, me } = presence.getSnapshot();
          const others = members.filter(({ id }) => id !== me);
          const shown = others.map(({ data, state }) => `${(data as { name: string }).name} ${state}`).join();
          if (shown !== wanted) return;
          queueMicrotask(stop);
          resolve();
        };
        const stop = presence.subscribe(look);
        look();
      });
    presence.enter({ name: 'Ben' });
    await untilTitled(page, 'Ben here');
    await there('Ann here');
    presence.typing();
    await untilTitled(page, 'Ben typing');
    await page.evaluate(() => (globalThis as any).rename('Anna'));
    await there('Anna here');
    await page.evaluate(() => (globalThis as any).typing());
    await there('Anna typing');
    await page.evaluate(() => (globalThis as any).show(false));
    await there('');
    await page.evaluate(() => (globalThis as any).show(true));
    await there('Ann here');
    expect(problems).to.deep.equal([]);
  });
});
