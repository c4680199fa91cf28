// session: one pass over a workflow: what is due, run after run, until nothing is left or something asks it to stop.
// It never chooses what comes next (the model does, in the commit of the run before) and never runs two handlers at once.
// Start reading at run-session.ts.
export { runDueSession, type SessionHost } from './run-session.ts';
export { StayHabits, type Staying } from './stay.ts';
export { takeHandOff } from './take-hand-off.ts';
