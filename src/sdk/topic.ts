// biome-ignore lint/suspicious/noExplicitAny: an author who declares no type gets `any`, never `unknown`; this is the one place that says so
export type Any = any;

// biome-ignore lint/suspicious/noConfusingVoidType: an author's handler that returns nothing has the type `void`, and must fit
export type Nothing = void;

/** What any validator library offers (https://standardschema.dev); copied here because authors get no dependencies. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

declare const PAYLOAD: unique symbol;

/** A topic by its type alone; `{}` is a topic whose payload is `any`. */
export interface Topic<P> {
  readonly [PAYLOAD]?: (payload: P) => P;
  readonly description?: string;
}

export type Topics = Record<string, Topic<Any> | StandardSchemaV1<Any, Any>>;

/** What a reader of the topic gets. */
export type PayloadOf<T> =
  T extends StandardSchemaV1<Any, infer O>
    ? O
    : T extends { [PAYLOAD]?: (payload: infer P) => Any }
      ? unknown extends P
        ? Any
        : P
      : Any;

/** What a publisher gives: with a validator, its input. */
export type PublishedOf<T> = T extends StandardSchemaV1<infer I, Any> ? I : PayloadOf<T>;

export function topic<P>(options: { description?: string } = {}): Topic<P> {
  return options;
}
