// scheduler: what runs next, and when. It sleeps until the database says that something is due, or a commit says look again.
// It never polls, never decides whether something may run (the model does), and never drives a run itself.
// Start reading at scheduler.ts.
export { handOffDue } from './hand-off-due.ts';
export { IN_FLIGHT_MAX, Scheduler, type SchedulerOptions } from './scheduler.ts';
