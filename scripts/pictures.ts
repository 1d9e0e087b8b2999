// Makes the README's pictures: docs/images/cut.gif, in which a line is cut three times under a plain reader and under the client, and
// docs/images/playground-{light,dark}.png, an answer beside its trace.
//   npm run pictures
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { build } from 'esbuild';
import gifenc from 'gifenc';
import { type Browser, chromium, type Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { createDemoApp } from '../server/demo/demo-app.js';
import { createGateway } from '../server/index.js';
import { openState } from './playground-states.js';

const FOLDER = 'docs/images';
const SIZE = { width: 760, height: 330 };
/** Where the trace has room beside the conversation. */
const WIDE = { width: 1280, height: 760 };
const WORD_MS = 90;
/** How long the animation is, in ms, and how long its last frame stays. */
const LENGTH = 9_000;
const REST = 2_500;
const CUTS_AT = [2_000, 4_200, 6_400];
const EACH_MS = 180;
const COLOURS = 64;

const HTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Cut</title><style>
body { display: grid; grid-template: auto 1fr / 1fr 1fr; gap: 10px 16px; height: 100vh; box-sizing: border-box; margin: 0; padding: 14px 18px; font: 14px/1.5 system-ui, sans-serif; color: #1c1d24; background: #fff; }
header { grid-column: 1 / -1; text-align: center; }
button { padding: 6px 16px; border: 1px solid #b3261e; border-radius: 9px; background: #fff; color: #b3261e; font: inherit; font-weight: 600; }
button.pressed { background: #b3261e; color: #fff; }
section { display: grid; grid-template: auto minmax(0, 1fr) auto / 1fr; gap: 6px; min-height: 0; padding: 10px 14px; border: 1px solid #e4e4e9; border-radius: 10px; }
h2 { margin: 0; font-size: 14px; }
div { overflow: hidden; }
p { margin: 0; height: 1.5em; color: #5d5f6e; font-weight: 600; }
.bad { color: #b3261e; } .good { color: #0b7a42; }
.hole { padding: 0 4px; border-radius: 4px; background: #b3261e; color: #fff; font-size: 12px; }
.resumed { border-inline-start: 3px solid #0b7a42; margin-inline-end: 3px; }
</style><header><button type="button">✂ Cut the line</button></header>
<section data-pane><h2>A plain stream of events</h2><div></div><p>reading</p></section>
<section data-pane><h2>Agent Session Gateway</h2><div></div><p>reading</p></section>
<script type="module" src="/page.js"></script></html>`;

interface Frame {
  readonly at: number;
  readonly rgba: Uint8Array;
}

/** Two readers of one answer, on a line that can be cut. */
async function startReaders() {
  const gateway = createGateway({ embedded: true, app: createDemoApp(WORD_MS), auth: { type: 'none' } });
  const bundle = await build({
    entryPoints: ['scripts/picture-page.ts'],
    ...{ bundle: true, write: false, format: 'esm', target: 'es2022' },
  });
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const { url = '/' } = request;
    if (url.startsWith('/agent')) return gateway.handleRequest(request, response, { basePath: '/agent' });
    if (url === '/cut') {
      for (const socket of sockets) if (socket !== request.socket) socket.destroy();
      return response.end();
    }
    const isScript = url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    return response.end(isScript ? bundle.outputFiles[0]!.text : HTML);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ask: () => void gateway.session('main', { anonymous: true }).send('story'),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await gateway.close();
    },
  };
}

/** The readers while their line is cut, with the times of the frames. */
async function filmCuts(page: Page, ask: () => void): Promise<Frame[]> {
  const frames: Frame[] = [];
  const began = Date.now();
  const cuts = [...CUTS_AT];
  const button = page.getByRole('button');
  ask();
  while (Date.now() - began < LENGTH) {
    const isCut = cuts[0] !== undefined && Date.now() - began >= cuts[0];
    if (isCut) {
      cuts.shift();
      await button.click();
    }
    await button.evaluate((it, pressed) => it.classList.toggle('pressed', pressed), isCut);
    const at = Date.now() - began;
    frames.push({ at, rgba: new Uint8Array(PNG.sync.read(await page.screenshot()).data) });
    await page.waitForTimeout(Math.max(0, at + EACH_MS - (Date.now() - began)));
  }
  return frames;
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
    gif.writeFrame(shown, SIZE.width * 2, SIZE.height * 2, {
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
const browser: Browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--force-color-profile=srgb', '--hide-scrollbars'],
});
const open = (viewport: { width: number; height: number }) =>
  browser.newPage({ viewport, deviceScaleFactor: 2, reducedMotion: 'reduce', locale: 'en-GB' });
const readers = await startReaders();
try {
  const page = await open(SIZE);
  await page.goto(readers.url);
  await page.locator('body[data-plain][data-ours]').waitFor();
  const frames = await filmCuts(page, readers.ask);
  writeFileSync(`${FOLDER}/cut.gif`, gifOf(frames));
  const wide = await open(WIDE);
  const { close } = await openState(wide, 'trace');
  for (const scheme of ['light', 'dark'] as const) {
    await wide.emulateMedia({ colorScheme: scheme });
    await wide.screenshot({ path: `${FOLDER}/playground-${scheme}.png` });
  }
  await close();
  console.log(`${frames.length} frames`);
} finally {
  await browser.close();
  await readers.close();
}
