import { expect } from 'chai';
import { createGateway } from '../../../server/index.js';
import { closeLater } from '../../support/resources.js';
import type { Checks } from '../checks.js';
import { answersWhenAsked, inGateway } from '../gateways.js';

/** The pages on apps. */
export const ADAPTERS: Checks = {
  'docs/apps.md#3': {
    after: async ({ exports }) => {
      const said = await answersWhenAsked(inGateway(exports.booking), 'Book', {
        output: { day: '2026-05-01' },
      });
      expect(said).to.equal('Booked for 2026-05-01.');
    },
  },
  'docs/approvals.md#1': {
    after: async ({ exports }) => {
      const gateway = createGateway({
        ...{ app: exports.payments, embedded: true, sessionScope: 'global', auth: { type: 'none' } },
      });
      closeLater(gateway, (it) => it.close());
      const as = (id: string, ...roles: string[]) => gateway.session('main', { user: { id, roles } });
      const run = as('sue').send('o1');
      for await (const event of run) {
        if (event.type !== 'tool_confirmation_required') continue;
        await as('ann', 'finance').respond(event.callId, { approved: true });
        await as('bob', 'finance').respond(event.callId, { approved: true });
      }
      const { message } = await run.result;
      expect(message.content.at(-1)).to.deep.include({ text: '250 paid for o1' });
    },
  },
  'docs/types.md#3': {
    after: async ({ exports }) => {
      const said = await answersWhenAsked(exports.gateway, 'Oslo', { output: { day: '2026-05-17' } });
      expect(said).to.equal('On 2026-05-17 it will be 21 degrees.');
    },
  },
};
