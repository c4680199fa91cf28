import { isIP, type LookupFunction, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { isPublicAddress } from './public-address.ts';

/** The address behind a name is not one a connection may reach. */
export class AddressRefusedError extends Error {
  constructor(host: string, address: string) {
    const leads = host === address ? host : `${host}, which leads to ${address},`;
    super(`${leads} is not a public address, and the operator did not write its origin in the config`);
    this.name = 'AddressRefusedError';
  }
}

export interface Destination {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The operator wrote this origin: it may be anywhere. Otherwise every address is checked. */
  readonly trusted: boolean;
  readonly lookup: LookupFunction;
  readonly ca: string | undefined;
}

type Connected = (error: Error | null, socket: Socket | null) => void;

/**
 * Opens a TCP connection, and TLS on it. The check is made on the address that is really connected to, so that a name
 * that changes its answer between check and use gains nothing. Returns the TCP socket at once, so that it can be reset.
 */
export function openSocket(to: Destination, connected: Connected): Socket {
  const once = onlyOnce(connected);
  const tcp = tcpConnect({
    host: to.host,
    port: to.port,
    lookup: to.trusted ? to.lookup : publicOnly(to.lookup),
    autoSelectFamily: true,
    noDelay: true,
    keepAlive: true,
  });
  tcp.on('error', (error) => once(error, null));
  tcp.on('close', () => once(new Error(`the connection to ${to.host} was closed before it was ready`), null));
  // Names are checked as they resolve; an address written as such is never looked up.
  if (!to.trusted && isIP(to.host) !== 0 && !isPublicAddress(to.host)) {
    tcp.destroy(new AddressRefusedError(to.host, to.host));
    return tcp;
  }
  tcp.once('connect', () => {
    const address = tcp.remoteAddress ?? '';
    if (!to.trusted && !isPublicAddress(address)) {
      tcp.destroy(new AddressRefusedError(to.host, address));
    } else if (to.secure) {
      startTls(tcp, to, once);
    } else {
      once(null, tcp);
    }
  });
  return tcp;
}

function startTls(tcp: Socket, to: Destination, connected: Connected): void {
  const secure = tlsConnect({
    socket: tcp,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(to.host) === 0 ? { servername: to.host } : { host: to.host }),
    ...(to.ca === undefined ? {} : { ca: to.ca }),
  });
  secure.on('error', (error) => {
    connected(error, null);
    tcp.destroy();
  });
  secure.once('secureConnect', () => connected(null, secure));
}

/** Resolves a name, and refuses it if any of its addresses is not public. */
function publicOnly(lookup: LookupFunction): LookupFunction {
  return (host, options, callback) => {
    lookup(host, options, (error, address, family) => {
      if (error) return callback(error, address, family);
      const addresses = Array.isArray(address) ? address.map((entry) => entry.address) : [address];
      const refused = addresses.find((candidate) => !isPublicAddress(candidate));
      if (refused === undefined) return callback(null, address, family);
      callback(new AddressRefusedError(host, refused), address, family);
    });
  };
}

function onlyOnce(connected: Connected): Connected {
  let called = false;
  return (error, socket) => {
    if (called) return;
    called = true;
    connected(error, socket);
  };
}
