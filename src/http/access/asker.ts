import type { TokenId } from '#base';
import type { TokenScope } from '#model';

/** Who asks: in whose name an act is kept, and what they may do. */
export interface Asker {
  readonly by: string;
  readonly scopes: readonly TokenScope[];
  /** `owner` has the token of the data folder, and says by which name. */
  readonly kind: 'owner' | 'token' | 'session';
  readonly token: TokenId | null;
  readonly expiresAt: number | null;
}
