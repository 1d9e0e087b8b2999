import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { Application } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { listenOnLoopback } from '../support/host-server.js';
import { follow, serve } from './served.js';

/** What a hostile agent does with one request. */
export type Hostile = (response: ServerResponse, body: any) => void | Promise<void>;

/** How a run with a hostile agent has to end. */
export interface HostileCase {
  readonly name: string;
  readonly act: Hostile;
  /** The code of its error, and what its message says; nothing for a run that ends well. */
  readonly code?: string;
  readonly message?: RegExp;
  readonly stopReason?: string;
  /** Time of the run, in milliseconds. */
  readonly runMs?: number;
  /** The text of its answer: all that was said. */
  readonly said?: string;
}

/** Shows that runs end with a coded error, with all that was said, and that the connection is gone. */
export function endsClearly(makeApp: (url: string) => Application, cases: readonly HostileCase[]): void {
  for (const {
    name,
    act,
    code,
    message,
    stopReason = code ? 'error' : 'end',
    said = 'Hi',
    runMs = 60_000,
  } of cases) {
    it(`an agent that ${name}: ${code ?? stopReason}, with what was said`, async () => {
      let closed = Promise.resolve();
      const url = await listenOnLoopback(async (request, response) => {
        const pieces: Buffer[] = [];
        for await (const piece of request) pieces.push(piece);
        const text = Buffer.concat(pieces).toString();
        closed = new Promise((resolve) => response.once('close', resolve));
        await act(response, text === '' ? { url: request.url } : JSON.parse(text));
      });
      const { client } = await serve(makeApp(url), { limits: { runMs } });
      const run = client.send('main', 'Hello');
      const told = await follow(run);
      const error = told.find(([type]) => type === 'run_error');
      expect(error?.[1], String(error?.[2])).to.equal(code);
      if (message) expect(error?.[2]).to.match(message);
      expect(String(error?.[2])).to.not.contain('secret');
      const result = await run.result;
      expect([result.stopReason, textOf(result.message)]).to.deep.equal([stopReason, said]);
      await closed;
    });
  }
}
