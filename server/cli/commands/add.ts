import { join, resolve } from 'node:path';
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
      const files = new Map<string, string>();
      for (const [path, text] of await readTemplate('components', component))
        files.set(join(component, path), text);
      await writeTemplate(resolve(to), to, files);
      for (const path of files.keys()) terminal.say('  ', join(to, path));
      terminal.say(styled('bold', component), `: ${files.size} files written.`);
      terminal.say(`Below a <GatewayProvider>, from ${join(to, COMPONENTS[component])}`);
      terminal.say('Each has a stylesheet beside it, which nothing imports: take it, or write your own.');
    });
}
