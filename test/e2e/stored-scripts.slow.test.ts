import { expect } from 'chai';
import { createGateway } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { BROWSERS } from '../support/browser.js';
import { todays } from '../support/daily.js';
import { PNG } from '../support/files.js';
import { listenOnLoopback } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';

/** Says that it ran, and where: in the origin of the page that keeps the session. */
const scriptOf = (name: string) =>
  `fetch(location.origin + '/ran?${name}-' + (() => { try { localStorage.x = 1; return 'in-origin' } catch { return 'sandboxed' } })()).catch(() => {})`;
const htmlOf = (name: string) =>
  `<!doctype html><body><script>${scriptOf(name)}</script><img src=x onerror="${scriptOf(name).replaceAll('"', '&quot;')}">`;
const svgOf = (name: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="${scriptOf(name)}"><script>${scriptOf(name)}</script></svg>`;

/** Runs in the page: embeds an address in every way there is. */
const EMBED = (urls: string) => `
for (const url of ${urls}) {
  const add = (tag, field, more = {}) => {
    const element = Object.assign(document.createElement(tag), more);
    element[field] = url;
    document.body.append(element);
  };
  add('iframe', 'src');
  add('object', 'data');
  add('embed', 'src');
  add('img', 'src');
  add('script', 'src');
  add('script', 'src', { type: 'module' });
  add('link', 'href', { rel: 'stylesheet' });
  window.open(url);
  fetch(url).then(async (response) => {
    const frame = document.createElement('iframe');
    frame.src = URL.createObjectURL(await response.blob());
    document.body.append(frame);
  });
}
`;

for (const browser of todays(BROWSERS, BROWSERS.length)) {
  describe(`uploaded files in ${browser.name}`, () => {
    it('run nothing, however a page embeds or opens them', async function () {
      browser.need(this);
      const gateway = createGateway({ app: echo, embedded: true, auth: { type: 'none' } });
      closeLater(gateway, (it) => it.close());
      const ran: string[] = [];
      const served = new Map<string, number>();
      const url = await listenOnLoopback((request, response) => {
        const { pathname, search } = new URL(request.url!, 'http://x');
        if (pathname === '/') response.setHeader('Content-Type', 'text/html').end('<!doctype html><body>');
        else if (pathname === '/ran') {
          ran.push(search.slice(1));
          response.end();
        } else if (pathname === '/unprotected.html')
          response.setHeader('Content-Type', 'text/html').end(htmlOf('control.html'));
        else if (pathname === '/unprotected.svg')
          response.setHeader('Content-Type', 'image/svg+xml').end(svgOf('control.svg'));
        else {
          response.once('finish', () => served.set(pathname, (served.get(pathname) ?? 0) + 1));
          gateway.handleRequest(request, response, { basePath: '/agent' });
        }
      });
      const upload = async (body: string, mediaType: string, name: string): Promise<string> => {
        const query = new URLSearchParams({ mediaType, name });
        const answer = await fetch(`${url}/agent/files?${query}`, { method: 'POST', body });
        expect(answer.status).to.equal(201);
        return `/agent/files/${(await answer.json()).fileId}`;
      };
      const files = [
        await upload(htmlOf('html'), 'text/html', 'page.html'),
        await upload(svgOf('svg'), 'image/svg+xml', 'image.svg'),
        await upload(htmlOf('xhtml'), 'application/xhtml+xml', 'page.xhtml'),
        await upload(htmlOf('plain'), 'text/plain', 'page.html'),
        await upload(scriptOf('script'), 'text/javascript', 'script.js'),
        await upload(scriptOf('disguised'), 'application/json', 'data.js'),
      ];
      const { page } = await browser.open(url);
      const evaluate = (script: string) => page.evaluate(new Function(script) as () => void);
      await evaluate(EMBED(JSON.stringify(files)));
      // Each was asked for as often as it was embedded by what asks at once: a frame, an image, a script, the page's own fetch.
      const asked = () => files.every((path) => (served.get(path) ?? 0) >= 4);
      while (!asked()) await new Promise((resolve) => setTimeout(resolve, 20));

      // The same without protection runs, after all of them: what they were to do they would have done.
      await evaluate(EMBED('["/unprotected.html", "/unprotected.svg"]'));
      const control = ['control.html-in-origin', 'control.svg-in-origin'];
      while (!control.every((one) => ran.includes(one)))
        await new Promise((resolve) => setTimeout(resolve, 20));
      expect(ran.filter((one) => !one.startsWith('control.'))).to.deep.equal([]);
    });

    it('are shown where they are images', async function () {
      browser.need(this);
      const gateway = createGateway({ app: echo, embedded: true, auth: { type: 'none' } });
      closeLater(gateway, (it) => it.close());
      const url = await listenOnLoopback((request, response) => {
        if (request.url === '/') response.setHeader('Content-Type', 'text/html').end('<!doctype html><body>');
        else gateway.handleRequest(request, response, { basePath: '/agent' });
      });
      const answer = await fetch(`${url}/agent/files`, { method: 'POST', body: PNG });
      const { fileId } = await answer.json();
      const { page, problems } = await browser.open(url);
      const width = await page.evaluate(
        new Function(`return new Promise((resolve, reject) => {
        const image = new Image();
        image.onload = () => resolve(image.naturalWidth);
        image.onerror = () => reject(new Error('not shown'));
        image.src = '/agent/files/${fileId}';
      })`) as () => Promise<number>,
      );
      expect(width).to.equal(1);
      expect(problems).to.deep.equal([]);
    });
  });
}
