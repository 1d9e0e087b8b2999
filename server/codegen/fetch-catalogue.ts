import { type ErrorBody, GatewayError } from '../../shared/errors.js';
import type { ResultOf } from '../../shared/operation-types.js';
import { OPERATIONS } from '../../shared/operations.js';
import { operationSchemas } from '../../shared/schemas/operations.js';
import type { Catalogue } from './client-module.js';

const VERSION = 1;
const TIMEOUT_MS = 30_000;

/**
 * Fetches the catalogue of a running gateway: the methods whose roles the token's user has, and the apps that the user may use.
 *
 * @param url Address of the gateway's mount, or of its extra routes if these were moved.
 * @throws GatewayError as the gateway replies; `NETWORK` if it cannot be reached; `INVALID_REQUEST` for a URL that is not a gateway's;
 *   `PROTOCOL_VERSION_UNSUPPORTED` for a catalogue of another version.
 */
export async function fetchCatalogue(url: string, token?: string): Promise<Catalogue> {
  const methods = await ask('methods', url, token);
  if (methods.version !== VERSION) {
    throw new GatewayError({
      code: 'PROTOCOL_VERSION_UNSUPPORTED',
      message: `The catalogue has version ${methods.version}, and this generator reads version ${VERSION}`,
    });
  }
  const { apps } = await ask('apps', url, token);
  return { ...methods, apps };
}

async function ask<Name extends 'methods' | 'apps'>(
  operation: Name,
  url: string,
  token: string | undefined,
): Promise<ResultOf<Name>> {
  const target = catalogueUrl(url, operation);
  const headers = { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const { response, text } = await request(target, headers);
  const body = readJson(text);
  if (!response.ok) throw refusal(response.status, body, target);
  const known = operationSchemas[operation].result.safeParse(body);
  if (known.success) return known.data as ResultOf<Name>;
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: `${target} answers, but with no catalogue of ${operation}`,
  });
}

function catalogueUrl(url: string, operation: 'methods' | 'apps'): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: `Not an http or https URL: ${JSON.stringify(url)}`,
    });
  }
  // Credentials in the URL would end up in error messages. They belong in the token.
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}${OPERATIONS[operation].path}`;
}

async function request(
  target: string,
  headers: Record<string, string>,
): Promise<{ readonly response: Response; readonly text: string }> {
  try {
    const response = await fetch(target, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { response, text: await response.text() };
  } catch (cause) {
    throw new GatewayError({ code: 'NETWORK', message: `${target} cannot be reached`, cause });
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(status: number, body: unknown, target: string): GatewayError {
  const { error } = (body ?? {}) as { readonly error?: Partial<ErrorBody> };
  if (typeof error?.code === 'string' && typeof error.message === 'string') {
    return new GatewayError({ code: error.code, status, message: `${target} answers: ${error.message}` });
  }
  return new GatewayError({
    code: 'INVALID_REQUEST',
    status,
    message: `${target} answers with status ${status}`,
  });
}
