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
  'docs/guides/morning-report.md#1': {
    after: async ({ exports }) => {
      const gateway = createGateway({
        ...{ app: exports.clerk, embedded: true, sessionScope: 'global', auth: { type: 'none' } },
      });
      closeLater(gateway, (it) => it.close());
      const as = (id: string) => gateway.session('bills', { user: { id, roles: ['finance'] } });
      const run = as('sue').send('Which bills are due?');
      for await (const event of run) {
        if (event.type !== 'tool_confirmation_required') continue;
        await as('ann').respond(event.callId, { approved: true });
        if (event.policy!.approvals === 2) await as('bob').respond(event.callId, { approved: true });
      }
      const { message } = await run.result;
      const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
      expect(texts.join('')).to.equal('B-7 is paid\nB-8 is paid\n');
    },
  },
  'docs/types.md#3': {
    after: async ({ exports }) => {
      const said = await answersWhenAsked(exports.gateway, 'Oslo', { output: { day: '2026-05-17' } });
      expect(said).to.equal('On 2026-05-17 it will be 21 degrees.');
    },
  },
};
