type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** `_bucket`, `_sum` and `_count` of a histogram. */
  readonly suffix?: string;
}

export interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export function gauge(name: string, help: string, value: number | readonly Sample[]): Metric {
  return { name, type: 'gauge', help, samples: samplesOf(value) };
}

export function counter(name: string, help: string, value: number | readonly Sample[]): Metric {
  return { name, type: 'counter', help, samples: samplesOf(value) };
}

function samplesOf(value: number | readonly Sample[]): readonly Sample[] {
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}

/** The text format of Prometheus, version 0.0.4. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, type, help, samples }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(({ labels, value, suffix = '' }) => `${name}${suffix}${labelsText(labels)} ${value}`),
        '',
      ].join('\n'),
    )
    .join('');
}

function labelsText(labels: Labels): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
