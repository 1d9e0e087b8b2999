// Makes .cache/screenshots/states, and those in docs/images/states that docs show: the playground in each of its states, in both themes and three widths, and the components that `add` copies, as WebP.
//   npm run screenshots [-- what the names begin with]
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createGateway } from '../server/index.js';
import { buildComponentsPage } from './components-page.js';
import { app, openState, STATES, say, WIDTHS, type Width } from './playground-states.js';

/** Pictures that docs show are kept there; all of them are made for who looks at them. */
const SHOWN = 'docs/images/states';
const FOLDER = '.cache/screenshots/states';

async function open(browser: Browser, width: Width) {
  const [wide, high] = WIDTHS[width];
  const context = await browser.newContext({
    viewport: { width: wide, height: high },
    deviceScaleFactor: 2,
    ...{ reducedMotion: 'reduce', hasTouch: width === 'phone', locale: 'en-GB' },
  });
  context.setDefaultTimeout(30_000);
  return context.newPage();
}

/** The same picture as WebP, which the browser itself writes. */
const toWebP = (page: Page, png: Buffer) =>
  page.evaluate(
    async (data) => {
      const image = await createImageBitmap(await (await fetch(data)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height);
      canvas.getContext('2d')!.drawImage(image, 0, 0);
      const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.72 });
      return [...new Uint8Array(await blob.arrayBuffer())];
    },
    `data:image/png;base64,${png.toString('base64')}`,
  );

/** The components that `add` copies, on the page of docs/components.md, used by two people. */
async function showComponents(page: Page, save: (page: Page, path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'components-'));
  cpSync('templates/components', join(folder, 'src/components'), { recursive: true });
  const fileAt = await buildComponentsPage(folder);
  const gateway = createGateway({
    ...{ embedded: true, app, shareLinks: true, limits: { drainMs: 200 } },
    auth: {
      type: 'custom',
      cookies: true,
      validate: (_token, { headers }) => ({
        ...{ valid: true, user: { id: /user=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? 'nobody' } },
      }),
    },
  });
  const server = createServer((request, response) => {
    if (request.url!.startsWith('/agent'))
      return gateway.handleRequest(request, response, { basePath: '/agent' });
    const { type, body } = fileAt(request.url!);
    return response.setHeader('content-type', type).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await page.setViewportSize({ width: 1180, height: 900 });
    await page.context().addCookies([{ name: 'user', value: 'ann', url }]);
    await page.goto(url);
    const ann = gateway.session('orders', { user: { id: 'ann' } });
    await ann.send('When does my order arrive?').result;
    await say(page, 'When does my order arrive?');
    await page.locator('.runs-list [data-status=end]').waitFor();
    await ann.send('Refund my order, please').accepted;
    await say(page, 'Refund my order, please');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await say(page, 'And where is it now?');
    await page.locator('.runs-list [data-status=queued]').waitFor();
    await page.getByRole('button', { name: 'Share…' }).click();
    await page.getByLabel('User').fill('ben');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.locator('.share li').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.locator('.inbox li').nth(1).waitFor();
    await page.getByRole('heading', { name: 'Support' }).click();
    await save(page, `${FOLDER}/components.webp`);
  } finally {
    await page.context().close();
    server.closeAllConnections();
    server.close();
    await gateway.close();
    rmSync(folder, { recursive: true });
  }
}

/** The pictures of states that pages link to. */
const picturesOfDocs = (): readonly string[] =>
  ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)]
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/images\/states\/([\w.-]+\.webp)/g)])
    .map(([, name]) => name!);

execFileSync(process.execPath, ['scripts/build-playground.mjs', '--if-changed'], { stdio: 'inherit' });
const [wanted = ''] = process.argv.slice(2);
mkdirSync(FOLDER, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--force-color-profile=srgb', '--hide-scrollbars'],
});
try {
  const painter = await browser.newPage();
  const written = new Set<string>(['components.webp']);
  const shown = new Set(picturesOfDocs());
  mkdirSync(SHOWN, { recursive: true });
  // Others are not kept there.
  for (const file of readdirSync(SHOWN)) if (!shown.has(file)) rmSync(`${SHOWN}/${file}`);
  const save = async (page: Page, path: string) => {
    const picture = Buffer.from(await toWebP(painter, await page.screenshot({ fullPage: true })));
    writeFileSync(path, picture);
    const name = basename(path);
    if (shown.has(name)) writeFileSync(`${SHOWN}/${name}`, picture);
  };
  for (const name of Object.keys(STATES).filter((each) => each.startsWith(wanted))) {
    for (const width of Object.keys(WIDTHS) as Width[]) {
      const page = await open(browser, width);
      const { close } = await openState(page, name);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const file = `${name}-${width}-${colorScheme}.webp`;
        await save(page, `${FOLDER}/${file}`);
        written.add(file);
      }
      await close();
    }
    console.log(name);
  }
  // States that there are no more.
  if (wanted === '')
    for (const file of readdirSync(FOLDER)) if (!written.has(file)) rmSync(`${FOLDER}/${file}`);
  if ('components'.startsWith(wanted)) await showComponents(await open(browser, 'desk'), save);
} finally {
  await browser.close();
}
const sizes = readdirSync(FOLDER).map((name) => statSync(`${FOLDER}/${name}`).size);
console.log(`${sizes.length} pictures, ${Math.round(sizes.reduce((sum, it) => sum + it, 0) / 1024)} KiB`);
