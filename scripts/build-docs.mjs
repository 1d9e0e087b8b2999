// Builds the site of docs/ into .cache/site, with search, llms.txt and llms-full.txt. A link that leads nowhere fails.
// With --if-changed only where something is newer than the site.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';
import { GROUPS, PAGE_NAMES } from '../docs/.vitepress/pages.mjs';
import { install } from './installed.mjs';
import { isNewerThan } from './newest.mjs';

const SOURCE = 'docs';
const STAGED = '.cache/docs';
const SITE = '.cache/site';
/** Files outside of docs that pages link to, as pages of the site. */
const BESIDE = {
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'security-policy.md',
  'CONTRIBUTING.md': 'contributing.md',
  'skills/agent-session-gateway/SKILL.md': 'skill.md',
};

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** A page that shows the files of an example. */
function exampleOf(path) {
  const names = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
        .map((entry) => posix.relative(path, join(entry.parentPath, entry.name)))
        .sort()
    : [''];
  const shown = names.filter((name) => !/(^|\/)(\.env|package-lock\.json)$|\.(png|ico|gif)$/.test(name));
  const blocks = shown.map((name) => {
    const file = join(path, name);
    return `## ${name || posix.basename(path)}\n\n\`\`\`\`${extname(file).slice(1) || 'text'}\n${readFileSync(file, 'utf8')}\n\`\`\`\`\n`;
  });
  return `# ${path}\n\n${blocks.join('\n')}`;
}

/** Where a link that leaves docs leads on the site. */
function leave(page, target) {
  const path = posix.normalize(posix.join(SOURCE, posix.dirname(page), target)).replace(/\/$/, '');
  if (BESIDE[path]) return `/${BESIDE[path]}`;
  if (path === 'README.md') return '/README.md';
  if (path !== 'examples' && !path.startsWith('examples/'))
    throw new Error(`docs/${page} links to ${path}, which the site does not have`);
  write(join(STAGED, `${path}.md`), path === 'examples' ? listOfExamples() : exampleOf(path));
  return `/${path}.md`;
}

function listOfExamples() {
  const names = readdirSync('examples').filter((name) => !name.startsWith('.') && !name.endsWith('.md'));
  for (const name of names) write(join(STAGED, `examples/${name}.md`), exampleOf(`examples/${name}`));
  return `# Examples\n\nEach is run by a test.\n\n${names.map((name) => `- [${name}](/examples/${name}.md)`).join('\n')}\n`;
}

/** A page as the site has it: links that leave docs lead to the pages made of what they name. */
const stage = (page, text) =>
  text.replace(/(\]\()((?:\.\.\/)+[^)#\s]*)/g, (whole, open, target) =>
    posix.join(posix.dirname(page), target).startsWith('..') ? `${open}${leave(page, target)}` : whole,
  );

const SOURCES = [SOURCE, 'examples', 'scripts/build-docs.mjs', 'package-lock.json', ...Object.keys(BESIDE)];
const LAST = join(SITE, 'llms-full.txt');
if (process.argv.includes('--if-changed') && isNewerThan(LAST, SOURCES)) process.exit();

rmSync(STAGED, { recursive: true, force: true });
rmSync(SITE, { recursive: true, force: true });
mkdirSync(STAGED, { recursive: true });
cpSync(SOURCE, STAGED, { recursive: true, filter: (path) => !path.includes('.vitepress') });
const texts = new Map(PAGE_NAMES.map((page) => [page, readFileSync(join(SOURCE, page), 'utf8')]));
for (const [page, text] of texts) write(join(STAGED, page), stage(page, text));
for (const [from, to] of Object.entries(BESIDE)) {
  // Links of these are relative to the repository.
  write(
    join(STAGED, to),
    readFileSync(from, 'utf8')
      .replaceAll('](docs/', '](')
      .replaceAll('](../../docs/', '](')
      .replace(/\]\((?:LICENSE|\.ci)[^)]*\)/g, '](/)'),
  );
}
cpSync(join(STAGED, 'README.md'), join(STAGED, 'index.md'));
rmSync(join(STAGED, 'README.md'));
for (const name of readdirSync(STAGED, { recursive: true }).filter((path) => path.endsWith('.md'))) {
  const path = join(STAGED, name);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(/\]\(([^)\s]*\/)?README\.md/g, (_, folder = '') => `](${folder}index.md`),
  );
}

install('docs/.vitepress');
const { build } = await import('../docs/.vitepress/build.mjs');
await build('docs');

const titleOf = (page, title) =>
  `- [${title}](${page.replace(/README\.md$/, 'index.md')}): ${firstSentence(texts.get(page))}`;

/** What a page says of itself: its first sentence below the title. */
function firstSentence(text) {
  const [paragraph = ''] = text.split('\n\n').filter((part) => /^(?!```)[A-Za-z`[]/.test(part));
  const plain = paragraph.replace(/\n/g, ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return (/^.*?\.(?= [A-Z]|$)/.exec(plain)?.[0] ?? plain).replace(/:$/, '.');
}

const index = GROUPS.map(
  ({ text, pages }) => `## ${text}\n\n${pages.map(([page, title]) => titleOf(page, title)).join('\n')}\n`,
);
const about =
  '# Agent Session Gateway\n\n> Sessions, exact-resume event streams and typed RPC for conversational apps, over HTTP + SSE, WebSocket and Unix sockets. A TypeScript package, `agent-session-gateway`.\n';
// The addresses in llms.txt are those of the plain pages.
for (const [page, text] of texts) write(join(SITE, page.replace(/README\.md$/, 'index.md')), text);
write(
  join(SITE, 'llms.txt'),
  `${about}\nThe pages below are Markdown; \`llms-full.txt\` is all of them in one file.\n\n${index.join('\n')}`,
);
write(
  join(SITE, 'llms-full.txt'),
  `${about}\n${[...texts].map(([page, text]) => `<!-- docs/${page} -->\n\n${text}`).join('\n')}`,
);
