// transfer: one workflow with its history into a file, and out of it into another engine.
// It never decides what becomes of it there: that is the rule of `importWorkflow`; and nothing of a file that is not whole is put in.
// Start reading at export-file.ts, then workflow.ts.
export { exportWorkflow, importWorkflow } from './workflow.ts';
