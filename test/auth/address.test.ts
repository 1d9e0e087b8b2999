import { expect } from 'chai';
import { addressKey } from '../../server/auth/address.js';

describe('addressKey', () => {
  const same: readonly (readonly [string, string])[] = [
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.9.8.7', '127.0.0.1'],
    ['::ffff:127.0.0.9', '127.0.0.1'],
    ['::1', '127.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::ff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['', 'local'],
    ['not an address', 'not an address'],
  ];
  for (const [ip, key] of same) {
    it(`writes ${ip || 'no address'} as ${key}`, () => {
      expect(addressKey(ip)).to.equal(key);
    });
  }

  it('keeps two networks apart', () => {
    expect(addressKey('2001:db8:1:2::1')).not.to.equal(addressKey('2001:db8:1:3::1'));
    expect(addressKey('1.2.3.4')).not.to.equal(addressKey('1.2.3.5'));
  });

  it('bounds the length of anything else', () => {
    expect(addressKey('x'.repeat(100_000))).to.have.length(64);
  });
});
