import { defineConfig } from 'vitepress';
import { GROUPS } from './pages.mjs';
import { anchorOf } from './slug.mjs';

const link = (page) => `/${page.replace(/README\.md$/, '').replace(/\.md$/, '')}`;

/** Builds what `npm run docs` has put together in .cache/docs: these pages, and the examples and files they link to. */
export default defineConfig({
  title: 'Agent Session Gateway',
  description: 'Sessions, exact-resume event streams and typed RPC for conversational apps',
  lang: 'en',
  srcDir: '../.cache/docs',
  outDir: '../.cache/site',
  cacheDir: '../.cache/vitepress',
  base: process.env.DOCS_BASE ?? '/',
  cleanUrls: true,
  // A page that is not there fails the build.
  ignoreDeadLinks: false,
  markdown: {
    // `<name>` in a sentence is text, as it is where Markdown is read plainly.
    html: false,
    // Blocks for frameworks that this repository has not installed: readers see TypeScript, and no test compiles them.
    languageAlias: { mts: 'ts' },
    anchor: { slugify: anchorOf },
    toc: { slugify: anchorOf },
    headers: { slugify: anchorOf },
  },
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
      { text: 'Changelog', link: '/changelog' },
    ],
    sidebar: GROUPS.map(({ text, pages }) => ({
      text,
      collapsed: false,
      items: pages.map(([page, title]) => ({ text: title, link: link(page) })),
    })),
  },
});
