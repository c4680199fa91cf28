// Loaded before a test by `--import`: the one fault that PAWL_FAULT names is put into its files while Node loads them.
// The tree itself is never touched.

import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GUARDED_FAULTS } from '../simulation/seeded/behind-guards.ts';
import { FLEET_FAULTS } from '../simulation/seeded/in-fleets.ts';
import { HOST_FAULTS } from '../simulation/seeded/in-hosts.ts';
import { editsOf, seeded } from './fault.ts';
import { FAULTS } from './faults.ts';

const root = dirname(dirname(import.meta.dirname));
const name = process.env.PAWL_FAULT;
const fault = [...FAULTS, ...HOST_FAULTS, ...FLEET_FAULTS, ...GUARDED_FAULTS].find(
  (candidate) => candidate.name === name,
);
if (fault === undefined) throw new Error(`there is no fault named ${name}`);
const edits = editsOf(fault).map((edit) => ({ ...edit, url: pathToFileURL(join(root, edit.file)).href }));

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const here = edits.filter((edit) => edit.url === url);
    if (here.length === 0) return loaded;
    const text = Buffer.from(loaded.source as Uint8Array).toString();
    return { ...loaded, source: here.reduce(seeded, text) };
  },
});
