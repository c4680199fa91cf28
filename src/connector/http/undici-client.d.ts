/** The part of undici that is a connection. The whole of it, with a browser's fetch, WebSocket and cache, takes 10 MB more. */
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
