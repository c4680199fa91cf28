/** What a token may do. Everything needs one but what is said to be open. */
export const SCOPES = ['read', 'operate', 'edit', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** `operate` answers and acts, `edit` writes scripts: neither may do what the other does, and both may look. */
const INCLUDES: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  operate: ['operate', 'read'],
  edit: ['edit', 'read'],
  admin: SCOPES,
};

export function allows(scopes: readonly Scope[], wanted: Scope): boolean {
  return scopes.some((scope) => INCLUDES[scope].includes(wanted));
}
