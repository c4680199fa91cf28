/** Of a call that nobody stops. All of them share it, so whoever knows it need not listen to it. */
export const NEVER_ABORTED = new AbortController().signal;
