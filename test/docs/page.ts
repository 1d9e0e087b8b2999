import { dirname } from 'node:path';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { openPage } from '../support/browser.js';
import type { Block } from '../support/pages.js';
import { pathOf, RUN_CONFIG } from './module.js';
import { here, shown } from './world.js';

/** A block that is run by a page in Chromium. */
export interface Shown {
  /** What imports it; by default it is the page's script itself. */
  readonly entry?: (file: string) => string;
  /** The body of the page. */
  readonly body?: string | (() => Promise<string>);
  /** What is to be seen. */
  readonly see: (page: Page, prints: (pattern: RegExp) => Promise<void>) => Promise<void>;
}

/** Mounts a component of a React block. */
export const mounts = (element: string, imports: string) => (file: string) =>
  `
import { createRoot } from 'react-dom/client';
${imports.replace('BLOCK', file)}
createRoot(document.getElementById('root')!).render(${element});`;

export async function showPage(
  block: Block,
  { entry, body = '<div id="root"></div>', see }: Shown,
): Promise<void> {
  const path = pathOf(block);
  const file = `./${path.slice(dirname(path).length + 1)}`;
  const bundle = await build({
    stdin: {
      // Used, so that a package without side effects keeps it.
      contents: entry?.(file) ?? `import * as block from ${JSON.stringify(file)}; globalThis.block = block;`,
      resolveDir: dirname(path),
      loader: 'tsx',
    },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: {
      'process.env.NODE_ENV': '"development"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    tsconfig: RUN_CONFIG,
    logLevel: 'silent',
  });
  shown.script = bundle.outputFiles[0]!.contents;
  const inner = typeof body === 'string' ? body : await body();
  shown.html = `<!doctype html><title>Page</title>${inner}<script type="module" src="/page.js"></script>`;
  const { page, problems } = await openPage('about:blank');
  let printed = '';
  let wake = () => {};
  page.on('console', async (message) => {
    const values = await Promise.all(message.args().map((value) => value.jsonValue().catch(() => undefined)));
    printed += `${JSON.stringify(values)}\n`;
    wake();
  });
  await page.goto(here);
  await see(page, async (pattern) => {
    while (!pattern.test(printed)) await new Promise<void>((resolve) => (wake = resolve));
  });
  expect(problems).to.deep.equal([]);
}
