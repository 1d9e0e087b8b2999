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

/** Node's objects of a platform's exchange. */
export interface Exchange {
  /** The platform's request, including properties that the host's guards have set. */
  readonly hostRequest: object;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The JSON body, if the platform keeps it outside of Node's request. */
  readonly body?: unknown;
}

/** Node's request and response, with the headers that the host has set so far. */
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

/** Like `exchangeOf`, for an answer that the gateway gives in place of the platform. */
export function takeOver(hostResponse: HostResponse): Exchange {
  if ('hijack' in hostResponse) hostResponse.hijack();
  return exchangeOf(hostResponse);
}
