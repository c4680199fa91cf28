/** Every bound and delay the rules use, with its reason. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A `wakeAt` nearer than this would make polling of resting, one farther would hide a consumer for ever. */
export const WAKE_DELAY_MS_MIN = 30 * SECOND;
export const WAKE_DELAY_MS_MAX = 24 * HOUR;

export const BACKOFF_MS_MIN = 1 * SECOND;
export const BACKOFF_MS_MAX = 15 * MINUTE;
/** A provider may ask for more patience than our backoff, but not for ever. */
export const RETRY_AFTER_MS_MAX = 24 * HOUR;
/** Without one success for so long, waiting is no longer an answer: a person must look. */
export const TRANSIENT_MS_MAX = 24 * HOUR;

/** After its deadline a call gets this long to be over even where its process cannot be asked. */
export const CALL_GRACE_MS = 30 * SECOND;
/** How long a provider may take to show what it did, where its method does not say. */
export const VISIBILITY_MS_DEFAULT = 30 * SECOND;

export const APPROVAL_MS_MAX = 7 * DAY;
/** The scheduling lease: a crash between taking a request and handing it off frees it after so long. */
export const SCHEDULING_LEASE_MS = 15 * SECOND;

/** A request that waits for room is looked at again after so long, whatever was heard of it. */
export const SLOT_LOOK_MS = 60 * SECOND;
/** Limits that one execution counts under: its pool, and each connection of its version. */
export const SLOTS_MAX = 1_000;

/** What one process lacks, workflow by workflow: enough to see what is wrong with it, and a row stays small. */
export const LACKS_MAX = 100;
export const LACK_CHARS_MAX = 500;

/** Runs of one session before the workflow goes to the back of the line. */
export const SESSION_RUNS_MAX = 100;
/** A session older than this does not stay for what may come: nobody is to wait long for its end. */
export const SESSION_STAY_MS_MAX = 2 * SECOND;
/** From when a script is shown an event that is about to be published until it is; longer only where a clock was set. */
export const SHOWN_AHEAD_MS_MAX = 10 * SECOND;
export const FAILED_REPAIRS_MAX = 3;
export const ABANDONED_MAX = 3;
/** Reconcile attempts before a person is asked: with backoff, about a day. */
export const RECONCILE_COUNT_MAX = 12;

/** A token that nobody renews ends by itself. */
export const TOKEN_MS_MAX = 366 * DAY;
/** An approval that covers more than one call is for a day's work, not for ever: that is what a grant is for. */
export const COVER_MS_MAX = 30 * DAY;
export const COVER_CALLS_MAX = 1_000_000;
export const GRANTS_MAX = 1_000;
export const TARGETS_MAX = 100;
export const TARGET_CHARS_MAX = 1_000;
/** Sealed, as text. */
export const SECRET_CHARS_MAX = 256 * 1_024;
export const CHANNELS_MAX = 100;
/** Tries to tell somebody, doubling from 10 s: about three hours. */
export const NOTICE_TRIES_MAX = 10;
export const NOTICE_MS_MIN = 10 * SECOND;
export const NOTICE_MS_MAX = HOUR;
/** Longer than any channel may take; one that is due again after it was never settled. */
export const NOTICE_BEGUN_MS = 2 * MINUTE;
/** What a notice says of itself between its first byte and its end. */
export const NOTICE_BEGUN = 'it is being sent';

/** Chains, and whatever else, that one command looks at to remove: what waits behind it waits for some milliseconds. */
export const PRUNED_AT_ONCE_MAX = 200;

export const RESERVATIONS_MAX = 1_000;
export const PUBLISHES_MAX = 1_000;
export const EVENT_PAYLOAD_CHARS_MAX = 256 * 1_024;
export const STATE_CHARS_MAX = 64 * 1_024;
export const RESULT_CHARS_MAX = 1_024 * 1_024;
export const TITLE_CHARS_MAX = 200;
export const NAME_CHARS_MAX = 200;
