import { JSON_DEPTH_MAX } from '#base';

/** Every limit a script runs under, with its reason. A test may lower one; nothing raises them at run time. */
export interface Limits {
  /** What the script's own values may take. */
  readonly memoryBytes: number;
  /** Processor time of one phase, on the child's own clock: a busy machine does not make a script fail. */
  readonly cpuMs: number;
  /** Time without a host call or an answer to one. */
  readonly wallMs: number;
  /** One message in all, waiting for the host included. */
  readonly totalMs: number;
  /** How long after a limit the child may take to say so before the host ends it. */
  readonly killAfterMs: number;
  /** Recursion inside the script. Above about 300 KiB the child's own stack could give way first. */
  readonly stackBytes: number;
  readonly resultChars: number;
  readonly eventChars: number;
  readonly publishes: number;
  readonly hostCalls: number;
  /** As many as events: a producer registers one input for each event it publishes. */
  readonly inputs: number;
  readonly logs: number;
  readonly logChars: number;
  /** The arguments of one connector call. */
  readonly callChars: number;
  /** An input: where it came from, what it is called, its title. */
  readonly inputChars: number;
  /** All a phase sends to the host: events, inputs, log lines, arguments. The host holds it until the run commits. */
  readonly sentBytes: number;
  /** One answer of the host. */
  readonly answerChars: number;
  readonly titleChars: number;
  readonly reservations: number;
}

const KIB = 1_024;
const MIB = 1_024 * KIB;

export const LIMITS: Limits = {
  memoryBytes: 64 * MIB,
  cpuMs: 2_000,
  wallMs: 30_000,
  totalMs: 300_000,
  killAfterMs: 1_000,
  stackBytes: 256 * KIB,
  resultChars: 1 * MIB,
  eventChars: 256 * KIB,
  publishes: 1_000,
  hostCalls: 1_000,
  inputs: 1_000,
  logs: 1_000,
  logChars: 64 * KIB,
  callChars: 1 * MIB,
  inputChars: 4 * KIB,
  sentBytes: 16 * MIB,
  answerChars: 16 * MIB,
  titleChars: 200,
  reservations: 1_000,
};

export type LimitName =
  | 'memory'
  | 'cpu'
  | 'wall'
  | 'total'
  | 'stack'
  | 'result'
  | 'event'
  | 'publishes'
  | 'hostCalls'
  | 'inputs'
  | 'logs'
  | 'log'
  | 'call'
  | 'input'
  | 'sent'
  | 'answer'
  | 'depth'
  | 'title'
  | 'reservations';

/** What a person reads when a limit is hit; it always names the limit. */
export function limitMessage(name: LimitName, limits: Limits): string {
  return `limit ${name}: ${SENTENCES[name](limits)}`;
}

export function isLimitName(text: string): text is LimitName {
  return Object.hasOwn(SENTENCES, text);
}

const SENTENCES: Readonly<Record<LimitName, (limits: Limits) => string>> = {
  memory: (l) => `the script needs more than ${size(l.memoryBytes)} of memory`,
  cpu: (l) => `the script computed for more than ${seconds(l.cpuMs)} in one phase`,
  wall: (l) => `the script went ${seconds(l.wallMs)} without a host call and did not finish`,
  total: (l) => `the handler took more than ${seconds(l.totalMs)} in all, waiting included`,
  stack: () => 'the script recursed too deep (maximum call stack size exceeded)',
  result: (l) => `the handler's result is larger than ${size(l.resultChars)} of JSON`,
  event: (l) => `an event's payload is larger than ${size(l.eventChars)} of JSON`,
  publishes: (l) => `the handler published more than ${l.publishes} events`,
  hostCalls: (l) => `the handler made more than ${l.hostCalls} host calls (peek, getByIds, connector reads)`,
  inputs: (l) => `the handler registered more than ${l.inputs} inputs`,
  logs: (l) => `the handler wrote more than ${l.logs} log lines`,
  log: (l) => `a log line is larger than ${size(l.logChars)} of JSON`,
  call: (l) => `the arguments of a connector call are larger than ${size(l.callChars)} of JSON`,
  input: (l) => `an input is larger than ${size(l.inputChars)} of JSON`,
  sent: (l) => `the handler sent more than ${size(l.sentBytes)} of events, inputs, log lines and arguments`,
  answer: (l) => `the answer to a host call is larger than ${size(l.answerChars)} of JSON`,
  depth: () => `data is nested deeper than ${JSON_DEPTH_MAX} levels`,
  title: (l) => `a title is longer than ${l.titleChars} characters`,
  reservations: (l) => `the result reserves more than ${l.reservations} events`,
};

function size(bytes: number): string {
  return bytes >= MIB ? `${bytes / MIB} MiB` : bytes >= KIB ? `${bytes / KIB} KiB` : `${bytes} bytes`;
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}
