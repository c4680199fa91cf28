import { FRAME_BYTES_MAX, FRAME_HEADER_BYTES } from './protocol.ts';

export interface HostFrame {
  readonly kind: number;
  readonly generation: number;
  readonly fields: readonly string[];
}

export function encodeFrame(kind: number, generation: number, fields: readonly (string | Uint8Array)[]): Buffer {
  const lengths = fields.map((field) => (typeof field === 'string' ? Buffer.byteLength(field) : field.length));
  const total = lengths.reduce((sum, length) => sum + 4 + length, FRAME_HEADER_BYTES);
  const frame = Buffer.allocUnsafe(total);
  frame.writeUInt32BE(total - 4, 0);
  frame.writeUInt8(kind, 4);
  frame.writeUInt32BE(generation, 5);
  let at = FRAME_HEADER_BYTES;
  for (const [i, field] of fields.entries()) {
    at = frame.writeUInt32BE(lengths[i] ?? 0, at);
    if (typeof field === 'string') frame.write(field, at);
    else frame.set(field, at);
    at += lengths[i] ?? 0;
  }
  return frame;
}

/** Cuts what a child wrote into frames. What cannot be a frame is an error: that child is broken. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #wanted = 4;
  #chunks: Buffer[] = [];
  #bytes = 0;

  *read(chunk: Buffer): Generator<HostFrame> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted) return;
    this.#rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    let at = 0;
    for (;;) {
      this.#wanted = 4;
      if (this.#rest.length - at < 4) break;
      const length = this.#rest.readUInt32BE(at);
      if (length > FRAME_BYTES_MAX || length < FRAME_HEADER_BYTES - 4) throw new Error(`a frame of ${length} bytes`);
      this.#wanted = 4 + length;
      if (this.#rest.length - at < this.#wanted) break;
      yield this.#frame(at, at + this.#wanted);
      at += this.#wanted;
    }
    this.#chunks = at === this.#rest.length ? [] : [this.#rest.subarray(at)];
    this.#bytes = this.#rest.length - at;
  }

  #frame(from: number, to: number): HostFrame {
    const fields: string[] = [];
    for (let at = from + FRAME_HEADER_BYTES; at < to; ) {
      const length = this.#rest.readUInt32BE(at);
      if (at + 4 + length > to) throw new Error('a field that is longer than its frame');
      fields.push(this.#rest.toString('utf8', at + 4, at + 4 + length));
      at += 4 + length;
    }
    return { kind: this.#rest.readUInt8(from + 4), generation: this.#rest.readUInt32BE(from + 5), fields };
  }
}
