import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { GatewayError } from '../../../shared/errors.js';
import { packageFile, packageVersion } from '../../runtime/package-files.js';
import { styled, type Terminal } from '../terminal.js';

const TEMPLATE = packageFile('templates', 'project');
/** npm leaves files out whose names begin with a dot, or takes them as its own; in the template another sign stands for it. */
const DOT = /^_/;

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
  const files = new Map<string, string>();
  for (const path of readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue;
    const below = relative(TEMPLATE, path.parentPath);
    const text = await readFile(join(path.parentPath, path.name), 'utf8');
    files.set(join(below, path.name.replace(DOT, '.')), text);
  }
  files.set('package.json', manifest(files.get('package.json')!, name));
  files.set('README.md', files.get('README.md')!.replace(/^# .*/, `# ${name}`));
  files.set('.env', environment(files.get('.env.example')!));

  const present = [...files.keys()].filter((path) => existsSync(join(folder, path)));
  if (present.length > 0) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: `${given === '.' ? 'This folder' : given} has ${present.join(', ')} already, and nothing is written over: name another folder`,
    });
  }
  for (const [path, text] of files) await write(join(folder, path), text, path === '.env' ? 0o600 : 0o666);

  terminal.say(styled('bold', name), `: ${files.size} files written. Next:`);
  if (folder !== process.cwd()) terminal.say('  cd ', /\s/.test(given) ? `"${given}"` : given);
  terminal.say('  npm install');
  terminal.say('  npm run dev');
}

/** What npm takes as the name of a package, made of the folder's. */
function nameOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' || name === 'node_modules' ? 'agent' : name.slice(0, 214);
}

function manifest(text: string, name: string): string {
  const manifest = JSON.parse(text);
  manifest.name = name;
  manifest.dependencies['agent-session-gateway'] = `^${packageVersion()}`;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The example, with a secret of its own, and a database where this Node has SQLite. */
function environment(example: string): string {
  const text = example.replace(/^JWT_SECRET=$/m, `JWT_SECRET=${randomBytes(32).toString('base64url')}`);
  return isBuiltin('node:sqlite') ? text : text.replace(/^GATEWAY_DB=/m, '# GATEWAY_DB=');
}

async function write(path: string, text: string, mode: number): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // Never over what has come to be there since.
    await writeFile(path, text, { flag: 'wx', mode });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `${path} cannot be written: ${code ?? 'unknown reason'}`;
    throw new GatewayError({ code: 'INVALID_REQUEST', message, cause });
  }
}
