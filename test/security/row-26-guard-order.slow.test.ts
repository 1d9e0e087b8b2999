import { expect } from 'chai';
import { method } from '../../server/index.js';
import { gatewayOf } from '../support/role-gateway.js';

describe('row 26: the order of checks', () => {
  it('a guard that never answers denies after 5 s', async () => {
    const { invoke } = await gatewayOf({
      guarded: method({ guard: () => new Promise<boolean>(() => {}), handler: () => 'done' }),
    });
    expect((await invoke({ method: 'guarded' })).body.error.code).to.equal('GUARD_DENIED');
  });
});
