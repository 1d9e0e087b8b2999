import { once } from 'node:events';
import { resolve } from 'node:path';
import { GatewayError } from 'agent-session-gateway/client';
import { Command, Option } from 'commander';
import { askOperator, type OperatorDatabase } from '../operator/ask-operator.js';
import type { Whose } from '../operator/operate.js';
import { wholeStore } from '../operator/whole-store.js';
import type { Terminal } from '../terminal.js';

interface WhoseOptions extends OperatorDatabase {
  readonly user?: string;
  readonly tenant?: string;
  readonly scope?: string;
}

interface EraseCommandOptions extends WhoseOptions {
  readonly yes?: true;
  readonly vacuum: boolean;
}

interface ExportCommandOptions extends WhoseOptions {
  readonly all?: true;
  readonly what: 'messages' | 'events';
}

/** `backup`: copies a database that a gateway may be using. */
export function backupCommand(terminal: Terminal): Command {
  return withDatabase(new Command('backup'))
    .description('copy a database and its files, while its gateway goes on')
    .argument('<file>', 'the copy, which must not be there yet; files go into <file>.files')
    .action(async (file: string, database: OperatorDatabase) => {
      const path = resolve(file);
      await drain(askOperator(database, { action: 'backup', path }), terminal);
      terminal.say(`Copied ${database.db} to ${file}.`);
    });
}

/** `erase`: erases a person's data, or a session. */
export function eraseCommand(terminal: Terminal): Command {
  return withWhose(withDatabase(new Command('erase')))
    .description('drop all that is kept of a user, a scope or a session, so that no byte of it is left')
    .argument('[session]', 'this session alone, as name or app:name')
    .option('--yes', 'it is meant: it cannot be undone')
    .option('--no-vacuum', 'leave it to the next start, or the next erase, to overwrite what was dropped')
    .action((session: string | undefined, options: EraseCommandOptions) => erase(session, options, terminal));
}

async function erase(
  session: string | undefined,
  options: EraseCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const { yes, vacuum } = options;
  const whose = whoseOf(options);
  if (session === undefined && !whose.user && whose.scope === undefined)
    throw refused('Say what to erase: a session, or all of a --user or a --scope');
  if (!yes) throw refused('Erasing cannot be undone: confirm it with --yes');
  const request = { action: 'erase', ...whose, ...(session !== undefined && { session }), vacuum } as const;
  let text = '';
  for await (const part of askOperator(options, request)) text += part;
  const { sessions, files } = JSON.parse(text) as { readonly sessions: number; readonly files: number };
  terminal.say(`Erased ${counted(sessions, 'session')} and ${counted(files, 'file')}.`);
}

/** `export`: writes a session as lines of JSON. */
export function exportCommand(terminal: Terminal): Command {
  return withWhose(withDatabase(new Command('export')))
    .description('write what is kept of a session as lines of JSON')
    .argument('[session]', 'the session, as name or app:name')
    .option(
      '--all',
      'all sessions of a store that no gateway uses, with records and runs, for `import --all`; files are copied by hand',
    )
    .addOption(
      new Option('--what <what>', 'its messages, or its events')
        .choices(['messages', 'events'])
        .default('messages'),
    )
    .action(async (session: string | undefined, { what, all, ...options }: ExportCommandOptions) => {
      if (all && session === undefined) return drain(wholeStore(options), terminal);
      if (all || session === undefined) throw refused('Say what to export: a session, or --all');
      await drain(askOperator(options, { action: 'export', ...whoseOf(options), session, what }), terminal);
    });
}

/** Adds the options that name a command's database. @param isAskedFor Whether a gateway that uses the database does it */
export function withDatabase(command: Command, isAskedFor = true): Command {
  const named = command.addOption(
    new Option('--db <place>', 'the database: a file, or a URL of Redis or PostgreSQL')
      .default('data/gateway.db')
      .env('GATEWAY_DB'),
  );
  if (!isAskedFor) return named;
  return named
    .addOption(
      new Option('--files <folder>', 'its uploaded files, where they are not beside it').env('GATEWAY_FILES'),
    )
    .addHelpText(
      'after',
      '\nThe gateway that `start` runs on this database does it; where none runs, and on Redis or PostgreSQL, the command does it itself.',
    );
}

function withWhose(command: Command): Command {
  return command
    .option('--user <id>', 'whose')
    .option('--tenant <id>', "the user's tenant, where it has one")
    .option(
      '--scope <scope>',
      'in place of a user: what the gateway\'s sessionScope makes of one, as ["tenant-7"]',
    );
}

function whoseOf({ user, tenant, scope }: WhoseOptions): Whose {
  if (user !== undefined && scope !== undefined) throw refused('Give --user or --scope, not both');
  if (tenant !== undefined && user === undefined) throw refused('--tenant needs --user');
  return {
    ...(user !== undefined && { user: { id: user, ...(tenant !== undefined && { tenantId: tenant }) } }),
    ...(scope !== undefined && { scope }),
  };
}

/** Writes lines of JSON under back-pressure. Escapes characters that could steer a terminal, which leaves the JSON values unchanged. */
async function drain(lines: AsyncIterable<string>, { output }: Terminal): Promise<void> {
  for await (const text of lines) {
    const safe = text.replace(
      /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
      (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    if (!output.write(safe)) await once(output, 'drain');
  }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function refused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
