import { Command, CommanderError } from 'commander';
import { isGatewayError } from '../../shared/errors.js';
import { packageVersion } from '../runtime/package-files.js';
import { readSecretFiles } from '../runtime/secret-files.js';
import { acpCommand } from './commands/acp.js';
import { addCommand } from './commands/add.js';
import { chatCommand } from './commands/chat.js';
import { checkDeployCommand } from './commands/check-deploy.js';
import { conformanceCommand } from './commands/conformance.js';
import { importCommand, verifyCommand } from './commands/copies.js';
import { backupCommand, eraseCommand, exportCommand } from './commands/data.js';
import { demoCommand } from './commands/demo.js';
import { deployCommand } from './commands/deploy.js';
import {
  abortCommand,
  auditCommand,
  connectionsCommand,
  disconnectCommand,
  lameDuckCommand,
  runsCommand,
  sessionCommand,
  statusCommand,
  topCommand,
} from './commands/desk.js';
import { devCommand } from './commands/dev.js';
import { doctorCommand } from './commands/doctor.js';
import { dueCommand } from './commands/due.js';
import { generateCommand } from './commands/generate.js';
import { initCommand } from './commands/init.js';
import { invokeCommand } from './commands/invoke.js';
import { noticesCommand } from './commands/notices.js';
import { replayCommand } from './commands/replay.js';
import { searchCommand } from './commands/search.js';
import { sessionsCommand } from './commands/sessions.js';
import { startCommand } from './commands/start.js';
import { tailCommand } from './commands/tail.js';
import { tokenCommand } from './commands/token.js';
import { usageCommand } from './commands/usage.js';
import { EXIT_FAILED, type Terminal } from './terminal.js';

/** Remedies by error code, for errors whose message names none. */
const REMEDIES: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'Give a good token with --token or AGENT_SESSION_GATEWAY_TOKEN; `doctor` says more.',
  NETWORK: '`agent-session-gateway doctor` looks closer.',
};

/** Runs the command line; resolves when the command is done. Errors are printed on the terminal, never thrown. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<void> {
  const program = new Command('agent-session-gateway')
    .description('Runs gateways, talks to them, and finds out what is wrong with them')
    .version(packageVersion(), '--version', 'print the version')
    .showHelpAfterError('(--help lists what there is)')
    .commandsGroup('Start:')
    .addCommand(demoCommand(terminal))
    .addCommand(initCommand(terminal))
    .addCommand(devCommand(terminal))
    .addCommand(startCommand(terminal))
    .commandsGroup('Talk:')
    .addCommand(chatCommand(terminal))
    .addCommand(tailCommand(terminal))
    .addCommand(sessionsCommand(terminal))
    .addCommand(searchCommand(terminal))
    .addCommand(invokeCommand(terminal))
    .addCommand(acpCommand(terminal))
    .commandsGroup('Build:')
    .addCommand(addCommand(terminal))
    .addCommand(generateCommand(terminal))
    .addCommand(replayCommand(terminal))
    .addCommand(conformanceCommand(terminal))
    .commandsGroup('Operate:')
    .addCommand(doctorCommand(terminal))
    .addCommand(statusCommand(terminal))
    .addCommand(topCommand(terminal))
    .addCommand(runsCommand(terminal))
    .addCommand(sessionCommand(terminal))
    .addCommand(connectionsCommand(terminal))
    .addCommand(usageCommand(terminal))
    .addCommand(abortCommand(terminal))
    .addCommand(disconnectCommand(terminal))
    .addCommand(auditCommand(terminal))
    .addCommand(lameDuckCommand(terminal))
    .addCommand(tokenCommand(terminal))
    .addCommand(backupCommand(terminal))
    .addCommand(exportCommand(terminal))
    .addCommand(importCommand(terminal))
    .addCommand(verifyCommand(terminal))
    .addCommand(noticesCommand(terminal))
    .addCommand(dueCommand(terminal))
    .addCommand(deployCommand(terminal))
    .addCommand(checkDeployCommand(terminal))
    .addCommand(eraseCommand(terminal))
    .helpCommand(false)
    .addHelpText('after', '\nOf each command: agent-session-gateway <command> --help');
  for (const command of allOf(program)) {
    // An empty variable counts as none.
    for (const { envVar } of command.options) {
      if (envVar !== undefined && process.env[envVar] === '') delete process.env[envVar];
    }
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.say(text.trimEnd()),
      writeErr: (text) => terminal.warn(text.trimEnd()),
    });
  }
  try {
    readSecretFiles(process.env);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return terminal.exit(error.exitCode === 0 ? 0 : EXIT_FAILED);
    terminal.warn(isGatewayError(error) ? said(error) : `${error instanceof Error ? error.stack : error}`);
    terminal.exit(EXIT_FAILED);
  }
}

/** A command and all its subcommands, at any depth. */
function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

function said({ code, message }: { readonly code: string; readonly message: string }): string {
  const remedy = REMEDIES[code];
  return remedy === undefined ? message : `${message.replace(/[.?]*$/, (end) => end.at(0) ?? '.')} ${remedy}`;
}
