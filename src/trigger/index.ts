// trigger: what starts a workflow from outside it, checked: the signature of a webhook's delivery.
// It never runs anything and never writes: it says whether a delivery is what it claims to be.
// Start reading at verify-delivery.ts.
export { type Verified, type Verify, verifyDelivery } from './verify-delivery.ts';
