// Loaded before a process of a fleet: its clock on the wall is off by PAWL_CLOCK_MS.

const offMs = Number(process.env.PAWL_CLOCK_MS);
const { now } = Date;
Date.now = () => now() + offMs;
