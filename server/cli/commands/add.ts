import { existsSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { Argument, Command } from 'commander';
import { readTemplate, writeTemplate } from '../template.js';
import { styled, type Terminal } from '../terminal.js';

/** The components, each with the code that shows it in a page. */
const COMPONENTS = {
  chat: 'chat/chat.js: <Chat id="main" />',
  sessions: 'sessions/session-list.js: <SessionList current={id} onOpen={setId} />',
  inbox: 'inbox/inbox.js: <Inbox current={id} onOpen={setId} />',
  share: 'share/share.js: <Share id="main" />',
  runs: 'runs/runs.js: <Runs id="main" />',
} as const;

/** Imports of a source: what it is made of. */
const IMPORT = /\b(?:from|import)\s*\(?'([^']+)'/g;

/** `add`: copies the source of React components into a project. */
export function addCommand(terminal: Terminal): Command {
  return new Command('add')
    .description('copy accessible React components into your project, to change as you like')
    .addArgument(new Argument('<component>', 'what to copy').choices(Object.keys(COMPONENTS)))
    .option(
      '--to <folder>',
      'where its folder is written; none of its files may be there yet',
      'src/components',
    )
    .action(async (component: keyof typeof COMPONENTS, { to }: { to: string }) => {
      const { packages, stylesheets, files } = await readComponent(component);
      // Its parts may be there from another component, and are yours by then.
      for (const [path, text] of [...files]) {
        const isPart = !path.startsWith(`${component}/`);
        if (existsSync(resolve(to, path)) && (isPart || readFileSync(resolve(to, path), 'utf8') === text))
          files.delete(path);
      }
      await writeTemplate(resolve(to), to, files);
      for (const path of files.keys()) terminal.say('  ', join(to, path));
      terminal.say(styled('bold', component), `: ${files.size} files written.`);
      if (packages.length > 0) terminal.say(`They need: npm install ${packages.join(' ')}`);
      terminal.say(`Below a <GatewayProvider>, from ${join(to, COMPONENTS[component])}`);
      terminal.say('Nothing imports their stylesheets. Take them, in this order, or write your own:');
      for (const path of stylesheets) terminal.say('  ', join(to, path));
    });
}

/** A component with all that it is made of. */
export interface Component {
  /** Packages besides React and this one. */
  readonly packages: readonly string[];
  /** Each after those that it builds on. */
  readonly stylesheets: readonly string[];
  /** The text of each file, by path. */
  readonly files: Map<string, string>;
}

/** Reads a component and the folders that it takes parts from. */
export async function readComponent(name: string): Promise<Component> {
  const folders = new Set<string>();
  const packages = new Set<string>();
  const files = new Map<string, string>();
  const read = async (folder: string, within: readonly string[]): Promise<void> => {
    if (folders.has(folder) || within.includes(folder)) return;
    const own = await readTemplate('components', folder);
    for (const [path, text] of own) {
      const place = posix.join(folder, path.replaceAll('\\', '/'));
      files.set(place, text);
      for (const [, from = ''] of text.matchAll(IMPORT)) {
        if (from.startsWith('../')) await read(from.split('/')[1]!, [...within, folder]);
        else if (!/^(?:\.|react$|agent-session-gateway\/)/.test(from))
          packages.add(
            from
              .split('/')
              .slice(0, from.startsWith('@') ? 2 : 1)
              .join('/'),
          );
      }
    }
    folders.add(folder);
  };
  await read(name, []);
  const stylesheets = [...folders].flatMap((folder) =>
    [...files.keys()].filter((path) => path === `${folder}/${folder}.css`),
  );
  return { packages: [...packages].sort(), stylesheets, files };
}
