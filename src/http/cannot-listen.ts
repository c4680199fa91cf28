import { PawlError } from '#base';

/** The command that was typed, as it could be typed instead. */
export interface Retyped {
  /** On any free port. */
  readonly anyPort: readonly string[];
  /** For this machine only. */
  readonly hereOnly: readonly string[];
}

interface Wanted {
  /** What was to listen. */
  readonly what: string;
  readonly address: string;
  readonly port: number;
}

const FREE_PORT = 'take any free port';

/** Another port helps where the port is the trouble, and not where the address is. */
export function cannotListen(
  { what, address, port }: Wanted,
  { anyPort, hereOnly }: Retyped,
  cause: unknown,
): PawlError {
  switch (cause instanceof Error && 'code' in cause ? cause.code : undefined) {
    case 'EADDRINUSE':
      return new PawlError({
        code: 'port-taken',
        message: `${what} cannot listen on port ${port}`,
        why: 'another program listens there, perhaps another engine',
        next: [{ label: FREE_PORT, argv: anyPort }],
        cause,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new PawlError({
        code: 'cannot-listen',
        message: `${what} cannot listen on ${address}`,
        why: 'this machine has no such address',
        next: [{ label: 'listen for this machine only', argv: hereOnly }, { label: 'or name an address that it has' }],
        cause,
      });
    default:
      return new PawlError({
        code: 'cannot-listen',
        message: `${what} cannot listen on port ${port} of ${address}`,
        why: cause instanceof Error ? cause.message : String(cause),
        next: [{ label: FREE_PORT, argv: anyPort }],
        cause,
      });
  }
}
