import { TOKEN_SCOPES, type TokenScope } from '#model';

/** `operate` answers and acts, `edit` writes scripts: neither may do what the other does, and both may look. */
const INCLUDES: Readonly<Record<TokenScope, readonly TokenScope[]>> = {
  read: ['read'],
  operate: ['operate', 'read'],
  edit: ['edit', 'read'],
  admin: TOKEN_SCOPES,
};

export function allows(scopes: readonly TokenScope[], wanted: TokenScope): boolean {
  return scopes.some((scope) => INCLUDES[scope].includes(wanted));
}
