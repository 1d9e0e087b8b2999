import { expect } from 'chai';
import { createScope, type SessionScope } from '../../server/auth/scope.js';
import type { BaseUser } from '../../shared/contract.js';
import { codeOf } from '../support/refused.js';

const ada: BaseUser = { id: 'ada' };
const tenant: BaseUser = { id: 'ada', tenantId: 'acme' };

describe('createScope', () => {
  const table: readonly (readonly [SessionScope | undefined, BaseUser, string | null])[] = [
    [undefined, ada, '[null,"ada"]'],
    ['user', ada, '[null,"ada"]'],
    ['user', tenant, '["acme","ada"]'],
    ['tenant', tenant, '["acme"]'],
    ['tenant', ada, null],
    ['global', ada, 'global'],
    [(user) => `team-${user.team}`, { id: 'ada', team: 'red' }, 'team-red'],
    [() => '', ada, null],
    [() => undefined as never, ada, null],
    [(user) => user.missing as never, ada, null],
    [() => expect.fail('broken'), ada, null],
  ];
  for (const [index, [scope, user, expected]] of table.entries()) {
    const name =
      typeof scope === 'string' ? scope : scope === undefined ? 'the default' : `function ${index}`;
    it(`gives ${JSON.stringify(user)} with ${name} ${expected ?? '401'}`, async () => {
      if (expected === null) expect(await codeOf(() => createScope(scope)(user))).to.equal('UNAUTHENTICATED');
      else expect(createScope(scope)(user)).to.equal(expected);
    });
  }

  it('cannot be made ambiguous by the characters of an id', () => {
    const scopeOf = createScope();
    const users: BaseUser[] = [
      { id: 'b', tenantId: 'a' },
      { id: 'a","b' },
      { id: '"b"', tenantId: 'a' },
      { id: 'b', tenantId: '' },
      { id: 'b' },
      { id: 'b', tenantId: 'null' },
    ];
    expect(new Set(users.map(scopeOf)).size).to.equal(users.length);
  });
});
