// app: the engine put together: data folder, connections, sandbox, ledger and scheduler, started and stopped as one thing.
// It never decides and never speaks to people: the API and the command line stand in front of it.
// Start reading at start-app.ts.

export { type Activated, type ActivateOptions, activate, allowRequest } from './activate.ts';
export { type Deployed, type DeployOptions, deploy, deployCode, validateCode } from './deploy.ts';
export { FleetConfig, isPoolName } from './fleet-config.ts';
export { asksOf, kindOf, missingFor, openRequestOf, wantedBy } from './permissions.ts';
export type { FleetPlace } from './start-app.ts';
export { type App, type AppOptions, type AppParts, type Membership, runApp, runMember, startApp } from './start-app.ts';
