import { once } from 'node:events';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { createGateway, defineApp } from '../../server/index.js';
import { playgroundPlugin } from '../../server/plugins/playground/index.js';
import { BROWSERS } from '../support/browser.js';
import { todays } from '../support/daily.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';

const ARABIC =
  'مرحبا بالعالم، هذا نص عربي.\n\n- النقطة الأولى\n\n  فقرة في القائمة\n\n> اقتباس\n\n| عمود |\n|---|\n| خلية |';

const RICH = `# One
## Two
### Three
#### Four

Text with \\(a^2\\) and \`code\`.

- [ ] open
- [x] done

| left | middle | right |
|:--|:-:|--:|
| a | b | 1.50 |

\`\`\`ts
const a = 1;
\`\`\`

\`\`\`
plain
\`\`\`
`;

/** A gateway with the page, and with a conversation of these answers. @returns the address of the page */
async function start(answers: readonly string[]): Promise<string> {
  const gateway = createGateway({
    port: 0,
    app: defineApp({
      async *run(turn) {
        yield turn.text;
        if (turn.text === 'wait') await once(turn.signal, 'abort');
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

for (const { name, need, open } of todays(BROWSERS, BROWSERS.length)) {
  describe(`a conversation of the playground, read in ${name}`, () => {
    before(async function () {
      need(this);
      await buildPlayground();
    });

    it('stands where it stood while the button to its end is there, which stands over its middle', async () => {
      const { page, problems } = await open(await start(Array(30).fill('Some words. '.repeat(60))));
      await page.waitForFunction(() => {
        const { scrollHeight, clientHeight, scrollTop } =
          document.querySelector('.messages') ?? document.body;
        return (
          document.querySelectorAll('.message').length > 20 && scrollHeight - clientHeight - scrollTop < 1
        );
      });
      const below = await page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
      expect(below, 'the page itself is as long as the window').to.equal(0);
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
      const { page } = await open(await start(['Before', `${'> '.repeat(20_000)}deep`, 'Behind']));
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

    it('is set in type: headings by their rank, code that can be read and copied, columns and tasks', async () => {
      const { page, problems } = await open(await start([RICH]));
      await page.waitForFunction(() => document.querySelector('.markdown table') !== null);
      const all = await page.evaluate(() =>
        [...document.querySelectorAll('.message.assistant .markdown *')].map((element) => {
          const style = getComputedStyle(element);
          return {
            ...{
              tag: element.localName,
              within: element.parentElement!.localName,
              text: element.textContent,
            },
            ...{ size: Number.parseFloat(style.fontSize), align: style.textAlign, label: element.ariaLabel },
            ...{ bullet: style.listStyleType, figures: style.fontVariantNumeric },
          };
        }),
      );
      const those = (tag: RegExp, within = /./) =>
        all.filter((each) => tag.test(each.tag) && within.test(each.within));
      const headings = those(/^h\d$/).map(({ size }) => size);
      const [{ size: text, text: formula }] = those(/^p$/) as [(typeof all)[0]];
      expect(headings, 'each rank below the last, and none below the text').to.deep.equal(
        [...headings].sort((a, b) => b - a),
      );
      expect(new Set(headings).size).to.equal(4);
      expect(headings[3]).to.be.at.least(text);
      for (const { size } of those(/^code$/, /^pre$/)) expect(size / text).to.be.within(0.84, 1);
      expect(those(/^span$/, /^figcaption$/).map((it) => it.text)).to.deep.equal(['ts', 'text']);
      expect(those(/^button$/).map(({ label }) => label)).to.deep.equal(['Copy code', 'Copy code']);
      const columns = ['left', 'center', 'right'];
      expect(those(/^t[hd]$/).map(({ align }) => align)).to.deep.equal([...columns, ...columns]);
      expect(those(/^table$/)[0]!.figures).to.equal('tabular-nums');
      expect(those(/^li$/).map(({ bullet }) => bullet)).to.deep.equal(['none', 'none']);
      expect(formula).to.equal('Text with \\(a^2\\) and code.');
      expect(problems).to.deep.equal([]);
    });

    it('has its code in colours, which are loaded for it, and which change nothing of its text', async () => {
      const code = 'const text: string = "a < b & </code><b>c</b>"; // why\nreturn 12;';
      const url = await start([`\`\`\`ts\n${code}\n\`\`\`\n\n\`\`\`nonsense\n${code}\n\`\`\``, 'No code']);
      const { page, problems } = await open(url);
      await page.waitForFunction(() => document.querySelector('pre .hljs-keyword') !== null);
      const texts = await page.evaluate(() =>
        [...document.querySelectorAll('pre')].map((it) => it.textContent),
      );
      expect(texts).to.deep.equal([code, code]);
      const colours = await page.evaluate(() =>
        ['.hljs-keyword', '.hljs-string', '.hljs-comment', '.hljs-number', 'pre'].map(
          (role) => getComputedStyle(document.querySelector(role)!).color,
        ),
      );
      expect(new Set(colours).size).to.equal(5);
      expect(await page.evaluate(() => document.querySelectorAll('pre b').length)).to.equal(0);
      expect(problems).to.deep.equal([]);
    });

    it('has the mark of an answer that grows behind its last word, and not below it', async () => {
      const url = await start(['Before']);
      const { page } = await open(url);
      const client = closeLater(createClient({ baseUrl: new URL(url).origin }), (it) => it.disconnect());
      client.send('main', 'wait');
      await page.waitForFunction(() => document.querySelector('.growing .markdown p') !== null);
      const heights = await page.evaluate(() =>
        ['.growing', '.growing .markdown p'].map(
          (it) => document.querySelector(it)!.getBoundingClientRect().height,
        ),
      );
      expect(heights[0]).to.equal(heights[1]);
      expect(heights[0]).to.be.below(30);
      // An animation that each word moves would be painted as a layer of its own, which costs more than the word.
      const mark = await page.evaluate(() => {
        const { width, animationName } = getComputedStyle(
          document.querySelector('.growing .markdown p')!,
          '::after',
        );
        return { isShown: Number.parseFloat(width) > 5, animationName };
      });
      expect(mark).to.deep.equal({ isShown: true, animationName: 'none' });
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
