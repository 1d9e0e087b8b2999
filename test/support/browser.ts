import { existsSync } from 'node:fs';
import type { Context } from 'mocha';
import { type Browser, chromium, type Page } from 'playwright-core';
import { FIREFOX, openFirefoxPage, type TestPage } from './firefox.js';
import { closeAtLast, closeLater } from './resources.js';
import { openWebKitPage, WEBKIT } from './webkit.js';

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
  need(test, EXECUTABLE, "Debian's package chromium, or name one in CHROMIUM");
}

function need(test: Context, executable: string, what: string): void {
  if (existsSync(executable)) return;
  if (process.env.CI) throw new Error(`There is no ${executable}: install ${what}`);
  test.skip();
}

/** A browser that the same tests are run in. */
export interface TestBrowser {
  readonly name: string;
  /** Skips the test where there is none; where `CI` is set that is a failure. */
  need(test: Context): void;
  /** Opens a page; it is closed after the test. An error on the page fails `problems`. */
  open(url: string): Promise<{ readonly page: TestPage; readonly problems: string[] }>;
}

export const BROWSERS: readonly TestBrowser[] = [
  { name: 'Chromium', need: needChromium, open: openPage },
  {
    name: 'Firefox',
    need: (test) => need(test, FIREFOX, "Debian's package firefox-esr, or name one in FIREFOX"),
    open: openFirefoxPage,
  },
  {
    name: 'WebKit',
    need: (test) => need(test, WEBKIT, "Debian's package webkit2gtk-driver, or name one in WEBKIT_DRIVER"),
    open: openWebKitPage,
  },
];

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

/** Waits until the page has that title over it. */
export const untilTitled = (page: Page, title: string) =>
  page.waitForFunction((wanted) => document.querySelector('h1')?.textContent === wanted, title);
