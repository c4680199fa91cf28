import type { CompiledScript, CompileOptions, Finding } from '#script';

export interface Checked {
  readonly file: string;
  /** Undefined: it has errors. */
  readonly compiled: CompiledScript | undefined;
  readonly findings: readonly Finding[];
}

/** There is no script that could be wrong. */
export function isMissing({ compiled, findings }: Checked): boolean {
  return compiled === undefined && findings.some(({ code }) => code === 'no-such-file');
}

/** The same sandbox that runs scripts reads them, in children of this process. */
export async function compileFiles(files: readonly string[]): Promise<Checked[]> {
  // Loaded here: commands that compile nothing start faster without them.
  const [{ createSandboxPool }, { catalogueOf }] = await Promise.all([import('#sandbox'), import('#connector')]);
  const sandbox = createSandboxPool({ children: 1 });
  try {
    const connectors = catalogueOf();
    const checked: Checked[] = [];
    for (const file of files)
      checked.push(await compileFile({ file, connectors, describe: (code) => sandbox.describe(code) }));
    return checked;
  } finally {
    await sandbox.close();
  }
}

async function compileFile(options: CompileOptions): Promise<Checked> {
  const { compileScript, ScriptInvalidError } = await import('#script');
  const { file } = options;
  try {
    const compiled = await compileScript(options);
    return { file, compiled, findings: compiled.findings };
  } catch (error) {
    if (!(error instanceof ScriptInvalidError)) throw error;
    return { file, compiled: undefined, findings: error.findings };
  }
}
