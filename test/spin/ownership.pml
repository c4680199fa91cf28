/*
 * Who owns an execution, as a model for Spin: two executors hand one execution off, two workers claim it, send its one call and
 * commit; a reaper takes it from whoever is silent, a look-up answers for calls whose outcome is unknown. Executors and workers die
 * and stall between any two transactions, a few times.
 *
 * Checked in every interleaving: the outside sees the effect at most once, a state that ended does not change any more, and when
 * nothing can move the work is done.
 *
 * Each of these takes one guard away, and each must make it fail:
 *   NO_OUTBOX   the message is sent after the handoff commits, not by its transaction
 *   NO_FENCE    a worker writes without looking whether the execution is still its own
 *   REQUEUE     a call that was in flight when its worker fell silent is done again
 *   NO_DEADLINE "it is not there" is believed while the call may still go out
 */

#define DEATHS  2
#define STALLS  2
#define CALLS   (1 + DEATHS + STALLS)

mtype = { requested, scheduling, scheduled, running, held, completed }
mtype = { none, in_flight, unknown, applied }

/* The database. Every change of it stands in an atomic block: one transaction. */
mtype status = requested;
byte  epoch = 0;
byte  owner = 0;
bool  isMessage = false;
mtype call = none;
byte  calls = 0;

/* The outside, and time. */
byte effects = 0;
bool deadlinePassed[CALLS + 1];
byte deaths = 0;
byte stalls = 0;
bool isSilent[3];        /* by worker: its lease has run out, whether it is dead or only slow */
bool isSchedulerGone = false;

#ifdef NO_FENCE
#define MINE true
#else
#define MINE (status == running && owner == me && epoch == mine)
#endif

inline mayDie() {
  if
  :: atomic { deaths < DEATHS -> deaths++ }; goto dead
  :: true
  fi
}

/* Dead or slow, nobody can tell: its place is given to another, and it may go on. */
proctype Executor() {
again:
  atomic { status == requested -> status = scheduling }
  if
  :: atomic { deaths < DEATHS -> deaths++ }; goto gone
  :: atomic { stalls < STALLS -> stalls++; isSchedulerGone = true }
  :: true
  fi;
#ifdef NO_OUTBOX
  if
  :: atomic { status == scheduling -> status = scheduled; epoch++ }
  :: atomic { status != scheduling -> goto again }
  fi;
  if
  :: atomic { deaths < DEATHS -> deaths++ }; goto again
  :: true
  fi;
  isMessage = true;
#else
  if
  :: atomic { status == scheduling -> status = scheduled; epoch++; isMessage = true }
  :: atomic { status != scheduling -> skip }
  fi;
#endif
  goto again;
gone:
  isSchedulerGone = true;
  goto again
}

/* The lease on scheduling runs out. */
proctype Sweeper() {
again:
  atomic {
    isSchedulerGone -> isSchedulerGone = false;
    if
    :: status == scheduling -> status = requested
    :: else
    fi
  }
  goto again
}

proctype Worker(byte me) {
  byte mine;
  byte myCall;
again:
  mine = 0; myCall = 0;
  atomic { isMessage && status == scheduled -> isMessage = false; status = running; owner = me; mine = epoch; isSilent[me] = false }
  mayDie();
  if
  :: call == applied -> goto next
  :: call != applied
  fi;
  if
  :: atomic { MINE && call != applied -> call = in_flight; calls++; assert(calls <= CALLS); myCall = calls }
  :: atomic { !MINE -> goto again }
  fi;
  mayDie();
  /* The deadline is looked at in the very tick that writes the first byte. */
  atomic {
    if
    :: !deadlinePassed[myCall] -> effects++; assert(effects <= 1)
    :: else
    fi
  }
  mayDie();
  if
  :: atomic { MINE && call == in_flight && effects == 1 -> call = applied }
  :: atomic { MINE && call == in_flight && effects == 0 -> call = none; status = requested; goto again }
  :: atomic { !MINE || call != in_flight -> goto again }
  fi;
  mayDie();
next:
  if
  :: atomic { MINE -> assert(status != completed); status = completed }
  :: atomic { !MINE -> skip }
  fi;
  goto again;
dead:
  isSilent[me] = true;
  goto again             /* started again under the same name: another incarnation, with nothing in its memory */
}

/* A worker that is only slow loses its lease too. */
proctype Slowness(byte worker) {
  do
  :: atomic { stalls < STALLS && status == running && owner == worker && !isSilent[worker] -> stalls++; isSilent[worker] = true }
  od
}

proctype Reaper() {
again:
  atomic {
    status == running && isSilent[owner] -> epoch++;
    isSilent[owner] = false;
    owner = 0;
    if
#ifdef REQUEUE
    :: call == in_flight -> call = none; status = requested
#else
    :: call == in_flight -> call = unknown; status = held
#endif
    :: call != in_flight -> status = requested
    fi
  }
  goto again
}

/* A deadline passes some time after its call was given up; before that only for a worker that is slow. */
proctype Time() {
  do
  :: atomic { status == held && !deadlinePassed[calls] -> deadlinePassed[calls] = true }
  :: atomic { stalls < STALLS && call == in_flight && !deadlinePassed[calls] -> stalls++; deadlinePassed[calls] = true }
  od
}

/* Asks the outside, and believes "it is not there" only when nothing can come any more. */
proctype LookUp() {
again:
  atomic {
#ifdef NO_DEADLINE
    status == held ->
#else
    status == held && (effects > 0 || deadlinePassed[calls]) ->
#endif
    if
    :: effects > 0 -> call = applied
    :: else -> call = none
    fi;
    status = requested
  }
  goto again
}

init {
  atomic {
    run Executor(); run Executor(); run Sweeper();
    run Worker(1); run Worker(2); run Slowness(1); run Slowness(2);
    run Reaper(); run Time(); run LookUp()
  }
  /* Nothing can move any more: then the work is done, and was done once. */
  timeout -> assert(status == completed && effects == 1)
}
