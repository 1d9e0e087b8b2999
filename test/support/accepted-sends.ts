import { post } from './gateway.js';

/** Sends to gateways that may be killed meanwhile, and keeps the ids of the runs that these accepted. */
export class AcceptedSends {
  readonly runIds: string[] = [];

  async send(url: string, sessionId: string): Promise<void> {
    try {
      const { body } = await post(`${url}/send`, { sessionId, message: 'go' }, { prefer: 'respond-async' });
      if (body.runId) this.runIds.push(body.runId);
    } catch (error) {
      // It was killed before it could answer.
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    }
  }
}
