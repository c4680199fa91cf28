// secret: credentials as they are kept: each sealed under a key of its own, which is sealed under the master key of the engine.
// It never writes a value down, never logs one, and gives one out only to whoever makes a call with it.
// Start reading at vault.ts, then box.ts for what is kept, then keys.ts for where the master key comes from.
export { KeyUnavailableError } from './key-unavailable.ts';
export { type KeySettings, type MasterKeys, masterKeys } from './keys.ts';
export { type StoredSecret, Vault } from './vault.ts';
