import { randomBytes } from 'node:crypto';
import { isBuiltin } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { Command } from 'commander';
import { cut } from '../../../shared/cut.js';
import { packageVersion } from '../../runtime/package-files.js';
import { readTemplate, writeTemplate } from '../template.js';
import { styled, type Terminal } from '../terminal.js';
import { readComponent } from './add.js';

/** `init`: writes a small project with a server, a page and tests. */
export function initCommand(terminal: Terminal): Command {
  return new Command('init')
    .description('write a small TypeScript project: a server, a React page, tests, a Dockerfile')
    .argument('[folder]', 'where it is written; none of its files may be there yet', '.')
    .addHelpText('after', '\nThe last part of the folder is the name of the project.')
    .action((folder: string) => init(folder, terminal));
}

async function init(given: string, terminal: Terminal): Promise<void> {
  const folder = resolve(given);
  const name = nameOf(folder);
  const files = await readTemplate('project');
  // The same files that `add chat` copies.
  for (const [path, text] of (await readComponent('chat')).files)
    files.set(join('web', 'components', path), text);
  files.set('package.json', manifest(files.get('package.json')!, name));
  files.set('README.md', files.get('README.md')!.replace(/^# .*/, `# ${name}`));
  files.set('.env', environment(files.get('.env.example')!));
  await writeTemplate(folder, given, files);

  terminal.say(styled('bold', name), `: ${files.size} files written. Next:`);
  if (folder !== process.cwd()) terminal.say('  cd ', /\s/.test(given) ? `"${given}"` : given);
  terminal.say('  npm install');
  terminal.say('  npm run dev');
}

/** A valid package name for npm, made from the folder's name. */
function nameOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' || name === 'node_modules' ? 'agent' : cut(name, 214);
}

function manifest(text: string, name: string): string {
  const manifest = JSON.parse(text);
  manifest.name = name;
  manifest.dependencies['agent-session-gateway'] = `^${packageVersion()}`;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Fills the example with a new secret, and with a database if this Node has SQLite. */
function environment(example: string): string {
  const text = example.replace(/^JWT_SECRET=$/m, `JWT_SECRET=${randomBytes(32).toString('base64url')}`);
  return isBuiltin('node:sqlite') ? text : text.replace(/^GATEWAY_DB=/m, '# GATEWAY_DB=');
}
