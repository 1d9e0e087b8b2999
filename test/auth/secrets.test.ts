import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { checkSecrets } from '../../server/auth/secrets.js';
import type { AuthConfig } from '../../server/auth/types.js';
import { refusalOf } from '../support/refused.js';
import { SECRET } from './fixtures.js';

const open = { loopback: false, embedded: false };
const loopback = { loopback: true, embedded: false };
const embedded = { loopback: false, embedded: true };
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();

describe('checkSecrets', () => {
  const weak: readonly (readonly [string, AuthConfig, string])[] = [
    ['a short token', { type: 'token', token: 'tiny-token' }, 'auth.token'],
    ['one short token of two', { type: 'token', token: [SECRET, 'tiny-token'] }, 'auth.token'],
    ['a short JWT secret', { type: 'jwt', secret: 'tiny-token' }, 'auth.secret'],
    ['a short JWT secret in bytes', { type: 'jwt', secret: Buffer.from('tiny-token') }, 'auth.secret'],
  ];
  for (const [name, auth, path] of weak) {
    it(`refuses ${name} on an open host and warns elsewhere`, async () => {
      const error = await refusalOf(() => checkSecrets(auth, open));
      expect(error.code).to.equal('INVALID_REQUEST');
      expect(error.details).to.have.nested.property('[0].path', path);
      expect(error.message).to.contain(path).and.not.to.contain('tiny-token');
      for (const where of [loopback, embedded]) {
        const warnings = checkSecrets(auth, where);
        expect(warnings).to.have.length(1);
        expect(warnings[0]).to.contain(path).and.not.to.contain('tiny-token');
      }
    });
  }

  const fine: readonly (readonly [string, AuthConfig])[] = [
    ['32 bytes in fewer characters', { type: 'token', token: 'é'.repeat(16) }],
    ['a long JWT secret', { type: 'jwt', secret: SECRET }],
    ['published keys of a named issuer', { type: 'jwt', jwksUri: 'https://us.test/keys', issuer: 'us' }],
    ['published keys on this machine', { type: 'jwt', jwksUri: 'http://[::1]:1/keys', audience: 'us' }],
    ['a PEM key', { type: 'jwt', secret: pem, algorithms: ['ES256'] }],
    ['a function', { type: 'token', token: () => 'tiny-token' }],
    ['no authentication that is written out', { type: 'none' }],
    ['custom', { type: 'custom', validate: () => ({ valid: false }) }],
  ];
  for (const [name, auth] of fine) {
    it(`has nothing against ${name}`, () => {
      for (const where of [open, loopback, embedded]) expect(checkSecrets(auth, where)).to.deep.equal([]);
    });
  }

  it('warns of published keys that travel in the clear, and of tokens for whomever', () => {
    for (const where of [open, loopback, embedded]) {
      const warnings = checkSecrets({ type: 'jwt', jwksUri: 'http://keycloak:8080/keys' }, where);
      expect(warnings).to.have.length(2);
      expect(warnings[0]).to.contain('auth.jwksUri').and.contain('https');
      expect(warnings[1]).to.contain('auth.issuer').and.contain('auth.audience');
    }
  });

  it('refuses an open host without auth, warns in embedded mode and is silent on loopback', async () => {
    const error = await refusalOf(() => checkSecrets(undefined, open));
    expect(error.details).to.have.nested.property('[0].path', 'auth');
    expect(checkSecrets(undefined, embedded)).to.have.length(1);
    expect(checkSecrets(undefined, loopback)).to.deep.equal([]);
  });
});
