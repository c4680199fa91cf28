import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PawlError } from '#base';

/** An engine as a process of its own, so that its death is a real one. */
export interface EngineProcess {
  readonly url: string;
  readonly pid: number;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface EngineProcessOptions {
  readonly config: string;
  readonly dataDir: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url));

/** On another port where somebody took this one in the meantime. */
export async function startEngine(options: EngineProcessOptions): Promise<EngineProcess> {
  try {
    return await startOn(options);
  } catch (error) {
    if (!(error instanceof PawlError && error.code === PORT_TAKEN) || options.port === 0) throw error;
    return startOn({ ...options, port: 0 });
  }
}

const PORT_TAKEN = 'port-taken';

async function startOn({ config, dataDir, port, env }: EngineProcessOptions): Promise<EngineProcess> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      MAIN,
      'start',
      '--config',
      config,
      '--data',
      dataDir,
      '--port',
      `${port}`,
      '--until-input-ends',
    ],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { ...env }, detached: true },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await readyUrl(child, exited);
  return {
    url,
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function readyUrl({ stdout, stderr }: ChildProcess, exited: Promise<void>): Promise<string> {
  const said: string[] = [];
  if (stderr) createInterface({ input: stderr }).on('line', (line) => said.push(line));
  const ready = new Promise<string>((resolve) => {
    if (!stdout) return;
    createInterface({ input: stdout }).on('line', (line) => {
      const [, url] = /^pawl ready (\S+)$/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
  const url = await Promise.race([ready, exited]);
  if (typeof url === 'string') return url;
  throw new PawlError({
    code: said.some((line) => line.includes('cannot listen on port')) ? PORT_TAKEN : 'engine-did-not-start',
    message: 'the engine of the example did not start',
    why: said.join('\n  ') || 'it ended without a word',
    next: [{ label: 'see whether the rest of the checkout is in order', argv: ['npm', 'test'] }],
  });
}
