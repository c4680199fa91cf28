import { cpuUsage, memoryUsage } from 'node:process';
import { counter, gauge, type Metric } from '#metrics';

/** Of this process itself, by the names that every monitoring system knows. */
export function processMetrics(startedAt: number): readonly Metric[] {
  const { rss, heapUsed } = memoryUsage();
  const { user, system } = cpuUsage();
  const { active } = performance.eventLoopUtilization();
  return [
    gauge('process_resident_memory_bytes', 'Memory of this process', rss),
    gauge('nodejs_heap_size_used_bytes', 'Heap in use', heapUsed),
    gauge('process_start_time_seconds', 'When it started, in seconds since 1970', startedAt / 1_000),
    counter('process_cpu_seconds_total', 'Processor time of this process', (user + system) / 1_000_000),
    counter('pawl_event_loop_busy_seconds_total', 'How long the main loop was busy', active / 1_000),
  ];
}
