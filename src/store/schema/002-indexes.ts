/** Calls of all workflows by what is the matter with them: for lists and charts of everything. */
export const INDEXES: readonly string[] = [
  `CREATE INDEX mutations_trouble ON mutations (status, id) WHERE status <> 'applied' AND status <> 'in_flight'`,
];
