import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Scanned, scan } from './scan.ts';

export interface SourceFile extends Scanned {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly isTest: boolean;
}

/** Every TypeScript and JavaScript file below these folders of `root`; a folder that does not exist has none. */
export function sourceFiles(root: string, ...folders: string[]): SourceFile[] {
  return pathsBelow(root, ...folders)
    .filter((path) => /\.[cm]?[jt]s$/.test(path))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, isTest: /\.test\.[cm]?[jt]s$/.test(path), ...scan(text) };
    });
}

export function pathsBelow(root: string, ...folders: string[]): string[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(root.length + 1)
            .replaceAll('\\', '/'),
        ),
    )
    .filter((path) => !path.includes('node_modules/'))
    .sort();
}

/** `path:line`, as editors and terminals like it. */
export function place(file: SourceFile, offset: number): string {
  return `${file.path}:${file.text.slice(0, offset).split('\n').length}`;
}
