import { type Client, createClient, GatewayError, isGatewayError } from 'agent-session-gateway/client';
import { createFiles, type Files } from 'agent-session-gateway/client/files';
import { createUnixSocketClientTransport } from 'agent-session-gateway/client/node';
import { type Command, Option } from 'commander';

/** The address of a gateway with default options. */
const DEFAULT_URL = 'http://127.0.0.1:18789';

/** The gateway and the caller's token of a command. */
export interface CommandConnection {
  readonly url: string;
  readonly socket?: string;
  readonly token?: string;
  readonly extraRoutes?: string;
}

/** Adds the options that name a gateway. */
export function withConnection(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'where the gateway is mounted')
        .default(DEFAULT_URL)
        .env('AGENT_SESSION_GATEWAY_URL'),
    )
    .option('--socket <path>', "the gateway's Unix socket, in place of a URL")
    .addOption(tokenOption())
    .option('--extra-routes <prefix>', 'where the gateway moved its extra routes to');
}

/** The option for the caller's token. The variable with the token of a server counts too, where the caller has none of its own. */
export function tokenOption(
  about = 'who you are; better in the environment than on the command line',
): Option {
  const option = new Option('--token <token>', about).env('AGENT_SESSION_GATEWAY_TOKEN');
  const { GATEWAY_TOKEN: served } = process.env;
  return served ? option.default(served, 'GATEWAY_TOKEN') : option;
}

/** A client of the gateway that the options name. @throws GatewayError `INVALID_REQUEST` for an invalid URL */
export function openClient({ url, socket, token, extraRoutes }: CommandConnection): Client {
  if (socket !== undefined) {
    return createClient({ transport: createUnixSocketClientTransport({ socketPath: socket, token }) });
  }
  return createClient({ baseUrl: mountOf(url), token, ...(extraRoutes !== undefined && { extraRoutes }) });
}

/** The files of the gateway that the options name, unless they name a socket. */
export function openFiles({ url, socket, token, extraRoutes }: CommandConnection): Files | undefined {
  if (socket !== undefined) return undefined;
  return createFiles({ baseUrl: mountOf(url), token, ...(extraRoutes !== undefined && { extraRoutes }) });
}

/** Calls a function with a client, and closes the client's connection afterwards in every case. */
export async function withClient<T>(
  options: CommandConnection,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = openClient(options);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

/**
 * Checks that a gateway answers and accepts the caller. Fails at once, although the client would retry.
 *
 * @throws GatewayError the reason
 */
export async function checkGateway(client: Client): Promise<void> {
  try {
    await client.status();
  } catch (error) {
    // A gateway may serve no extra routes, and this is one.
    if (!isGatewayError(error) || error.code !== 'ROUTE_NOT_FOUND') throw error;
  }
}

/**
 * The mount that a URL names, without a slash at its end.
 *
 * @throws GatewayError `INVALID_REQUEST` if the text is no http or https URL, or has credentials
 */
export function mountOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const problem =
    parsed === undefined || !/^https?:$/.test(parsed.protocol)
      ? `Not an http or https URL: ${JSON.stringify(url)}`
      : parsed.username || parsed.password || parsed.search
        ? 'The URL holds credentials or a query; give the mount alone, and the token with --token'
        : undefined;
  if (problem !== undefined) throw new GatewayError({ code: 'INVALID_REQUEST', message: problem });
  return `${parsed!.origin}${parsed!.pathname.replace(/\/+$/, '')}`;
}

/** Tells when the connection is lost and when it is back. Returns a function that stops this. */
export function watchConnection(client: Client, tell: (text: string) => void): () => void {
  let isLost = false;
  return client.on('state', (state) => {
    if (state === 'reconnecting' && !isLost) {
      isLost = true;
      tell('(the connection is lost; trying again)');
    } else if (state === 'open' && isLost) {
      isLost = false;
      tell('(connected again)');
    }
  });
}
