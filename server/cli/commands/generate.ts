import { readFile, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { GatewayError } from '../../../shared/errors.js';
import { tokenOption } from '../connection.js';
import { EXIT_DIFFERENT, type Terminal } from '../terminal.js';

interface GenerateOptions {
  readonly url: string;
  readonly token?: string;
  readonly out: string;
  readonly check?: true;
}

/** `generate`: writes a typed client of a running gateway, or with `--check` compares it with the file. */
export function generateCommand(terminal: Terminal): Command {
  return new Command('generate')
    .description('write a typed client module from the method catalogue of a running gateway')
    .requiredOption('--url <url>', 'where the gateway is mounted')
    .requiredOption('--out <file>', 'the module to write')
    .addOption(tokenOption('a token whose user holds the roles of the methods you call'))
    .option('--check', 'write nothing; exit with 1 when the file is out of date')
    .action((options: GenerateOptions) => generate(options, terminal));
}

async function generate({ url, token, out, check }: GenerateOptions, terminal: Terminal): Promise<void> {
  // Imported here, so that other commands do not load all schemas.
  const [{ clientModule }, { fetchCatalogue }] = await Promise.all([
    import('../../codegen/client-module.js'),
    import('../../codegen/fetch-catalogue.js'),
  ]);
  const catalogue = await fetchCatalogue(url, token);
  const { code, problems } = await clientModule(catalogue);
  for (const { name, problem } of problems) terminal.warn(`${JSON.stringify(name)}: ${problem}`);
  const present = await read(out);
  if (check) {
    if (present === code) return terminal.say(`${out} is up to date`);
    terminal.warn(
      present === null
        ? `${out} does not exist; run generate without --check`
        : `${out} is out of date; run generate without --check`,
    );
    return terminal.exit(EXIT_DIFFERENT);
  }
  if (present !== code) await write(out, code);
  terminal.say(`${out}: ${counted(catalogue.methods.length)}${present === code ? ', unchanged' : ''}`);
}

function counted(methods: number): string {
  return methods === 1 ? '1 method' : `${methods} methods`;
}

/** The text of a file, with LF for line ends that version control may have changed; null if there is no file. */
async function read(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).replaceAll('\r\n', '\n');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(path, 'read', cause);
  }
}

async function write(path: string, code: string): Promise<void> {
  try {
    await writeFile(path, code);
  } catch (cause) {
    throw unusable(path, 'written', cause);
  }
}

function unusable(path: string, done: string, cause: unknown): GatewayError {
  const { code } = cause as NodeJS.ErrnoException;
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message: `${path} cannot be ${done}: ${code === undefined ? 'unknown reason' : code}`,
    cause,
  });
}
