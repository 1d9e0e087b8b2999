// Makes the README's pictures from the real page: docs/images/playground-{light,dark}.png, and cut.gif, in which an answer is cut three times.
//   npm run pictures
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import gifenc from 'gifenc';
import { type Browser, chromium, type Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { createDemoApp } from '../server/demo/demo-app.js';
import { createDemoGateway } from '../server/demo/demo-gateway.js';

const FOLDER = 'docs/images';
const SIZE = { width: 1000, height: 600 };
/** Where the timeline has room beside the conversation. */
const WIDE = { width: 1280, height: 720 };
const TOKEN = 'the-token-of-the-pictures-of-32-bytes';
const WORD_MS = 90;
/** How long the animation is, in ms, and how long its last frame stays. */
const LENGTH = 10_000;
const REST = 1_500;
const CUTS_AT = [2_500, 4_500, 6_500];
const COLOURS = 128;

interface Frame {
  readonly at: number;
  readonly rgba: Uint8Array;
}

const answered = (page: Page, many: number) =>
  page.waitForFunction(
    (count) => document.querySelectorAll('.message.assistant .outcome').length >= count,
    many,
  );

async function say(page: Page, text: string): Promise<void> {
  const box = page.getByLabel('Message', { exact: true });
  await box.fill(text);
  await box.press('Enter');
}

async function open(browser: Browser, link: string, colorScheme: 'light' | 'dark'): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme, reducedMotion: 'reduce' });
  // A machine may be busy.
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('heading', { name: 'demo' }).waitFor();
  return page;
}

/** The page while an answer is cut, with the times of its frames. */
async function filmCuts(page: Page): Promise<Frame[]> {
  const screen = await page.context().newCDPSession(page);
  const shots: { at: number; data: string }[] = [];
  screen.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    shots.push({ at: (metadata.timestamp ?? 0) * 1000, data });
    void screen.send('Page.screencastFrameAck', { sessionId });
  });
  await say(page, 'story');
  await page.locator('.growing').waitFor();
  await screen.send('Page.startScreencast', { format: 'png', everyNthFrame: 3 });
  const began = Date.now();
  const cut = page.getByRole('banner').getByRole('button', { name: 'Cut connection' });
  for (const at of CUTS_AT) {
    await page.waitForTimeout(Math.max(0, began + at - Date.now()));
    await cut.click();
  }
  await page.waitForTimeout(Math.max(0, began + LENGTH - Date.now()));
  await screen.send('Page.stopScreencast');
  // Their order is not that of their times.
  shots.sort((one, other) => one.at - other.at);
  const [first] = shots;
  return shots.map(({ at, data }) => ({
    at: at - first!.at,
    rgba: new Uint8Array(PNG.sync.read(Buffer.from(data, 'base64')).data),
  }));
}

/** An animation in which a frame has only what changed. */
function gifOf(frames: readonly Frame[]): Uint8Array {
  const { GIFEncoder, quantize, applyPalette } = gifenc;
  const sample = new Uint8Array(frames.length > 1 ? frames[0]!.rgba.length * 2 : frames[0]!.rgba.length);
  sample.set(frames[0]!.rgba);
  if (frames.length > 1) sample.set(frames.at(-1)!.rgba, frames[0]!.rgba.length);
  const palette = quantize(sample, COLOURS);
  const unchanged = palette.length;
  const gif = GIFEncoder();
  let before: Uint8Array | undefined;
  frames.forEach(({ at, rgba }, number) => {
    const pixels = applyPalette(rgba, palette);
    const shown = before
      ? pixels.map((colour, place) => (colour === before![place] ? unchanged : colour))
      : pixels;
    const delay = (frames[number + 1]?.at ?? at + REST) - at;
    gif.writeFrame(shown, SIZE.width, SIZE.height, {
      palette: [...palette, [0, 0, 0]],
      delay,
      dispose: 1,
      ...(before && { transparent: true, transparentIndex: unchanged }),
    });
    before = pixels;
  });
  gif.finish();
  return gif.bytes();
}

execFileSync(process.execPath, ['scripts/build-playground.mjs', '--if-changed'], { stdio: 'inherit' });
const gateway = createDemoGateway({
  app: createDemoApp(WORD_MS),
  tokens: { admin: TOKEN, guest: `${TOKEN}-guest` },
  port: 0,
});
const { url } = await gateway.start();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--force-color-profile=srgb', '--hide-scrollbars'],
});
try {
  const page = await open(browser, `${url}/#token=${TOKEN}`, 'light');
  const frames = await filmCuts(page);
  await answered(page, 1);
  writeFileSync(`${FOLDER}/cut.gif`, gifOf(frames));
  await page.setViewportSize(WIDE);
  await say(page, 'delete report.txt');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.getByRole('link', { name: 'Timeline' }).click();
  // The run with the cuts.
  await page.getByRole('button', { name: 'Run before' }).click();
  await page.mouse.move(0, 0);
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.screenshot({ path: `${FOLDER}/playground-${scheme}.png` });
  }
  console.log(`${frames.length} frames`);
} finally {
  await browser.close();
  await gateway.close();
}
