import { CalendarClock, CirclePlay, Layers, TriangleAlert, Webhook } from 'lucide-react';
import { type ReactNode, useMemo, useRef } from 'react';
import { useTold } from '../api/clock.ts';
import { useAnswer } from '../api/queries.ts';
import type { Graph as GraphAnswer } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { duration } from '../words/time.ts';
import { count } from '../words/words.ts';
import {
  type GraphEdge,
  type GraphNode,
  graphOf,
  type Layout,
  laidOut,
  layerCount,
  type Placed,
  type Size,
} from './graph-layout.ts';
import { ScrollBox } from './scroll-box.tsx';
import { useMedia } from './use-media.ts';
import { useWidth } from './use-width.ts';

const NARROW: Size = { width: 168, height: 64, layerGap: 36, nodeGap: 12 };
const WIDTH_MIN = 132;
const WIDTH_MAX = 200;
/** Around the drawing, on both sides together. */
const PADDING = 8;

/** Producers, topics and consumers as they are joined, with what waits between them now. */
export function Graph({ workflow }: { readonly workflow: string }) {
  const { data } = useAnswer('GET /api/workflows/{workflow}/graph', { workflow });
  const isNarrow = useMedia('(width < 48rem)');
  if (!data) return null;
  if (data.version === null) return <p className="quiet">It has no active version, so there is nothing to draw.</p>;
  return <Drawn graph={data} isNarrow={isNarrow} />;
}

function Drawn({ graph, isNarrow }: { readonly graph: GraphAnswer; readonly isNarrow: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const room = useWidth(box);
  const shape = JSON.stringify(graphOf(graph));
  // Counts change all the time, the drawing only with the version.
  const layout = useMemo(() => {
    const { nodes, edges } = JSON.parse(shape) as ReturnType<typeof graphOf>;
    return isNarrow ? laidOut(nodes, edges, NARROW, 'down') : fitted(nodes, edges, room);
  }, [shape, room, isNarrow]);
  return (
    <ScrollBox label={`Graph of ${graph.name}`} className="graph card">
      <div ref={box} />
      <div className="graph-paper" style={{ width: layout.width, height: layout.height }}>
        <svg aria-hidden="true" width={layout.width} height={layout.height}>
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0.5 L7 4 L0 7.5 z" className="graph-arrow" />
            </marker>
          </defs>
          {layout.edges.map(({ key, path, isBack }) => (
            <path key={key} d={path} className="graph-edge" data-back={isBack || undefined} markerEnd="url(#arrow)" />
          ))}
        </svg>
        {layout.nodes.map((node) => (
          <Node key={node.id} node={node} graph={graph} size={layout.size} />
        ))}
      </div>
    </ScrollBox>
  );
}

/** As wide as there is room for, so that most workflows are seen whole. */
function fitted(nodes: readonly GraphNode[], edges: readonly GraphEdge[], room: number): Layout {
  const layers = layerCount(nodes, edges);
  const layerGap = room > 900 ? 48 : 24;
  const width = (room - PADDING - (layers - 1) * layerGap) / Math.max(1, layers);
  const size = {
    width: Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, Math.floor(width))),
    height: 64,
    layerGap,
    nodeGap: 20,
  };
  return laidOut(nodes, edges, size, 'right');
}

function Node({ node, graph, size }: { readonly node: Placed; readonly graph: GraphAnswer; readonly size: Size }) {
  const { icon, address, below, state } = shown(node, graph);
  return (
    <Link
      to={address}
      className="graph-node"
      data-kind={node.kind}
      data-state={state}
      style={{ left: node.x, top: node.y, width: size.width, height: size.height }}
    >
      <span className="graph-name">
        {icon}
        <span className="unseen">{node.kind} </span>
        <span className="clip">{node.name}</span>
      </span>
      <span className="graph-below clip">{below}</span>
    </Link>
  );
}

interface Shown {
  readonly icon: ReactNode;
  readonly address: string;
  readonly below: ReactNode;
  readonly state: 'quiet' | 'busy' | 'broken' | 'waiting';
}

function shown({ kind, name }: Placed, graph: GraphAnswer): Shown {
  if (kind === 'topic') {
    const topic = graph.topics.find((each) => each.name === name);
    const waits = (topic?.pending ?? 0) + (topic?.reserved ?? 0) + (topic?.parked ?? 0) > 0;
    return {
      icon: <Layers aria-hidden size={14} />,
      address: `${to.workflow(graph.name, 'events')}?topic=${encodeURIComponent(name)}`,
      below: topic ? topicWords(topic) : '',
      state: waits ? 'waiting' : 'quiet',
    };
  }
  const handler = [...graph.producers, ...graph.consumers].find((each) => each.name === name);
  const producer = graph.producers.find((each) => each.name === name);
  return {
    icon: handler?.broken ? (
      <TriangleAlert aria-hidden size={14} />
    ) : kind === 'consumer' ? (
      <CirclePlay aria-hidden size={14} />
    ) : producer?.webhook ? (
      <Webhook aria-hidden size={14} />
    ) : (
      <CalendarClock aria-hidden size={14} />
    ),
    address: `${to.workflow(graph.name, 'runs')}?handler=${encodeURIComponent(name)}`,
    below: handler ? (
      <HandlerWords handler={handler} isHook={producer?.webhook ?? false} holds={heldBy(name, graph)} />
    ) : (
      ''
    ),
    state: handler?.broken ? 'broken' : handler?.running ? 'busy' : 'quiet',
  };
}

function topicWords({ pending, reserved, parked }: GraphAnswer['topics'][number]): string {
  const parts = [
    ...(pending > 0 ? [`${pending.toLocaleString('en')} waiting`] : []),
    ...(reserved > 0 ? [`${count(reserved, 'taken', 'taken')}`] : []),
    ...(parked > 0 ? [`${parked.toLocaleString('en')} put aside`] : []),
  ];
  return parts.length === 0 ? 'nothing waits' : parts.join(', ');
}

type Handler = GraphAnswer['producers'][number] | GraphAnswer['consumers'][number];

/** Events that a consumer has taken: while it does not run, it was stopped with them. */
function heldBy(name: string, { consumers, topics }: GraphAnswer): number {
  const subscribe = consumers.find((each) => each.name === name)?.subscribe ?? [];
  return topics.filter((topic) => subscribe.includes(topic.name)).reduce((sum, { reserved }) => sum + reserved, 0);
}

interface HandlerWordsProps {
  readonly handler: Handler;
  readonly isHook: boolean;
  readonly holds: number;
}

function HandlerWords({ handler, isHook, holds }: HandlerWordsProps) {
  return useTold((now) => {
    if (handler.broken) return 'needs repair';
    if (handler.running) return 'running';
    if (holds > 0) return `holds ${count(holds, 'event')}`;
    if (handler.backoffUntil !== null && handler.backoffUntil > now)
      return `tries again in ${duration(handler.backoffUntil - now)}`;
    const next = [handler.nextAt, handler.wakeAt]
      .flatMap((at) => (at === null ? [] : [at]))
      .toSorted((a, b) => a - b)[0];
    if (next !== undefined) return next > now ? `next in ${duration(next - now)}` : 'due';
    return isHook ? 'waits for a delivery' : 'idle';
  });
}
