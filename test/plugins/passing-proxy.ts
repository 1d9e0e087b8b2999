import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { portOf } from '../support/host-server.js';

/** Passes requests on to a gateway, with their answers but for event streams: those are `stream`'s. Returns the port; closed after the test. */
export function passOn(
  target: string,
  stream: (response: IncomingMessage, answer: ServerResponse) => void,
): Promise<number> {
  const server = createServer((incoming, answer) => {
    const { method, headers } = incoming;
    const passed = request(new URL(incoming.url ?? '/', target), { method, headers });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    passed.on('response', (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      answer.flushHeaders();
      response.on('error', () => answer.destroy());
      response.on('close', () => {
        if (!response.complete) answer.destroy();
      });
      if (response.headers['content-type']?.startsWith('text/event-stream')) stream(response, answer);
      else response.pipe(answer);
    });
    incoming.pipe(passed);
  });
  return portOf(server);
}
