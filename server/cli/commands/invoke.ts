import { text as readAll } from 'node:stream/consumers';
import { type Client, GatewayError, isGatewayError } from 'agent-session-gateway/client';
import { Command } from 'commander';
import { type CommandConnection, withClient, withConnection } from '../connection.js';
import { EXIT_INTERRUPTED, styled, type Terminal } from '../terminal.js';

interface InvokeCommandOptions extends CommandConnection {
  readonly session?: string;
}

/** `invoke`: calls a method of a gateway, or lists them. */
export function invokeCommand(terminal: Terminal): Command {
  return withConnection(new Command('invoke'))
    .description('call a method of a gateway and write its result as JSON; without a method, list them')
    .argument('[method]', 'its path, as tasks:create')
    .argument('[params]', 'JSON; `-` reads it from the input')
    .option('--session <session>', 'the session it is called in')
    .addHelpText('after', '\nOf a streaming method each item is a line; Ctrl+C ends it.')
    .action((method: string | undefined, params: string | undefined, options: InvokeCommandOptions) =>
      withClient(options, (client) =>
        method === undefined ? list(client, terminal) : invoke(client, method, params, options, terminal),
      ),
    );
}

async function list(client: Client, terminal: Terminal): Promise<void> {
  const { methods } = await client.methods();
  for (const { path, description, stream, roles } of methods) {
    const notes = [stream ? 'streams' : '', roles === undefined ? '' : `for ${roles.join(', ')}`].filter(
      Boolean,
    );
    terminal.say(
      styled('bold', path),
      description === undefined ? '' : `  ${description}`,
      styled('dim', notes.length > 0 ? `  (${notes.join('; ')})` : ''),
    );
  }
  if (methods.length === 0) terminal.warn('The gateway has no methods that you may call.');
}

async function invoke(
  client: Client,
  method: string,
  given: string | undefined,
  { session: sessionId }: InvokeCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const params = await paramsOf(given, terminal);
  const isStream = await streams(client, method);
  const stop = new AbortController();
  const interrupt = () => {
    terminal.exit(EXIT_INTERRUPTED);
    stop.abort();
  };
  process.once('SIGINT', interrupt);
  const options = { signal: stop.signal, ...(sessionId !== undefined && { sessionId }) };
  try {
    if (isStream) {
      for await (const item of client.stream(method, params, options)) terminal.say(JSON.stringify(item));
    } else {
      const result = await client.invoke(method, params, options);
      if (result !== undefined) terminal.say(JSON.stringify(result, null, terminal.isInteractive ? 2 : 0));
    }
  } catch (error) {
    if (!stop.signal.aborted) throw withDetails(error);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

async function streams(client: Client, method: string): Promise<boolean> {
  try {
    const { methods } = await client.methods();
    return methods.some(({ path, stream }) => path === method && stream);
  } catch (error) {
    // A gateway without its extra routes still has methods.
    if (isGatewayError(error) && error.status === 404) return false;
    throw error;
  }
}

async function paramsOf(given: string | undefined, { input }: Terminal): Promise<unknown> {
  if (given === undefined) return undefined;
  const json = given === '-' ? await readAll(input) : given;
  try {
    return JSON.parse(json);
  } catch (cause) {
    const message = `The params are no JSON: ${(cause as Error).message}`;
    throw new GatewayError({ code: 'INVALID_REQUEST', message, cause });
  }
}

/** Adds the invalid fields that an error's message does not name yet. */
function withDetails(error: unknown): unknown {
  if (!isGatewayError(error) || !Array.isArray(error.details)) return error;
  const fields = error.details
    .map(({ path, message }) => `${path}: ${message}`)
    .filter((field) => !error.message.includes(field));
  return new GatewayError({
    ...error.toJSON(),
    message: [error.message, ...fields].join('; '),
    cause: error,
  });
}
