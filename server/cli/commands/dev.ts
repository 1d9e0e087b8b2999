import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Command } from 'commander';
import { toldPlace } from '../../runtime/store-at.js';
import { hasSqlite } from '../serve/abilities.js';
import { onKeys, openBrowser } from '../serve/keys.js';
import { findFile } from '../serve/load-file.js';
import { type FileOptions, withFile } from '../serve/serve-options.js';
import { Supervisor } from '../serve/supervisor.js';
import { watchFolder } from '../serve/watch-folder.js';
import type { WorkerOptions, WorkerStarted } from '../serve/worker.js';
import { styled, type Terminal } from '../terminal.js';

/** Folder for the data of this project, which version control ignores. */
const FOLDER = '.agent-session-gateway';
const DATABASE = `${FOLDER}/dev.db`;
/** How long a restart waits for runs to end, in milliseconds. Resumable runs continue after it. */
const DRAIN_MS = 500;

/** `dev`: serves the exports of a file, and restarts after each change of a source. */
export function devCommand(terminal: Terminal): Command {
  return withFile(new Command('dev'), DATABASE)
    .description('serve the gateway, apps or app of a file, and restart when a source changes; clients go on')
    .addHelpText(
      'after',
      '\nWhere the file has no `auth`, a token is made up and printed; GATEWAY_TOKEN sets it. Keys: o opens the playground, r restarts, c clears the screen, q quits.',
    )
    .action((file: string | undefined, options: FileOptions) => dev(file, options, terminal));
}

async function dev(given: string | undefined, options: FileOptions, terminal: Terminal): Promise<void> {
  const file = findFile(given);
  const token = process.env.GATEWAY_TOKEN || randomBytes(32).toString('base64url');
  const db = options.db === DATABASE ? databaseOf(terminal) : options.db;
  let { port } = options;
  let url: string | undefined;
  let page: string | undefined;
  let hasStarted = false;
  const settings = (): WorkerOptions => ({ ...options, file, token, db, port, drainMs: DRAIN_MS });
  const supervisor = new Supervisor<WorkerOptions, WorkerStarted>('worker', settings, {
    started: (report) => {
      url = report.url;
      page = pageOf(report, token);
      // Keep the port, because clients reconnect to it.
      if (port === 0 && url !== undefined) port = Number(new URL(url).port);
      if (hasStarted) terminal.say(styled('green', 'Started again. '), url ?? '');
      else welcome(report, { file, token }, terminal);
      hasStarted = true;
    },
    failed: (reason) => {
      terminal.warn(styled('red', reason));
      terminal.warn('Waiting for a change.');
    },
    killed: () => terminal.say(styled('dim', 'Killed from the playground; starting again.')),
  });
  const folder = projectOf(file);
  const unwatch = watchFolder(
    folder,
    (below) => `${dirname(file)}/`.startsWith(`${below}/`),
    (changed) => {
      terminal.say(styled('dim', `${relative(folder, changed)} changed; starting again.`));
      void supervisor.restart();
    },
  );
  let stopKeys = () => {};
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve).once('SIGHUP', resolve);
    if (terminal.isInteractive) {
      stopKeys = onKeys(terminal, {
        q: resolve,
        r: () => void supervisor.restart(),
        c: () => terminal.clear(),
        o: () => {
          if (url === undefined) return terminal.warn('There is no URL to open.');
          openBrowser(page ?? url, () => terminal.warn(`No browser could be started; the URL is ${url}`));
        },
      });
    }
    void supervisor.restart();
  });
  stopKeys();
  unwatch();
  await supervisor.close();
}

function welcome(
  report: WorkerStarted,
  { file, token }: { readonly file: string; readonly token: string },
  terminal: Terminal,
): void {
  const { url, socketPath, isEmbedded, usesToken, db } = report;
  const page = pageOf(report, token);
  terminal.say(styled('bold', 'Agent Session Gateway: '), relative(process.cwd(), file));
  if (isEmbedded) terminal.say('  served by a server of the file itself');
  if (url !== undefined) terminal.say('  URL     ', styled('cyan', url));
  if (page !== undefined) terminal.say('  page    ', styled('cyan', page));
  if (socketPath !== undefined) terminal.say('  socket  ', socketPath);
  if (usesToken) terminal.say('  token   ', token);
  if (db !== undefined)
    terminal.say('  ', db === 'memory' ? 'Sessions are kept in memory: a restart ends them.' : toldPlace(db));
  if (usesToken && url !== undefined)
    terminal.say(
      `  talk    AGENT_SESSION_GATEWAY_TOKEN=${token} npx agent-session-gateway chat --url ${url}`,
    );
  if (terminal.isInteractive)
    terminal.say(styled('dim', '  o opens the playground, r restarts, c clears, q quits'));
}

/** URL of the playground with the generated token; undefined if the file's own gateway does not use that token. */
function pageOf({ url, usesToken }: WorkerStarted, token: string): string | undefined {
  return url !== undefined && usesToken ? `${url}/#token=${encodeURIComponent(token)}` : undefined;
}

/** The folder to watch: the one with the nearest package.json, else the file's own. */
function projectOf(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) return dirname(file);
  }
}

/** The default place of sessions: a file, if this Node has SQLite, else memory. */
function databaseOf(terminal: Terminal): string {
  if (!hasSqlite()) {
    terminal.warn(
      'Sessions are kept in memory, and end with each restart: this Node has no SQLite. Use Node 22.13 or newer, or npm install libsql.',
    );
    return 'memory';
  }
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  writeFileSync(join(FOLDER, '.gitignore'), '*\n');
  return DATABASE;
}
