// http: the engine's API on this machine: who asks is checked, what is asked is parsed, and every answer and error has one shape.
// It never decides and never writes rows: acts go to the manager in a person's name, reads are told by story.
// Start reading at serve.ts, then guard.ts; routes/ has one file for each kind of question.
export { type Served, type ServeOptions, serve } from './serve.ts';
