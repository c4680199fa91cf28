/** The part of undici that is a connection. The whole of it, with a browser's fetch, WebSocket and cache, takes 10 MB more. */
declare module 'undici/lib/dispatcher/client.js' {
  // biome-ignore lint/style/noDefaultExport: it is undici's own.
  export { Client as default } from 'undici';
}
