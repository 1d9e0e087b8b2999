// Writes registry, or the folder that is named: the components in the form that shadcn's command takes, each with all that it is made of.
//   npm run registry [-- folder]
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const to = process.argv[2] === undefined ? 'registry' : resolve(process.argv[2]);
process.chdir(join(import.meta.dirname, '..'));
const FROM = 'templates/components';

/** What is asked for by name; the other folders are parts of these. */
const ITEMS = {
  chat: ['Chat', 'A conversation: messages, the answer that grows, tools, files, consent, questions, drafts'],
  sessions: ['Session list', 'The sessions of a user: found, opened, begun, renamed, archived, deleted'],
  inbox: ['Inbox', 'What waits for a user in all sessions, and a switch for pushes'],
  share: ['Sharing', 'Who is there, who answers, and whom a session is shared with'],
  runs: ['Runs', 'What runs in a session, with child runs, and how the last runs ended'],
};

const IMPORT = /\b(?:from|import)\s*\(?'([^']+)'/g;

function closureOf(folder, found = new Map()) {
  if (found.has(folder)) return found;
  found.set(folder, []);
  for (const name of readdirSync(join(FROM, folder)).sort()) {
    const text = readFileSync(join(FROM, folder, name), 'utf8');
    found.get(folder).push({ name, text });
    for (const [, from] of text.matchAll(IMPORT))
      if (from.startsWith('../')) closureOf(from.split('/')[1], found);
  }
  return found;
}

/** Its projects are bundled, and write no endings of imports. */
const bundled = (text) => text.replace(/(\b(?:from|import)\s*\(?'\.{1,2}\/[^']+)\.js'/g, "$1'");

function item(name, [title, description]) {
  const folders = closureOf(name);
  const packages = new Set(['agent-session-gateway']);
  const files = [];
  for (const [folder, parts] of folders)
    for (const { name: file, text } of parts) {
      for (const [, from] of text.matchAll(IMPORT))
        if (!/^(?:\.|react$|agent-session-gateway\/)/.test(from)) packages.add(from.split('/')[0]);
      files.push({
        path: `${folder}/${file}`,
        type: file.endsWith('.css') ? 'registry:file' : 'registry:component',
        target: `components/gateway/${folder}/${file}`,
        content: bundled(text),
      });
    }
  return {
    $schema: 'https://ui.shadcn.com/schema/registry-item.json',
    ...{ name, type: 'registry:block', title, description, dependencies: [...packages].sort(), files },
  };
}

rmSync(to, { recursive: true, force: true });
mkdirSync(to, { recursive: true });
const items = Object.entries(ITEMS).map(([name, said]) => item(name, said));
const write = (name, value) => writeFileSync(join(to, name), `${JSON.stringify(value, null, 2)}\n`);
for (const each of items) write(`${each.name}.json`, each);
write('registry.json', {
  $schema: 'https://ui.shadcn.com/schema/registry.json',
  name: 'agent-session-gateway',
  homepage: JSON.parse(readFileSync('package.json', 'utf8')).homepage,
  items: items.map(({ $schema: _, files, ...rest }) => ({
    ...rest,
    files: files.map(({ content: _content, ...file }) => file),
  })),
});
