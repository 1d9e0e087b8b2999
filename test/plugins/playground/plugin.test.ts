import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import express from 'express';
import {
  createGateway,
  defineApp,
  type GatewayConfig,
  GatewayError,
  gatewayMiddleware,
} from '../../../server/index.js';
import { type PlaygroundOptions, playgroundPlugin } from '../../../server/plugins/playground/index.js';
import { buildPlayground, playgroundFiles } from '../../support/playground.js';
import { ROOT } from '../../support/program.js';
import { closeLater } from '../../support/resources.js';

const TOKEN = 'a-token-of-the-playground-of-32-bytes';
const app = defineApp({
  async *run(turn) {
    yield turn.text;
  },
});
const CONFIG: GatewayConfig = { app, auth: { type: 'token', token: TOKEN } };

async function serve(options?: PlaygroundOptions): Promise<string> {
  const gateway = createGateway({ ...CONFIG, port: 0 }).use(playgroundPlugin(options));
  closeLater(gateway, (it) => it.close());
  return (await gateway.start()).url!;
}

/** Asks without following redirects. */
const ask = (url: string, init: RequestInit = {}) => fetch(url, { redirect: 'manual', ...init });

/** The file that the page loads when it shows code. */
const COLOURS = /\/highlight-[^/]*\.js$/;

/** Views that are loaded when they are shown. */
const VIEWS = /\/(?:calls?|commands|network|notices|reference|schedules|share|sign-in|timeline)-[^/]*\.js$/;

/** What the page itself asks for, once it needs it. */
const LATER = new RegExp(`${COLOURS.source}|${VIEWS.source}|\\/(?:createLucideIcon)-[^/]*\\.js$`);

