import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useAnswer } from '../api/queries.ts';
import { useStore } from '../api/store.ts';
import type { Bucket } from '../api-types.ts';
import { theme } from '../app/theme.ts';
import { count } from '../words/words.ts';
import { useMedia } from './use-media.ts';
import { useWidth } from './use-width.ts';

const SPANS = [
  { per: 'hour', label: '48 hours' },
  { per: 'day', label: '30 days' },
] as const;

type Per = (typeof SPANS)[number]['per'];

/** Inputs and outputs over time. The same numbers stand in a table for whoever cannot see a drawing. */
export function Activity({ workflow }: { readonly workflow?: string }) {
  const [per, setPer] = useState<Per>('hour');
  const { data } = useAnswer('GET /api/chart', { per, workflow }, { keep: true });
  return (
    <div className="card activity">
      <div className="activity-head">
        <ul className="plain legend" aria-hidden>
          {SERIES.map(({ key, label }) => (
            <li key={key} data-series={key}>
              {label}
            </li>
          ))}
        </ul>
        <fieldset className="segments">
          <legend className="unseen">How far back</legend>
          {SPANS.map((span) => (
            <label key={span.per}>
              <input type="radio" name="span" checked={per === span.per} onChange={() => setPer(span.per)} />
              <span>{span.label}</span>
            </label>
          ))}
        </fieldset>
      </div>
      {data ? <Drawing items={data.items} per={per} /> : <div className="chart-space" />}
    </div>
  );
}

const SERIES = [
  { key: 'inputs', label: 'Inputs' },
  { key: 'outputs', label: 'Outputs' },
  { key: 'trouble', label: 'of them not done, waiting or unknown' },
] as const;

const HEIGHT = 170;

function Drawing({ items, per }: { readonly items: readonly Bucket[]; readonly per: Per }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const isDark = useMedia('(prefers-color-scheme: dark)');
  const chosen = useStore(theme);
  const [at, setAt] = useState<number>();
  const here = at === undefined ? undefined : items[Math.min(at, items.length - 1)];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the document change with these two
  useEffect(() => {
    if (!box.current || width === 0) return undefined;
    const chart = new uPlot(optionsOf(width, per, box.current, setAt), dataOf(items, per), box.current);
    return () => chart.destroy();
  }, [items, per, width, isDark, chosen]);
  return (
    <>
      <div ref={box} className="chart-space" aria-hidden />
      <div className="activity-foot">
        <p className="chart-here quiet" aria-hidden>
          {here && `${DAY.format(here.at)}${per === 'hour' ? `, ${HOUR.format(here.at)}` : ''}: ${bucketWords(here)}`}
        </p>
        <Numbers items={items} per={per} />
      </div>
    </>
  );
}

/** Each bucket is drawn from its beginning on: the end of the last one is a place too, or it would fall off the edge. */
function dataOf(items: readonly Bucket[], per: Per): uPlot.AlignedData {
  const last = items.at(-1);
  const end = last ? [(last.at + LENGTH_MS[per]) / 1_000] : [];
  return [
    [...items.map(({ at }) => at / 1_000), ...end],
    [...items.map(({ outputs }) => outputs), ...end.map(() => null)],
    [...items.map(({ failed, waiting, unknown }) => failed + waiting + unknown), ...end.map(() => null)],
    [...items.map(({ inputs }) => inputs), ...end.map(() => last?.inputs ?? null)],
  ];
}

const LENGTH_MS: Readonly<Record<Per, number>> = { hour: 3_600_000, day: 86_400_000 };

/** What is under the pointer, in words. */
function bucketWords({ inputs, outputs, failed, waiting, unknown }: Bucket): string {
  const trouble = failed + waiting + unknown;
  return `${count(inputs, 'input')}, ${count(outputs, 'output')}${trouble === 0 ? '' : `, ${trouble} of them not done`}`;
}

function optionsOf(
  width: number,
  per: Per,
  box: HTMLElement,
  onPoint: (at: number | undefined) => void,
): uPlot.Options {
  const colour = (name: string): string => colourOf(box, name);
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = {
    stroke: colour('--text-2'),
    font,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 24], align: 1, radius: 0.15 });
  const line = uPlot.paths.stepped?.({ align: 1 });
  return {
    width,
    height: HEIGHT,
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    legend: { show: false },
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
    padding: [8, 16, 0, 0],
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(4, max * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_chart, times) => times.map((at) => label(at * 1_000, per)),
        space: 64,
        size: 28,
      },
      {
        ...axis,
        size: 40,
        space: 24,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000],
        values: (_chart, values) => values.map((value) => value.toLocaleString('en', { notation: 'compact' })),
      },
    ],
    series: [
      {},
      { fill: colour('--chart-done'), points: { show: false }, ...(bars && { paths: bars }) },
      { fill: colour('--chart-trouble'), points: { show: false }, ...(bars && { paths: bars }) },
      { stroke: colour('--chart-in'), width: 1.5, points: { show: false }, ...(line && { paths: line }) },
    ],
  };
}

/** A canvas knows no light-dark(): the browser is asked what the colour is here and now. */
function colourOf(box: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  box.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const HOUR = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** Where a day begins it is named. */
function label(at: number, per: Per): string {
  const isMidnight = new Date(at).getHours() === 0 && new Date(at).getMinutes() === 0;
  return (per === 'hour' && !isMidnight ? HOUR : DAY).format(at);
}

/** Only what is not nothing is worth a line. */
function Numbers({ items, per }: { readonly items: readonly Bucket[]; readonly per: Per }) {
  const told = items.filter(({ inputs, outputs }) => inputs + outputs > 0);
  return (
    <details className="activity-numbers">
      <summary>As numbers</summary>
      {told.length === 0 ? (
        <p className="quiet">Nothing came in and nothing went out in this time.</p>
      ) : (
        <table className="table">
          <thead>
            <tr>
              {['Time', 'Inputs', 'Outputs', 'Done', 'Not done', 'Waiting', 'Unknown'].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {told.map(({ at, inputs, outputs, done, failed, waiting, unknown }) => (
              <tr key={at}>
                <th scope="row">
                  {DAY.format(at)} {per === 'hour' && HOUR.format(at)}
                </th>
                <td>{inputs}</td>
                <td>{outputs}</td>
                <td>{done}</td>
                <td>{failed}</td>
                <td>{waiting}</td>
                <td>{unknown}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
