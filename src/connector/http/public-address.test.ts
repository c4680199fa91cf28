import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPublicAddress } from './public-address.ts';

test('loopback, private, link-local, metadata and reserved addresses are not public, in any spelling', () => {
  const inside = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.8',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:a9fe:a9fe',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2001::1',
    '100::1',
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.1',
  ];
  assert.deepEqual(inside.filter(isPublicAddress), []);
  const outside = [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '172.15.0.1',
    '172.32.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ];
  assert.deepEqual(
    outside.filter((address) => !isPublicAddress(address)),
    [],
  );
});

test('an IPv4 address is as public in its IPv6 clothes as it is by itself', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      assert.equal(isPublicAddress(`::ffff:${address}`), isPublicAddress(address));
      assert.equal(isPublicAddress(`::ffff:${hex}`), isPublicAddress(address));
      assert.equal(isPublicAddress(`64:ff9b::${hex}`), isPublicAddress(address));
    }),
  );
});
