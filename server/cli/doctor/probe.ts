import type { ErrorBody } from '../../../shared/errors.js';

/** A request of `probe`. */
export interface ProbeRequest {
  readonly url: string;
  /** Longest wait for the answer, in milliseconds. */
  readonly patienceMs: number;
  readonly token?: string | undefined;
  readonly method?: 'GET' | 'OPTIONS' | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An answer to a plain request, from a gateway or from another server in its place. */
export interface ProbeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The gateway's error, if the body is one. */
  readonly error: ErrorBody | undefined;
  /** The body, if it is a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The reason for a missing answer, in the codes of Node, `UND_ERR_…` and TLS. */
export interface Silence {
  readonly code: string;
  readonly text: string;
}

/** Sends a request without following redirects. */
export async function probe(asked: ProbeRequest): Promise<ProbeResponse | Silence> {
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
  { url, token, method = 'GET', headers }: Omit<ProbeRequest, 'patienceMs'>,
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

export function isAnswer(answer: ProbeResponse | Silence): answer is ProbeResponse {
  return 'status' in answer;
}

/** Whether an answer comes from a gateway: it is a status, or an error with a gateway's code. */
export function isGateways({ body, error }: ProbeResponse): boolean {
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
