import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds on a page, of whatever weight: each with the elements that it is about. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run();
    return violations.map(
      ({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html.slice(0, 120)).join(' | ')}`,
    );
  });
}
