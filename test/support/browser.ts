import { existsSync } from 'node:fs';
import type { Context } from 'mocha';
import { type Browser, chromium, type Page } from 'playwright-core';
import { closeAtLast, closeLater } from './resources.js';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Skips the test on a machine without Chromium; where `CI` is set that is a failure. */
export function needChromium(test: Context): void {
  if (existsSync(EXECUTABLE)) return;
  if (process.env.CI) {
    throw new Error(`There is no ${EXECUTABLE}: install Debian's package chromium, or name one in CHROMIUM`);
  }
  test.skip();
}

const browsers = new Map<string, Promise<Browser>>();

/** The browser with these flags, which the tests of a file share: each has a context of its own, which shares nothing. */
async function browserWith(flags: readonly string[]): Promise<Browser> {
  const key = flags.join(' ');
  const running = await browsers.get(key)?.catch(() => undefined);
  if (running?.isConnected()) return running;
  const launched = chromium.launch({
    executablePath: EXECUTABLE,
    args: [...FLAGS, ...flags],
    // Pages that one comes back to are kept, as they are outside of tests.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    headless: true,
    timeout: 0,
  });
  browsers.set(key, launched);
  return closeAtLast(await launched, (it) => it.close());
}

/** Opens a page in headless Chromium; it is closed after the test. An error on the page fails `problems`. */
export async function openPage(
  url: string,
  flags: readonly string[] = [],
): Promise<{ readonly page: Page; readonly problems: string[] }> {
  const browser = await browserWith(flags);
  const context = closeLater(await browser.newContext(), (it) => it.close());
  // Only the time limit of the test counts.
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(url);
  return { page, problems };
}
