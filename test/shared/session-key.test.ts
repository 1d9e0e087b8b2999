import { expect } from 'chai';
import fc from 'fast-check';
import { isGatewayError } from '../../shared/errors.js';
import { formatSessionKey, isAppName, parseSessionKey } from '../../shared/session-key.js';

const app = fc.stringMatching(/^[A-Za-z0-9_.@+-]{1,128}$/);
const name = fc.stringMatching(/^[A-Za-z0-9_.:@+-]{1,128}$/);

describe('session keys', () => {
  it('are read as they were written, for the default app and others', () => {
    fc.assert(
      fc.property(app, name, app, (a, n, defaultApp) => {
        expect(parseSessionKey(formatSessionKey({ app: a, name: n }, defaultApp), defaultApp)).to.deep.equal({
          app: a,
          name: n,
        });
      }),
    );
  });

  it('have one canonical form for both spellings', () => {
    const canonical = (text: string): string => formatSessionKey(parseSessionKey(text, 'chat'), 'chat');
    expect(canonical('main')).to.equal('main');
    expect(canonical('chat:main')).to.equal('main');
    expect(canonical('help:main')).to.equal('help:main');
    // A bare name with a colon would be read as another app's.
    expect(canonical('chat:a:b')).to.equal('chat:a:b');
  });

  for (const text of [
    '',
    ':',
    'chat:',
    ':main',
    'a b',
    '../x',
    'a/b',
    'a%00',
    'ä',
    'a\n',
    '~',
    '~~a',
    'a~',
    'a=b',
    'a,b',
    'x'.repeat(129),
    `chat:${'x'.repeat(129)}`,
  ]) {
    it(`${JSON.stringify(text.slice(0, 12))} (${text.length} characters) is refused`, () => {
      expect(() => parseSessionKey(text, 'chat'))
        .to.throw()
        .that.satisfies((error: unknown) => isGatewayError(error) && error.code === 'INVALID_REQUEST');
    });
  }

  it('name what somebody shares, with a mark before it', () => {
    expect(parseSessionKey('~a', 'chat')).to.deep.equal({ app: 'chat', name: '~a' });
    expect(formatSessionKey(parseSessionKey('help:~a', 'chat'), 'chat')).to.equal('help:~a');
  });

  it('bound the name alone', () => {
    expect(parseSessionKey(`chat:${'x'.repeat(128)}`, 'other').name).to.have.length(128);
  });

  it('refuse what is no text', () => {
    for (const value of [undefined, null, 1, {}, ['main']]) {
      expect(() => parseSessionKey(value as string, 'chat')).to.throw('sessionId must be');
    }
  });

  it('take no colon in the name of an app', () => {
    expect(isAppName('my-app.v2')).to.equal(true);
    expect(isAppName('a:b')).to.equal(false);
    expect(isAppName('')).to.equal(false);
  });
});
