// bus: a second way for the messages of a fleet, over NATS JetStream, for large fleets and for other systems that listen.
// It never owns anything: what a message says is a hint to look, and ownership is the row; without NATS the table moves everything.
// Start reading at nats-bus.ts. Whoever does not use it never loads it.
export { NatsBus } from './nats-bus.ts';
