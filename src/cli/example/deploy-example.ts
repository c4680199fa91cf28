import type { Client } from '../client.ts';
import { compileFiles } from '../compile-file.ts';

export async function deployExample(file: string, client: Client): Promise<string> {
  const [checked] = await compileFiles([file]);
  if (!checked?.compiled) throw new Error(`${file} is not valid: ${JSON.stringify(checked?.findings)}`);
  const { name, code, sourceMap, calls } = checked.compiled;
  const { version } = await client.post<{ version: string }>('/api/deploy', { name, code, sourceMap, calls });
  return version;
}
