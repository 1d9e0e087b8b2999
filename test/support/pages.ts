import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from './program.js';

/** What users and contributors read. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'skills/agent-session-gateway/SKILL.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => `docs/${name}`)
    .sort(),
];

export const readPage = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** Markdown without its blocks of code. */
export const proseOf = (text: string): string => text.replace(/^(`{3,})[\s\S]*?^\1$/gm, '');

/** A link of a page: the path from the root of the repository, and the heading. */
export interface PageLink {
  readonly path: string;
  readonly anchor: string | undefined;
}

/** The links of a page that lead to files. */
export function linksOf(page: string): PageLink[] {
  const found = [
    ...proseOf(readPage(page)).matchAll(
      /(?:\]\(|(?:src|srcset|href)=")(?!https?:)([^)"#\s]*)(?:#([^)"]*))?[)"]/g,
    ),
  ];
  return found.map(([, target, anchor]) => ({
    path: target ? posix.join(posix.dirname(page), target).replace(/\/$/, '') : page,
    anchor,
  }));
}

/** A block of code as a page has it. */
export interface Block {
  /** `docs/client.md#2`: the page, and which of its blocks of TypeScript it is. */
  readonly id: string;
  readonly page: string;
  readonly language: 'ts' | 'tsx';
  readonly code: string;
  /** Where it is written to, below a folder of the page's own: as its first line says, or else `block-2.ts`. */
  readonly file: string;
}

/** The blocks of TypeScript of a page. Those of one page may import each other by the names of their first lines. */
export function blocksOf(page: string): Block[] {
  const folder = page.replace(/^docs\/|\.md$/g, '').toLowerCase();
  return [...readPage(page).matchAll(/^```(ts|tsx|typescript)\n([\s\S]*?)^```$/gm)].map(
    ([, fence, code], at) => {
      const language = fence === 'tsx' ? 'tsx' : 'ts';
      const named = /^\/\/ ([\w./-]+\.tsx?)$/m.exec(code!.split('\n')[0]!)?.[1];
      const file = join(folder, named ?? `block-${at + 1}.${language}`);
      return { id: `${page}#${at + 1}`, page, language, code: code!, file };
    },
  );
}

export const BLOCKS: readonly Block[] = PAGES.flatMap(blocksOf);
