import type { Route } from './route.ts';
import { ACCESS_ROUTES } from './routes/access.ts';
import { ANSWER_ROUTES } from './routes/answers.ts';
import { AUDIT_ROUTES } from './routes/audit.ts';
import { CONNECTION_ROUTES } from './routes/connections.ts';
import { DATA_ROUTES } from './routes/data.ts';
import { HOOK_ROUTES } from './routes/hooks.ts';
import { LIST_ROUTES } from './routes/lists.ts';
import { LOOK_ROUTES } from './routes/look.ts';
import { NOTICE_ROUTES } from './routes/notices.ts';
import { PERMISSION_ROUTES } from './routes/permissions.ts';
import { PROBE_ROUTES } from './routes/probes.ts';
import { RECORDED_ROUTES } from './routes/recorded.ts';
import { RETENTION_ROUTES } from './routes/retention.ts';
import { SECRET_ROUTES } from './routes/secrets.ts';
import { SHOW_ROUTES } from './routes/show.ts';
import { STATUS_ROUTES } from './routes/status.ts';
import { TRANSFER_ROUTES } from './routes/transfer.ts';
import { VERSION_ROUTES } from './routes/versions.ts';
import { WORKER_ROUTES } from './routes/workers.ts';
import { WORKFLOW_ROUTES } from './routes/workflows.ts';

/** Everything the API answers to: what is mounted, what the document tells, and what the tests walk. */
export const ROUTES: readonly Route[] = [
  ...PROBE_ROUTES,
  ...DATA_ROUTES,
  ...ACCESS_ROUTES,
  ...LOOK_ROUTES,
  ...STATUS_ROUTES,
  ...LIST_ROUTES,
  ...RECORDED_ROUTES,
  ...SHOW_ROUTES,
  ...WORKFLOW_ROUTES,
  ...VERSION_ROUTES,
  ...PERMISSION_ROUTES,
  ...ANSWER_ROUTES,
  ...CONNECTION_ROUTES,
  ...WORKER_ROUTES,
  ...RETENTION_ROUTES,
  ...TRANSFER_ROUTES,
  ...SECRET_ROUTES,
  ...NOTICE_ROUTES,
  ...AUDIT_ROUTES,
  ...HOOK_ROUTES,
];
