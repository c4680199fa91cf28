import { BlockList, isIP } from 'node:net';

// The special-purpose registries of IANA. What is not a plain public unicast address is refused.
const NOT_PUBLIC_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Public by number, but the metadata service of a cloud.
  ['168.63.129.16', 32],
] as const;

const NOT_PUBLIC_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const notPublic = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_IPV4) notPublic.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of NOT_PUBLIC_IPV6) notPublic.addSubnet(net, prefix, 'ipv6');

const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an address is out on the internet: not this machine, its network, or a cloud's own services. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic.check(address, 'ipv4');
    case 6:
      return isPublicIpv6(address);
    default:
      return false;
  }
}

function isPublicIpv6(address: string): boolean {
  if (address.includes('%')) return false;
  const embedded = embeddedIpv4(address);
  if (embedded !== undefined) return isPublicAddress(embedded);
  return globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

/** The IPv4 address that an IPv4-mapped (::ffff:0:0/96) or NAT64 (64:ff9b::/96) address leads to. */
function embeddedIpv4(address: string): string | undefined {
  // The URL parser writes every spelling of an IPv6 address in one way.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const match = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (match === null) return undefined;
  const high = Number.parseInt(match[1] ?? '', 16);
  const low = Number.parseInt(match[2] ?? '', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
