import { expect } from 'chai';
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
  'docs/types.md#3': {
    after: async ({ exports }) => {
      const said = await answersWhenAsked(exports.gateway, 'Oslo', { output: { day: '2026-05-17' } });
      expect(said).to.equal('On 2026-05-17 it will be 21 degrees.');
    },
  },
};
