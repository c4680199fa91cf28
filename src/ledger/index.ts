// ledger: a mutation from intent to settled: described and recorded before it is sent, sent once, looked up when nobody knows.
// It never retries a call and never guesses an outcome; what each outcome means for the run is the model's business.
// Start reading at ledger.ts.

export { PERMITS_FRESH_MS, type Permits } from './approval.ts';
export { CallRefused, refusedCall } from './call-refused.ts';
export { Ledger, type LedgerConnections, type SeenVersion, type Sent } from './ledger.ts';
