import type { LaterHistory } from '#store';

/** There is nobody to show the past to. */
export const NO_PAST = { close: async () => undefined } as unknown as LaterHistory;
