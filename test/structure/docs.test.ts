import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import GithubSlugger from 'github-slugger';
import { PAGE_NAMES } from '../../docs/.vitepress/pages.mjs';
import { EVENTS_PATH } from '../../shared/calls.js';
import type { LoggedEventType, TransientEventType } from '../../shared/events.js';
import { FILES_PATH } from '../../shared/files/contract.js';
import { HEALTH_PATHS, OPERATIONS } from '../../shared/operations.js';
import { renderOnServer } from '../client/frameworks.js';
import * as svelte from '../client/svelte/compile.js';
import * as vue from '../client/vue/compile.js';
import { linksOf, PAGES, type PageLink, proseOf, readPage } from '../support/pages.js';
import { ROOT } from '../support/program.js';
import { SHIPPED_LIMITS } from '../support/shipped-limits.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const EVENTS: Record<LoggedEventType | TransientEventType, true> = {
  message_accepted: true,
  message_start: true,
  content_delta: true,
  reasoning_delta: true,
  tool_use: true,
  tool_confirmation_required: true,
  tool_confirmation_vote: true,
  tool_confirmation_escalated: true,
  tool_confirmation_result: true,
  input_required: true,
  input_result: true,
  tool_progress: true,
  tool_result: true,
  data: true,
  steer: true,
  run_spawned: true,
  run_steered: true,
  usage_added: true,
  run_error: true,
  message_end: true,
  message_replaced: true,
  history_moved: true,
  session_updated: true,
  inbox: true,
  schedule_set: true,
  schedule_unset: true,
  schedule_fired: true,
  budget_warned: true,
  budget_reached: true,
  run_held: true,
  run_taken_up: true,
  variant: true,
  grant_added: true,
  grant_removed: true,
  control_moved: true,
  hand_off_requested: true,
  compacted: true,
  reaction: true,
  presence: true,
  channel: true,
  custom: true,
  session_closed: true,
  connected: true,
  subscribed: true,
  heartbeat: true,
  gap: true,
  snapshot: true,
  hidden: true,
  auth_expired: true,
};

/** The paths in the tarball, but for what is built. */
async function packedFiles(): Promise<string[]> {
  const args = ['pack', '--dry-run', '--ignore-scripts', '--json'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 2 ** 24 });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
}

