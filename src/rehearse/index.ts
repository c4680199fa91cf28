// rehearse: runs an author's workflow with the real engine on a folder of its own, with every mutation captured; then again with a
// crash at every place where it could have died, and says what the engine did. It never lets an effect leave the machine.
// Start reading at rehearse.ts, then life.ts and crash.ts.
export type { CrashPoint } from './crash.ts';
export { type Rehearsal, type RehearsedCall, rehearse } from './rehearse.ts';
export { joinSamples, NO_SAMPLES, parseSamples, type Samples } from './samples.ts';
export { type MatrixRow, matrixOf } from './words.ts';
