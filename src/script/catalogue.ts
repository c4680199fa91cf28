/** The connectors an engine has, and what each can do. */
export type Catalogue = Readonly<
  Record<string, { readonly reads: readonly string[]; readonly mutations: readonly string[] }>
>;
