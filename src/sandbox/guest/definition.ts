export type Bag = Record<string, unknown>;

export interface Entry extends Bag {
  readonly publishes?: readonly string[];
  readonly subscribe?: readonly string[];
}

/** What a script defines, as far as the prelude looks at it. Nothing of it can be relied on: the script may have put anything there. */
export interface Definition extends Bag {
  readonly topics?: Record<string, Bag>;
  readonly producers?: Record<string, Entry>;
  readonly consumers?: Record<string, Entry>;
}
