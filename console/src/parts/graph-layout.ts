import type { Graph } from '../api-types.ts';

export interface GraphNode {
  /** `producer poll`: unique in its graph. */
  readonly id: string;
  readonly kind: 'producer' | 'topic' | 'consumer';
  readonly name: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
}

export interface Placed extends GraphNode {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly size: Size;
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly Placed[];
  readonly edges: readonly { readonly key: string; readonly path: string; readonly isBack: boolean }[];
}

export interface Size {
  readonly width: number;
  readonly height: number;
  /** Between layers, and between the nodes of one. */
  readonly layerGap: number;
  readonly nodeGap: number;
}

const SWEEPS = 6;

/** What publishes to what, and who reads it. */
export function graphOf(graph: Graph): { readonly nodes: readonly GraphNode[]; readonly edges: readonly GraphEdge[] } {
  const { producers, topics, consumers } = graph;
  return {
    nodes: [
      ...producers.map(({ name }) => node('producer', name)),
      ...topics.map(({ name }) => node('topic', name)),
      ...consumers.map(({ name }) => node('consumer', name)),
    ],
    edges: [
      ...producers.flatMap(({ name, publishes }) =>
        publishes.map((topic) => ({ from: `producer ${name}`, to: `topic ${topic}` })),
      ),
      ...consumers.flatMap(({ name, subscribe, publishes }) => [
        ...subscribe.map((topic) => ({ from: `topic ${topic}`, to: `consumer ${name}` })),
        ...publishes.map((topic) => ({ from: `consumer ${name}`, to: `topic ${topic}` })),
      ]),
    ],
  };
}

function node(kind: GraphNode['kind'], name: string): GraphNode {
  return { id: `${kind} ${name}`, kind, name };
}

/**
 * Layers from left to right (or from top to bottom), so that nearly every arrow leads forward; inside a layer, nodes stand
 * near what they are joined to. Workflows are small: nothing here needs to be clever.
 */
export function laidOut(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  size: Size,
  direction: 'right' | 'down',
): Layout {
  const back = backEdges(nodes, edges);
  const forward = edges.filter((edge) => !back.has(edge));
  const layers = ordered(layersOf(nodes, forward), edges);
  const places = placesOf(layers, size, direction);
  const at = (id: string): Placed => places.get(id) as Placed;
  const across = Math.max(1, ...layers.map((layer) => layer.length));
  const [along, cross] = direction === 'right' ? [size.width, size.height] : [size.height, size.width];
  const length = layers.length * along + Math.max(0, layers.length - 1) * size.layerGap;
  const breadth = across * cross + (across - 1) * size.nodeGap;
  return {
    size,
    width: direction === 'right' ? length : breadth,
    height: direction === 'right' ? breadth : length,
    nodes: layers.flat().map(({ id }) => at(id)),
    edges: edges
      .filter(({ from, to }) => places.has(from) && places.has(to))
      .map((edge) => ({
        key: `${edge.from} → ${edge.to}`,
        path: curve(at(edge.from), at(edge.to), size, direction),
        isBack: back.has(edge),
      })),
  };
}

export function layerCount(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): number {
  const back = backEdges(nodes, edges);
  return layersOf(
    nodes,
    edges.filter((edge) => !back.has(edge)),
  ).length;
}

/** Edges that lead back to where a walk came from: without them there is no circle. */
function backEdges(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Set<GraphEdge> {
  const back = new Set<GraphEdge>();
  const state = new Map<string, 'open' | 'done'>();
  const walk = (id: string): void => {
    state.set(id, 'open');
    for (const edge of edges) {
      if (edge.from !== id) continue;
      const seen = state.get(edge.to);
      if (seen === 'open') back.add(edge);
      else if (seen === undefined) walk(edge.to);
    }
    state.set(id, 'done');
  };
  for (const { id } of nodes) if (!state.has(id)) walk(id);
  return back;
}

/** Each node one layer after the last of those that lead to it. */
function layersOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): GraphNode[][] {
  const depths = new Map<string, number>();
  const depthOf = (id: string): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const before = edges.filter((edge) => edge.to === id).map((edge) => depthOf(edge.from) + 1);
    const depth = Math.max(0, ...before);
    depths.set(id, depth);
    return depth;
  };
  const layers: GraphNode[][] = [];
  for (const each of nodes) {
    const depth = depthOf(each.id);
    while (layers.length <= depth) layers.push([]);
    layers[depth]?.push(each);
  }
  return layers;
}

/** Each node goes to the middle of its neighbours: layer after layer, forth and back, a few times over. */
function ordered(layers: readonly (readonly GraphNode[])[], edges: readonly GraphEdge[]): GraphNode[][] {
  const now = layers.map((layer) => [...layer]);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const order = sweep % 2 === 0 ? now.keys() : [...now.keys()].toReversed();
    for (const depth of order) now[depth] = nearNeighbours(now, depth, edges);
  }
  return now;
}

function nearNeighbours(
  layers: readonly (readonly GraphNode[])[],
  depth: number,
  edges: readonly GraphEdge[],
): GraphNode[] {
  const place = new Map(layers.flatMap((layer) => layer.map(({ id }, i) => [id, (i + 0.5) / layer.length] as const)));
  const wish = (id: string): number => {
    const near = edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []));
    const places = near.flatMap((each) => place.get(each) ?? []);
    return places.length === 0 ? (place.get(id) ?? 0) : places.reduce((sum, each) => sum + each, 0) / places.length;
  };
  return (layers[depth] ?? []).toSorted((a, b) => wish(a.id) - wish(b.id));
}

function placesOf(
  layers: readonly (readonly GraphNode[])[],
  { width, height, layerGap, nodeGap }: Size,
  direction: 'right' | 'down',
): ReadonlyMap<string, Placed> {
  const across = Math.max(1, ...layers.map((layer) => layer.length));
  const [along, cross] = direction === 'right' ? [width, height] : [height, width];
  const breadth = across * cross + (across - 1) * nodeGap;
  const places = new Map<string, Placed>();
  for (const [depth, layer] of layers.entries()) {
    const own = layer.length * cross + (layer.length - 1) * nodeGap;
    for (const [i, each] of layer.entries()) {
      const a = depth * (along + layerGap);
      const c = (breadth - own) / 2 + i * (cross + nodeGap);
      places.set(each.id, { ...each, x: direction === 'right' ? a : c, y: direction === 'right' ? c : a });
    }
  }
  return places;
}

function curve(from: Placed, to: Placed, { width, height }: Size, direction: 'right' | 'down'): string {
  if (direction === 'right') {
    const [x1, y1, x2, y2] = [from.x + width, from.y + height / 2, to.x, to.y + height / 2];
    const bend = Math.max(24, Math.abs(x2 - x1) / 2);
    return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  const [x1, y1, x2, y2] = [from.x + width / 2, from.y + height, to.x + width / 2, to.y];
  const bend = Math.max(16, Math.abs(y2 - y1) / 2);
  return `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}
