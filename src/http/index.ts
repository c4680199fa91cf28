// http: the engine's API on this machine: who asks is checked, what is asked is parsed, and every answer and error has one shape.
// It never decides and never writes rows: acts go to the manager in a person's name, reads are told by story.
// Start reading at route.ts, then serve.ts and guard.ts; routes/ has one file for each kind of question, shapes/ what it answers.
export type { Retyped } from './cannot-listen.ts';
export { clientTypes } from './client-types.ts';
export { documentOf } from './document.ts';
export { MetricsPage } from './metrics-page.ts';
export type { Route } from './route.ts';
export { ROUTES } from './routes.ts';
export { type Served, type ServeOptions, serve } from './serve.ts';
export { serveProbes } from './serve-probes.ts';
