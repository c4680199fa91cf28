/** What an id names, by its first letters, as people call it. */
const KINDS: Readonly<Record<string, string>> = {
  wf: 'workflow',
  scr: 'version',
  exe: 'execution',
  ses: 'session',
  run: 'run',
  evt: 'event',
  mut: 'output',
  inp: 'input',
  dlv: 'delivery',
  tsk: 'case',
  tok: 'token',
  req: 'request',
};

const ID = /^([a-z]{2,3})_([0-9A-Z]{10,40})$/;
const TAIL = 6;

/** Everything in a text that is an id. */
export const IDS = /\b(?:wf|scr|ses|run|evt|mut|inp|dlv)_[0-9A-Z]{10,40}\b/g;

/** `run …3P65JX`: enough to tell one from another while reading. */
export function shortId(id: string): string {
  const [, prefix = '', rest = ''] = ID.exec(id) ?? [];
  const kind = KINDS[prefix];
  return kind === undefined ? id : `${kind} …${rest.slice(-TAIL)}`;
}
