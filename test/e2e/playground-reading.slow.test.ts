import { expect } from 'chai';
import { createGateway, defineApp } from '../../server/index.js';
import { playgroundPlugin } from '../../server/plugins/playground/index.js';
import { BROWSERS } from '../support/browser.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';

const ARABIC =
  'مرحبا بالعالم، هذا نص عربي.\n\n- النقطة الأولى\n\n  فقرة في القائمة\n\n> اقتباس\n\n| عمود |\n|---|\n| خلية |';

/** A gateway with the page, and with a conversation of these answers. @returns the address of the page */
async function start(answers: readonly string[]): Promise<string> {
  const gateway = createGateway({
    port: 0,
    app: defineApp({
      async *run(turn) {
        yield turn.text;
      },
    }),
    auth: { type: 'none' },
    clientMessages: { import: true },
    limits: { drainMs: 200 },
  }).use(playgroundPlugin({ path: '/' }));
  closeLater(gateway, (it) => it.close());
  await gateway.session('main', { anonymous: true }).import(
    answers.flatMap((text) => [
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'Go on' }] },
      { role: 'assistant' as const, content: [{ type: 'text' as const, text }] },
    ]),
  );
  const { url } = await gateway.start();
  return `${url}/#/chat/main`;
}

for (const { name, need, open } of BROWSERS) {
  describe(`a conversation of the playground, read in ${name}`, () => {
    before(async function () {
      need(this);
      await buildPlayground();
    });

    it('stands where it stood while the button to its end is there, which stands over its middle', async () => {
      const { page, problems } = await open(await start(Array(30).fill('Some words. '.repeat(60))));
      await page.waitForFunction(() => document.querySelectorAll('.message').length > 20);
      const measure = () =>
        page.evaluate(async () => {
          for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
          const box = document.querySelector('.messages')!;
          const [messages, text, composer] = ['.messages', '.message.assistant .markdown', '.composer'].map(
            (selector) => {
              const { left, width } = document.querySelector(selector)!.getBoundingClientRect();
              return { left, width };
            },
          );
          return { messages, text, composer, left: box.scrollHeight - box.clientHeight - box.scrollTop };
        });
      const atEnd = await measure();
      expect(atEnd.left).to.be.below(1);
      await page.evaluate(() => document.querySelector('.messages')!.scrollTo(0, 0));
      await page.waitForFunction(() => document.querySelector('.to-end') !== null);
      expect({ ...(await measure()), left: 0 }).to.deep.equal({ ...atEnd, left: 0 });
      const off = await page.evaluate(() => {
        const [button, box] = ['.to-end', '.messages'].map((selector) => {
          const { left, width } = document.querySelector(selector)!.getBoundingClientRect();
          return left + width / 2;
        });
        return button! - box!;
      });
      expect(Math.abs(off), 'the button is off the middle').to.be.below(1);
      await page.evaluate(() => document.querySelector<HTMLElement>('.to-end')!.click());
      await page.waitForFunction(() => document.querySelector('.to-end') === null);
      expect((await measure()).left).to.be.below(1);
      expect(problems).to.deep.equal([]);
    });

    it('sends nothing by the Enter with which an input method takes a word, in the order of Safari too', async () => {
      const { page, problems } = await open(await start(['Hello']));
      await page.waitForFunction(() => document.querySelector('.composer textarea') !== null);
      const left = await page.evaluate(async () => {
        const box = document.querySelector<HTMLTextAreaElement>('.composer textarea')!;
        const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!;
        box.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true }));
        set!.call(box, '日本語');
        box.dispatchEvent(new InputEvent('input', { bubbles: true }));
        box.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true }));
        const seen: string[] = [];
        for (const keyCode of [229, 13]) {
          const key = { key: 'Enter', keyCode, bubbles: true, cancelable: true };
          box.dispatchEvent(new KeyboardEvent('keydown', key));
          for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
          seen.push(box.value);
        }
        return seen;
      });
      expect(left).to.deep.equal(['日本語', '']);
      await page.waitForFunction(() => document.querySelector('.message.assistant .outcome') !== null);
      const sent = () => page.evaluate(() => document.querySelectorAll('.message.user').length);
      expect(await sent()).to.equal(2);
      expect(problems).to.deep.equal([]);
    });

    it('shows a message that it cannot set as the gateway has it, and all others', async () => {
      const { page } = await open(await start(['Before', `${'> '.repeat(5000)}deep`, 'Behind']));
      await page.waitForFunction(() => document.querySelectorAll('.message.assistant').length === 3);
      const texts = await page.evaluate(() =>
        [...document.querySelectorAll('.message.assistant .content')].map(({ textContent }) => textContent),
      );
      expect(texts[0]).to.contain('Before');
      expect(texts[1]).to.match(/^This message cannot be shown as it should be.*> > deep/s);
      expect(texts[2]).to.contain('Behind');
    });

    it('opens by an address that is broken, and says what is wrong with it', async () => {
      const { page, problems } = await open((await start(['Before'])).replace('main', '100%'));
      await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Playground: 100%');
      await page.waitForFunction(() => document.querySelector('.chat .composer textarea') !== null);
      expect(problems).to.deep.equal([]);
    });

    it('stands at the right where it is written from right to left', async () => {
      const { page, problems } = await open(await start([ARABIC]));
      await page.waitForFunction(() => document.querySelector('.markdown table') !== null);
      const off = await page.evaluate(() =>
        [
          ...document.querySelectorAll('.markdown > p, .markdown li p, .markdown blockquote p, .markdown td'),
        ].map((element) => {
          const text = document.createRange();
          text.selectNodeContents(element);
          const style = getComputedStyle(element);
          const right =
            element.getBoundingClientRect().right -
            Number.parseFloat(style.paddingRight) -
            Number.parseFloat(style.borderRightWidth);
          return [element.textContent, Math.abs(Math.round(right - text.getBoundingClientRect().right))];
        }),
      );
      expect(off).to.deep.equal([
        ['مرحبا بالعالم، هذا نص عربي.', 0],
        ['النقطة الأولى', 0],
        ['فقرة في القائمة', 0],
        ['اقتباس', 0],
        ['خلية', 0],
      ]);
      expect(problems).to.deep.equal([]);
    });
  });
}
