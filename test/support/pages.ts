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
  /** `docs/client.md#2`: the page, and which of its blocks of TypeScript it is; `docs/client.md#js2` of those of JavaScript. */
  readonly id: string;
  readonly page: string;
  readonly language: 'ts' | 'tsx' | 'js' | 'jsx';
  readonly code: string;
  /** Where it is written to, below a folder of the page's own: as its first line says, or else `block-2.ts`. */
  readonly file: string;
}

/** The blocks of a page in a language. Those of one page may import each other by the names of their first lines. */
function fencedIn(page: string, language: 'ts' | 'js'): Block[] {
  const folder = page.replace(/^docs\/|\.md$/g, '').toLowerCase();
  const fences = { ts: 'ts|tsx|typescript', js: 'js|jsx' }[language];
  const found = readPage(page).matchAll(new RegExp(`^\`\`\`(${fences})\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return [...found].map(([, fence, code], at) => {
    const suffix = (fence === 'typescript' ? 'ts' : fence) as Block['language'];
    const named = /^\/\/ ([\w./-]+\.[jt]sx?)$/m.exec(code!.split('\n')[0]!)?.[1];
    const file = join(folder, named ?? `block-${at + 1}.${suffix}`);
    const id = `${page}#${language === 'ts' ? '' : language}${at + 1}`;
    return { id, page, language: suffix, code: code!, file };
  });
}

export const blocksOf = (page: string): Block[] => fencedIn(page, 'ts');

export const BLOCKS: readonly Block[] = PAGES.flatMap(blocksOf);

/** The blocks of JavaScript. */
export const SCRIPTS: readonly Block[] = PAGES.flatMap((page) => fencedIn(page, 'js'));