describe('the playground', () => {
  before(buildPlayground);

  it('is served with its files to whoever asks, and nothing of the gateway is without credentials', async () => {
    const url = await serve();
    const page = await ask(`${url}/playground/`);
    expect(page.status).to.equal(200);
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    const html = await page.text();
    const found = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path]) => path!);
    const files = playgroundFiles().filter((path) => path !== 'index.html');
    // Colours of code and views are asked for by the page itself; what they share with it comes with it or with them.
    expect(files).to.include.members(found);
    expect(files.filter((path) => !found.includes(path) && !LATER.test(path))).to.deep.equal([]);
    for (const path of files) {
      const file = await ask(`${url}/playground/${path}`);
      expect(file.status, path).to.equal(200);
      expect(file.headers.get('cache-control')).to.contain('immutable');
      expect(Buffer.from(await file.arrayBuffer())).to.deep.equal(
        readFileSync(join(ROOT, 'dist/playground', path)),
      );
    }
    for (const path of ['/status', '/sessions', '/methods', '/events?sessionId=main', '/openapi.json'])
      expect((await ask(url + path)).status, path).to.equal(401);
  });

  it('has a strict policy, which its own HTML keeps', async () => {
    const response = await ask(`${await serve()}/playground/`);
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).to.contain("default-src 'none'").and.contain("script-src 'self'");
    expect(policy).to.not.match(/unsafe|\*|https?:/);
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
    const html = await response.text();
    expect(html).to.not.match(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });

  it('comes compressed, and answers HEAD and nothing that changes', async () => {
    const url = `${await serve()}/playground/`;
    const plain = await ask(url, { headers: { 'accept-encoding': 'identity' } });
    const packed = await ask(url, { headers: { 'accept-encoding': 'gzip' } });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(packed.headers.get('content-encoding')).to.equal('gzip');
    expect(await packed.text()).to.equal(await plain.text());
    const head = await ask(url, { method: 'HEAD' });
    expect(head.status).to.equal(200);
    expect(await head.text()).to.equal('');
    const post = await ask(url, { method: 'POST' });
    expect(post.status).to.equal(405);
    expect(post.headers.get('allow')).to.equal('GET, HEAD');
  });

  it('is small, and names no other host', () => {
    let size = 0;
    let colours = 0;
    let views = 0;
    for (const path of playgroundFiles()) {
      const bytes = readFileSync(join(ROOT, 'dist/playground', path));
      // Colours of code are loaded when there is some, and each view when it is shown.
      const { length } = gzipSync(bytes, { level: 9 });
      if (COLOURS.test(path)) colours += length;
      else if (VIEWS.test(path)) views += length;
      else size += length;
      if (!/\.(?:css|html)$/.test(path)) continue;
      // The icon names its vocabulary.
      const text = bytes.toString().replaceAll('http://www.w3.org/2000/svg', '');
      expect(text, path).to.not.match(/https?:\/\//);
    }
    expect(size)
      .to.be.at.most(150_000)
      .and.above(90 * 1024);
    expect(views).to.be.within(5000, 24_000);
    expect(colours).to.be.within(10_000, 24_000);
  });

  it('is at the mount itself, and leaves every other path to the host', async () => {
    const url = await serve({ path: '/' });
    expect(await (await ask(`${url}/`)).text()).to.contain('data-gateway="."');
    const [asset] = playgroundFiles().filter((path) => path !== 'index.html');
    expect((await ask(`${url}/${asset}`)).status).to.equal(200);
    for (const path of [
      '/index.html',
      '/other',
      '/_playground',
      '/_playground/',
      '/_playground/..%2findex.html',
    ])
      expect((await ask(url + path)).status, path).to.equal(404);
  });

  it('is nowhere without the plugin', async () => {
    const gateway = closeLater(createGateway({ ...CONFIG, port: 0 }), (it) => it.close());
    const { url } = await gateway.start();
    for (const path of ['/', '/playground/', '/playground'])
      expect((await ask(url + path)).status).to.equal(404);
  });

  it('sends its folder’s readers to the folder, below any mount', async () => {
    const url = await serve({ path: '/tools/try' });
    const bare = await ask(`${url}/tools/try`);
    expect(bare.status).to.equal(308);
    expect(new URL(bare.headers.get('location')!, `${url}/tools/try`).pathname).to.equal('/tools/try/');
    expect(await (await ask(`${url}/tools/try/`)).text()).to.contain('data-gateway="../.."');

    const router = gatewayMiddleware(CONFIG);
    router.gateway.use(playgroundPlugin({ path: '/' }));
    const host = express()
      .use('/deep/agent', router)
      .use((_request, response) => void response.status(418).end());
    const server = createServer(host);
    closeLater(server, (it) => it.close());
    closeLater(router.gateway, (it) => it.close());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const embedded = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const mount = await ask(`${embedded}/deep/agent?x=1`);
    expect(mount.status).to.equal(308);
    expect(new URL(mount.headers.get('location')!, `${embedded}/deep/agent`).href).to.equal(
      `${embedded}/deep/agent/`,
    );
    expect((await ask(`${embedded}/deep/agent/`)).status).to.equal(200);
    expect((await ask(`${embedded}/deep/agent/nothing`)).status).to.equal(418);
  });

  it('is mounted below a path that its host strips nothing of', async () => {
    const gateway = createGateway({ ...CONFIG, embedded: true }).use(playgroundPlugin({ path: '/' }));
    const server = createServer((request, response) =>
      gateway.handleRequest(request, response, { basePath: '/agent' }),
    );
    closeLater(server, (it) => it.close());
    closeLater(gateway, (it) => it.close());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
    const bare = await ask(url);
    expect(bare.status).to.equal(308);
    expect(new URL(bare.headers.get('location')!, url).href).to.equal(`${url}/`);
    expect((await ask(`${url}/`)).status).to.equal(200);
  });

  it('tells its page where the gateway has moved its routes, and refuses one that has dropped them', async () => {
    const gateway = createGateway({ ...CONFIG, port: 0, extraRoutes: '/_gateway' }).use(playgroundPlugin());
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    expect(await (await ask(`${url}/playground/`)).text()).to.contain('data-extra-routes="/_gateway"');
    expect(() => createGateway({ ...CONFIG, extraRoutes: false }).use(playgroundPlugin())).to.throw(
      'playgroundPlugin needs the routes that `extraRoutes: false` drops',
    );
  });

  it('ends the server for who may, where the host has that, and is told nothing of it elsewhere', async () => {
    const killed: string[] = [];
    const kill = ({ id }: { readonly id: string }) => {
      if (killed.length > 0) throw new GatewayError({ code: 'ACCESS_DENIED', message: 'Once is enough' });
      killed.push(id);
    };
    const url = await serve({ kill });
    expect(await (await ask(`${url}/playground/`)).text()).to.contain('data-can-kill="true"');
    const post = (at: string, headers = {}) => ask(`${at}/playground/_kill`, { method: 'POST', headers });
    const authorization = `Bearer ${TOKEN}`;
    expect((await post(url)).status).to.equal(401);
    expect((await post(url, { authorization: 'Bearer another' })).status).to.equal(401);
    expect((await post(url, { authorization, origin: 'https://evil.example' })).status).to.equal(403);
    expect((await ask(`${url}/playground/_kill`, { headers: { authorization } })).status).to.equal(405);
    expect(killed).to.deep.equal([]);
    expect((await post(url, { authorization })).status).to.equal(202);
    expect(killed).to.deep.equal(['token']);
    const refused = await post(url, { authorization });
    expect(refused.status).to.equal(403);
    expect((await refused.json()).error.message).to.equal('Once is enough');

    for (const options of [{}, { kill, readOnly: true }]) {
      const without = await serve(options);
      expect(await (await ask(`${without}/playground/`)).text()).to.contain('data-can-kill="false"');
      expect((await post(without, { authorization })).status).to.be.oneOf([404, 405]);
    }
    expect(killed).to.have.length(1);
  });

  it('says which option is wrong', () => {
    expect(() => playgroundPlugin({ kill: true as never })).to.throw('playgroundPlugin.kill must be');
    for (const path of ['', 'playground', '/a b', '/a/', '//a', 7])
      expect(() => playgroundPlugin({ path: path as string }))
        .to.throw('playgroundPlugin.path must be like')
        .with.property('code', 'INVALID_REQUEST');
    expect(() => playgroundPlugin({ readOnly: 'yes' as never })).to.throw(
      'playgroundPlugin.readOnly must be',
    );
  });
});
