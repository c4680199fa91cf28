/** One event of a stream of server-sent events. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/**
 * Reads server-sent events out of a body. A browser's own EventSource can neither send a token nor say why it was refused,
 * so the page reads the stream itself.
 */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent | 'alive'> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop() ?? '';
    yield 'alive';
    for (const part of parts) {
      const event = eventIn(part);
      if (event) yield event;
    }
  }
}

function eventIn(text: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''));
  }
  const event = fields.get('event');
  return event === undefined ? undefined : { id: fields.get('id') ?? '', event, data: fields.get('data') ?? '' };
}
