// story: what the tables say, in plain words: how a workflow stands, what waits for a person, what came of what.
// It never writes and never decides; every sentence follows from rows, and every command it names can be typed.
// Start reading at standing.ts, then status.ts; trail.ts leads from inputs to outputs and back.
export { actSentence } from './acts.ts';
export { type AuditVerified, verifyAudit } from './audit-chain.ts';
export { type Case, casesOf, type Fact, type SeenCall } from './case.ts';
export type { Choice } from './choices.ts';
export { deliveryStory } from './deliveries.ts';
export { countsOf, type Diagnosis, diagnosisOf } from './diagnosis.ts';
export { type Explained, explain } from './explain.ts';
export { type InputStory, inputStory } from './inputs.ts';
export { type Need, needsOf } from './needs.ts';
export { type OutputStory, outputStory } from './outputs.ts';
export { silenceWords } from './presence.ts';
export { type Status, statusOf, waitingOf } from './status.ts';
export { symptomsOf } from './symptoms.ts';
export { takersOf } from './takers.ts';
export type { Teller } from './teller.ts';
export { inputsOf, outputsOfEvent } from './trail.ts';
export { activatedAt, versionBefore, versionName } from './versions.ts';
export { outcomeWords } from './words.ts';
export { lackSentences, workersSeen } from './workers.ts';
