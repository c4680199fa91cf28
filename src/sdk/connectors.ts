import type { Any } from './topic.ts';

declare const RESULT: unique symbol;

/** What a mutation hands back inside `mutate`: a call for the host to make, not a value for the script. */
export interface Mutation<R> {
  readonly [RESULT]: R;
}

type Scalar = string | number | boolean;

export interface HttpRequest {
  path: string;
  query?: Record<string, Scalar | readonly Scalar[]>;
  headers?: Record<string, string>;
}

/** At most one of them. */
export interface HttpBody {
  json?: unknown;
  form?: Record<string, Scalar | readonly Scalar[]>;
  text?: string;
}

/** `body` is the parsed JSON, text or base64. Its type is the author's claim: nobody checks what a server sends. */
export interface HttpResponse<B> {
  status: number;
  headers: Record<string, string>;
  body: B;
  bodyEncoding?: 'base64';
  /** Why there is no body though the provider sent one. */
  bodyOmitted?: string;
}

/** Null when a person said that the call happened and could not say what was answered. */
type HttpResult<B> = HttpResponse<B> | null;

export interface FileEntry {
  name: string;
  size: number;
  modifiedAt: number;
  kind: 'file' | 'folder';
}

/**
 * Every connector a script may use, by type. Others add theirs:
 * `declare module 'pawl' { interface Connectors { sms: { reads: {…}; mutations: {…} } } }`.
 */
export interface Connectors {
  http: {
    reads: {
      get<B = Any>(request: HttpRequest): Promise<HttpResponse<B>>;
      head(request: HttpRequest): Promise<HttpResponse<null>>;
    };
    mutations: {
      post<B = Any>(request: HttpRequest & HttpBody): Promise<Mutation<HttpResult<B>>>;
      put<B = Any>(request: HttpRequest & HttpBody): Promise<Mutation<HttpResult<B>>>;
      patch<B = Any>(request: HttpRequest & HttpBody): Promise<Mutation<HttpResult<B>>>;
      delete<B = Any>(request: HttpRequest & HttpBody): Promise<Mutation<HttpResult<B>>>;
    };
  };
  files: {
    reads: {
      list(request?: { dir?: string; folders?: boolean }): Promise<FileEntry[]>;
      read(request: { path: string; encoding?: 'utf8' | 'base64' }): Promise<string>;
    };
    mutations: {
      append(request: { path: string; text: string }): Promise<Mutation<{ offset: number }>>;
      write(request: { path: string; text: string }): Promise<Mutation<{ bytes: number }>>;
    };
  };
}

/** Connection name → connector type. The connection of that name in `pawl.config.ts` is what the script talks to. */
export type Uses = Record<string, keyof Connectors>;
export type ReadsOf<U extends Uses> = { readonly [K in keyof U]: Connectors[U[K]]['reads'] };
export type MutationsOf<U extends Uses> = { readonly [K in keyof U]: Connectors[U[K]]['mutations'] };
