// permission: what a workflow may ask of its connections: what a version needs, what is missing, and all of it as sentences.
// It never decides over a person's head and never writes: what is missing is asked for.
// Start reading at grants.ts, then words.ts.
export { type Ask, covers, isCovered, merged, missingFrom } from './grants.ts';
export { askSentence, grantSentence, isNotAllowed, notAllowed } from './words.ts';
