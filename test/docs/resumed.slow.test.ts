import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { type App, defineApp } from '../../server/index.js';
import { testGateways, textOf } from '../../testing/index.js';
import { gate } from '../support/gate.js';
import { ROOT } from '../support/program.js';

const start = testGateways(afterEach);

const textFiles = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(md|tsx?)$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name));

/** The first block of a page, as a module. */
async function firstBlock(page: string): Promise<Record<string, unknown>> {
  const [, code = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, page), 'utf8')) ?? [];
  const file = join(ROOT, '.cache/docs-resumed', `${page.replace(/\W/g, '-')}.ts`);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `${code}\nexport { main };\n`);
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}

describe('what the pages do with turn.resumed', () => {
  it('is never to say nothing in a run that was interrupted: it may have said nothing yet', () => {
    const pages = [
      'README.md',
      ...['docs', 'examples', 'templates', 'skills', 'server/demo'].flatMap(textFiles),
    ];
    const wrong = pages.filter((page) => /!turn\.resumed(?!\?)/.test(readFileSync(join(ROOT, page), 'utf8')));
    expect(wrong).to.deep.equal([]);
  });

  it('keeps the answer of a parent whose gateway was killed while its child worked', async () => {
    const { main } = (await firstBlock('docs/children.md')) as { readonly main: App };
    const [begun, go] = [gate<void>(), gate<void>()];
    const researcher = defineApp({
      resumable: true,
      async *run(turn) {
        begun.open();
        await go.passed;
        yield `Three sources on ${turn.text}.`;
      },
    });
    const gateway = await start({ apps: { main, researcher }, defaultApp: 'main' });
    const run = gateway.client().send('main', 'cats');
    await begun.passed;
    await gateway.kill();
    go.open();
    const { message, stopReason } = await run.result;
    expect(stopReason).to.equal('end');
    expect(textOf(message)).to.equal('I asked around. Three sources on cats.');
  });
});
