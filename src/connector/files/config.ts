import { z } from 'zod';
import { SETTINGS } from '../settings.ts';

const BYTES_MAX = 32 * 1024 * 1024;

const FIELDS = {
  type: z.literal('files'),
  /** The folder the scripts may use; relative to the config file. */
  root: z
    .string('root is missing: it must be a folder')
    .min(1, 'must be a folder')
    .refine((path) => !path.includes('\0'), 'must not hold NUL'),
  readBytesMax: z
    .int()
    .min(1)
    .max(BYTES_MAX)
    .default(4 * 1024 * 1024),
  ...SETTINGS,
};

export const filesConfigSchema = z.strictObject(FIELDS);
export const filesConfigFields = Object.keys(FIELDS);
export type FilesConfig = z.infer<typeof filesConfigSchema>;
