import { Command, CommanderError } from 'commander';
import { isGatewayError } from '../../shared/errors.js';
import { generateCommand } from './generate.js';
import { EXIT_FAILED, type Terminal } from './terminal.js';

/** Runs the command line; resolves when the command is done. Errors are said on the terminal, never thrown. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<void> {
  const program = new Command('agent-session-gateway')
    .description('Tools for agent-session-gateway')
    .addCommand(generateCommand(terminal));
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.say(text.trimEnd()),
      writeErr: (text) => terminal.warn(text.trimEnd()),
    });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return terminal.exit(error.exitCode === 0 ? 0 : EXIT_FAILED);
    terminal.warn(isGatewayError(error) ? error.message : `${error instanceof Error ? error.stack : error}`);
    terminal.exit(EXIT_FAILED);
  }
}
