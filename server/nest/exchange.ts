import type { IncomingMessage, ServerResponse } from 'node:http';

/** A response of Nest's platform: Express' `Response`, or Fastify's `Reply`. */
export type HostResponse = ExpressResponse | FastifyReply;

interface ExpressResponse extends ServerResponse {
  readonly req: IncomingMessage;
}

interface FastifyReply {
  readonly raw: ServerResponse;
  readonly request: { readonly raw: IncomingMessage; readonly body?: unknown };
  hijack(): unknown;
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
}

/** Node's side of what the platform gave. */
export interface Exchange {
  /** The platform's request, with what the host's guards have put there. */
  readonly hostRequest: object;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The JSON body, where the platform keeps it apart from Node's request. */
  readonly body?: unknown;
}

/** Finds Node's request and response, with the headers that the host has set so far. */
export function exchangeOf(hostResponse: HostResponse): Exchange {
  if (!('hijack' in hostResponse)) {
    const { req } = hostResponse;
    return { hostRequest: req, request: req, response: hostResponse };
  }
  const { raw: response, request } = hostResponse;
  for (const [name, value] of Object.entries(hostResponse.getHeaders())) {
    if (value !== undefined) response.setHeader(name, value);
  }
  return { hostRequest: request, request: request.raw, response, body: request.body };
}

/** The same, for an answer that is not the platform's to give any more. */
export function takeOver(hostResponse: HostResponse): Exchange {
  if ('hijack' in hostResponse) hostResponse.hijack();
  return exchangeOf(hostResponse);
}
