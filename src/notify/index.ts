// notify: somebody is told when something needs a person: once for each case and channel, however often the engine starts.
// It never decides what needs a person and never holds up work: a channel that fails is tried again, and shown.
// Start reading at notifier.ts, then channel.ts for what a channel is; cases.ts says when two cases are the same.
export type { Channel, Message, Told } from './channel.ts';
export type { ChannelState } from './channel-state.ts';
export { openChannels } from './config.ts';
export { Notifier } from './notifier.ts';
