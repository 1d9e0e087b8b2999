import type { Gateway, RunVerdict, UnfinishedRun } from 'agent-session-gateway';
import { Command } from 'commander';
import { askOperator, type OperatorDatabase } from '../operator/ask-operator.js';
import { linesOf } from '../operator/lines.js';
import { findFile } from '../serve/load-file.js';
import { makeGateway } from '../serve/make-gateway.js';
import { EXIT_DIFFERENT, styled, type Terminal } from '../terminal.js';
import { withDatabase } from './data.js';

/** Runs that are checked at once. */
const AT_ONCE = 8;
/** Time between two words on the progress, in milliseconds. */
const PROGRESS_MS = 2000;

interface CheckOptions extends OperatorDatabase {
  readonly app?: string;
  readonly json?: true;
  readonly envFile?: string;
}

/** `check-deploy`: lists the runs that another version of their apps would not go on with, before it is deployed. */
export function checkDeployCommand(terminal: Terminal): Command {
  return withDatabase(new Command('check-deploy'))
    .description(
      'list the unfinished runs that the apps of a file would not go on with, before they are deployed',
    )
    .option('--app <file>', 'the file with the new gateway, apps or app (default: found as by `start`)')
    .option('--env-file <file>', 'environment variables to load first')
    .option('--json', 'write each run as a line of JSON')
    .addHelpText(
      'after',
      '\nReads the database, through the gateway that uses it if there is one, and changes nothing. The apps are called with effects off: what they do outside of steps, tools and questions is done. Ends with 1 if any run would be held.',
    )
    .action((options: CheckOptions) => check(options, terminal));
}

async function check({ app, json, envFile, ...database }: CheckOptions, terminal: Terminal): Promise<void> {
  if (envFile !== undefined) process.loadEnvFile(envFile);
  const file = findFile(app);
  // It is never started, so it opens no store and no port.
  const { gateway } = await makeGateway(file, { port: 0, db: 'memory', token: 'check', logger: SILENT });
  const counts = { 'goes on': 0, held: 0, lost: 0 };
  const apps = Object.keys(gateway.deploys.versions);
  const runs = linesOf(askOperator(database, { action: 'unfinished', apps }));
  let saidAt = performance.now();
  const lane = async (): Promise<void> => {
    for (let next = await runs.next(); !next.done; next = await runs.next()) {
      const run = JSON.parse(next.value) as UnfinishedRun;
      const verdict = await gateway.deploys.check(run);
      counts[verdict.outcome] += 1;
      tell(run, verdict, gateway, { json: json === true, terminal });
      if (performance.now() - saidAt < PROGRESS_MS) continue;
      saidAt = performance.now();
      terminal.warn(styled('dim', `${counts['goes on'] + counts.held + counts.lost} runs so far …`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const total = `${counts['goes on']} go on, ${counts.held} would be held, ${counts.lost} would be lost`;
  if (json) terminal.say(JSON.stringify({ summary: counts }));
  else terminal.say(styled('bold', total));
  // Apps may have timers and connections of their own.
  terminal.exit(counts.held > 0 ? EXIT_DIFFERENT : 0);
}

const SILENT = { warn: () => {}, error: () => {}, info: () => {}, debug: () => {} };

function tell(
  { sessionId, scope, runId, app, version, isHeld }: UnfinishedRun,
  verdict: RunVerdict,
  gateway: Gateway<any, any, any>,
  { json, terminal }: { readonly json: boolean; readonly terminal: Terminal },
): void {
  const to = gateway.deploys.versions[app] ?? null;
  if (json)
    return terminal.say(
      JSON.stringify({ sessionId, scope, runId, app, version: version ?? null, to, isHeld, ...verdict }),
    );
  if (verdict.outcome === 'goes on') return;
  terminal.say(
    styled(verdict.outcome === 'held' ? 'yellow' : 'red', verdict.outcome.padEnd(5)),
    `  ${runId}  ${sessionId}  `,
    styled('dim', `${scope}  `),
    `${app} ${version ?? 'none'} → ${to ?? 'none'}: ${why(verdict)}`,
  );
}

/** Why a run does not go on, in words. */
function why(verdict: Exclude<RunVerdict, { readonly outcome: 'goes on' }>): string {
  if (verdict.outcome === 'lost')
    return verdict.reason === 'no app' ? 'there is no such app' : 'the app is not resumable';
  const { mismatch } = verdict;
  if (!mismatch) return 'the new version does not accept this one';
  const { what, before, now } = mismatch;
  if (what === 'time') return 'the app did not come to its place in time';
  const was = before === undefined ? '' : `${what} ${JSON.stringify(before)} was expected, and `;
  return `${was}it came to ${JSON.stringify(now ?? what)}`;
}
