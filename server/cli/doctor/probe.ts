import type { ErrorBody } from '../../../shared/errors.js';

/** What was asked. */
export interface Asked {
  readonly url: string;
  /** Milliseconds within which the answer has to come. */
  readonly patienceMs: number;
  readonly token?: string | undefined;
  readonly method?: 'GET' | 'OPTIONS' | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An answer to a plain request, of a gateway or of what stands in its place. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The error of a gateway, if that is what the body is. */
  readonly error: ErrorBody | undefined;
  /** The body, if it is a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Why there is no answer, in the codes of Node, `UND_ERR_…` and TLS. */
export interface Silence {
  readonly code: string;
  readonly text: string;
}

/** Asks without following redirects. */
export async function probe(asked: Asked): Promise<Answer | Silence> {
  try {
    const response = await open(asked, AbortSignal.timeout(asked.patienceMs));
    const text = await response.text();
    const body = objectIn(text);
    const { error } = body as { readonly error?: ErrorBody };
    return {
      status: response.status,
      headers: response.headers,
      text,
      body,
      error: typeof error?.code === 'string' && typeof error.message === 'string' ? error : undefined,
    };
  } catch (cause) {
    return silenceOf(cause);
  }
}

/** Sends a request; resolves with the head of its answer. */
export function open(
  { url, token, method = 'GET', headers }: Omit<Asked, 'patienceMs'>,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method,
    signal,
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
}

export function isAnswer(answer: Answer | Silence): answer is Answer {
  return 'status' in answer;
}

/** Whether this is what a gateway answers: its status, or an error of its own. */
export function isGateways({ body, error }: Answer): boolean {
  return typeof body.gatewayId === 'string' || (error !== undefined && /^[A-Z_]+$/.test(error.code));
}

export function silenceOf(cause: unknown): Silence {
  const causes: { code?: unknown; message?: unknown; name?: unknown }[] = [];
  for (let at = cause as { cause?: unknown } | undefined; at && causes.length < 4; at = at.cause as typeof at)
    causes.push(at as object);
  const isLate = causes.some(({ name }) => name === 'TimeoutError');
  const code = causes.map(({ code }) => code).find((code) => typeof code === 'string') as string | undefined;
  return {
    code: code ?? (isLate ? 'ETIMEDOUT' : 'UNKNOWN'),
    text: String(causes.at(-1)?.message || code || cause),
  };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