/** The anchors of a page's headings, as GitHub, npm and the site make them. */
function anchorsOf(page: string): string[] {
  const slugger = new GithubSlugger();
  const headings = [...proseOf(readPage(page)).matchAll(/^#{1,6} (.+)$/gm)].map(([, text]) => text!);
  return headings.map((text) => slugger.slug(text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/`/g, '')));
}

/** The folders in a folder. */
const foldersIn = (path: string): string[] =>
  readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && entry.name !== 'node_modules' ? [entry.name] : [],
  );

/** The folders below a folder, at any depth. */
const foldersBelow = (path: string): string[] =>
  foldersIn(path).flatMap((name) => [name, ...foldersBelow(`${path}/${name}`)]);

/** The rows of a page's tables that begin with folders, by the names of these. */
function folderRows(page: string): Map<string, string> {
  const rows = [...readPage(page).matchAll(/^\| ((?:`[\w/-]+`(?:, )?)+) \|(.*)$/gm)];
  return new Map(
    rows.flatMap(([, names, text]) =>
      [...names!.matchAll(/`([\w-]+(?:\/[\w-]+)?)`/g)].map(([, name]) => [name!, text!]),
    ),
  );
}

describe('documentation', () => {
  it('links to pages and headings that exist', () => {
    const leads = ({ path, anchor }: PageLink): boolean =>
      existsSync(join(ROOT, path)) && (anchor === undefined || anchorsOf(path).includes(anchor));
    const dead = PAGES.flatMap((page) =>
      linksOf(page)
        .filter((link) => !leads(link))
        .map(({ path, anchor }) => `${page} → ${path}${anchor === undefined ? '' : `#${anchor}`}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('says of every folder what it is for, and names the folders in it', () => {
    const roots = ['server', 'shared', 'client', 'testing', 'playground'];
    const rows = folderRows('docs/internals.md');
    const paths = roots.flatMap((root) => [root, ...foldersIn(root).map((name) => `${root}/${name}`)]);
    const said = [...rows.keys()].filter((name) => roots.includes(name.split('/')[0]!));
    // The table has no row of its own for all of `server`.
    expect(said, 'docs/internals.md, tables of folders').to.have.members(
      paths.filter((path) => path !== 'server'),
    );
    const inner = paths.filter((path) => path.includes('/'));
    const unnamed = inner.flatMap((path) =>
      foldersBelow(path)
        .filter((name) => !rows.get(path)?.includes(`\`${name}\``))
        .map((name) => `${path}/${name}`),
    );
    expect(unnamed, 'docs/internals.md does not name them in the rows of their folders').to.deep.equal([]);
  });

  it('leads, in the package as it is packed, to what the package has as well', async () => {
    const files = await packedFiles();
    const has = (path: string): boolean => {
      // The page of a new project leads into the package as it is installed there.
      const own = path.replace(/^.*node_modules\/agent-session-gateway\//, '');
      return files.some((file) => file === own || file.startsWith(`${own}/`));
    };
    // A contributor has the repository.
    const pages = files.filter((file) => file.endsWith('.md') && file !== 'CONTRIBUTING.md');
    expect(pages).to.include.members(['README.md', 'docs/README.md']);
    const dead = pages.flatMap((page) =>
      linksOf(page)
        .filter(({ path }) => !has(path))
        .map(({ path }) => `${page} → ${path}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('lists every page once for the site, and in the index for readers of the repository', () => {
    const pages = PAGES.filter((page) => page.startsWith('docs/')).map((page) => page.slice('docs/'.length));
    expect([...PAGE_NAMES].sort()).to.deep.equal([...pages].sort());
    const linked = linksOf('docs/README.md').map(({ path }) => path);
    for (const page of pages.filter((name) => name !== 'README.md'))
      expect(linked, `docs/README.md has no link to ${page}`).to.include(`docs/${page}`);
  });

  for (const [language, title, { compiling, rendering }, health] of [
    ['svelte', 'Svelte', svelte, 'online'],
    ['vue', 'Vue', vue, 'connecting'],
  ] as const)
    it(`has ${title} blocks that compile and render`, async () => {
      const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
      const blocks = PAGES.flatMap((page) => [...read(page).matchAll(fenced)]);
      expect(blocks).to.not.be.empty;
      for (const [, code] of blocks) {
        const plugins = compiling({ [`block.${language}`]: code! });
        const block = { name: language, server: rendering(`block.${language}`), plugins };
        const html = await renderOnServer(block, { id: 'main' });
        expect(html).to.contain(`loading, ${health}`).and.to.contain('<button>Send</button>');
      }
    });

  it('lists every limit with its default', () => {
    const rows = [...read('docs/limits.md').matchAll(/^\| `([\w.]+)` \| ([\w.]+) \|/gm)];
    const all = Object.fromEntries(
      Object.entries(SHIPPED_LIMITS).flatMap(([name, value]: [string, number | object]) =>
        typeof value === 'object'
          ? Object.entries(value).map(([inner, of]) => [`${name}.${inner}`, of])
          : [[name, value]],
      ),
    );
    expect(Object.fromEntries(rows.map(([, name, value]) => [name, Number(value)]))).to.deep.equal(all);
  });

  it('lists every route and every event', () => {
    const page = read('docs/protocol.md');
    const files = [`POST ${FILES_PATH}`, `GET ${FILES_PATH}/{fileId}`];
    const open = [EVENTS_PATH, ...Object.values(HEALTH_PATHS)].map((path) => `GET ${path}`);
    const routes = Object.values(OPERATIONS).map(({ http, path }) => `${http} ${path}`);
    for (const route of [...routes, ...files, ...open]) {
      const missing = `docs/protocol.md has no row for ${route}: add it to the table of operations`;
      expect(page.includes(`\`${route}\``), missing).to.equal(true);
    }
    const rows = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].map(([, names]) => names!).join();
    for (const event of Object.keys(EVENTS))
      expect(rows.includes(`\`${event}\``), `docs/protocol.md has no row for the event ${event}`).to.equal(
        true,
      );
  });

  it('lists the routes that can be moved', () => {
    const section = read('docs/protocol.md').split('### Routes that can be moved\n')[1]!.split('\n#')[0]!;
    const said = [...section.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
    const extra = Object.entries(OPERATIONS).flatMap(([name, route]) => (route.extra ? [name] : []));
    // The page says "the document" for this one, and `files` is a route but no operation.
    const named = extra.filter((name) => name !== 'openapi');
    const all = ['extraRoutes', 'files', ...named];
    expect(said.sort(), 'docs/protocol.md, "Routes that can be moved"').to.deep.equal(all.sort());
  });
});
