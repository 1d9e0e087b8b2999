import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../shared/errors.js';

/** Variables whose values may stand in files. */
export const SECRET_NAMES = [
  'GATEWAY_TOKEN',
  'GATEWAY_MONITOR_TOKEN',
  'GATEWAY_DB',
  'AGENT_SESSION_GATEWAY_TOKEN',
] as const;

/**
 * Sets variables from files: `NAME_FILE` is the path of a file with the value, as of a secret of Docker or Kubernetes. Otherwise the file `NAME` of
 * `CREDENTIALS_DIRECTORY`, which systemd's `LoadCredential=` fills. A file takes the place of the variable. Call it again for files that have changed.
 *
 * @throws GatewayError `INVALID_REQUEST` for a named file that cannot be read or is empty
 */
export function readSecretFiles(env: NodeJS.ProcessEnv): void {
  for (const name of SECRET_NAMES) {
    const path = fileOf(name, env);
    if (path !== undefined) env[name] = valueIn(path, name);
  }
}

function fileOf(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const named = env[`${name}_FILE`];
  if (named) return named;
  const folder = env.CREDENTIALS_DIRECTORY;
  if (!folder) return undefined;
  const path = join(folder, name);
  return existsSync(path) ? path : undefined;
}

function valueIn(path: string, name: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refused(`${name}_FILE: ${path} cannot be read (${code})`);
  }
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw refused(`${name}_FILE: ${path} is empty`);
  return value;
}

function refused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
