import { FRAME_HEADER_BYTES } from '../protocol.ts';

/** What the child has of the machine: two pipes, two clocks and a word to its siblings. */
export interface ChildIo {
  /** Blocks; 0 at the end. */
  read(buffer: Uint8Array, offset: number, length: number): number;
  write(buffer: Uint8Array, offset: number, length: number): number;
  /** Processor time of this thread, in milliseconds. */
  cpuMs(): number;
  /** A clock that only goes forward, in milliseconds. */
  nowMs(): number;
  /** Gives memory of instances thrown away back to the machine. */
  collect(): void;
  /** Lets a process that stands still go on. */
  letGo(pid: number): void;
}

/** A text is sent as UTF-8. */
export type Field = Uint8Array | string;

export interface Frame {
  readonly kind: number;
  readonly generation: number;
  /** Valid until the next read. */
  readonly fields: readonly Uint8Array[];
}

/** Frames over two blocking pipes. The child has no event loop to wait in: when it waits, it waits in `read`. */
export class Pipe {
  static readonly FLUSH_BYTES = 64 * 1_024;
  /** A larger buffer is let go once its frame is done with. */
  static readonly KEPT_BYTES = 1_024 * 1_024;
  /** One of each for all texts: to make one takes longer than to use it. */
  static readonly DECODER = new TextDecoder();
  static readonly ENCODER = new TextEncoder();

  #io: ChildIo;
  #in = Buffer.alloc(Pipe.FLUSH_BYTES);
  #from = 0;
  #to = 0;
  /** Frames are written here, one after the other, and nowhere else: each piece of memory of its own costs more than to fill it. */
  #out = Buffer.alloc(Pipe.FLUSH_BYTES);
  #outBytes = 0;
  #forNow: { readonly kind: number; readonly generation: number; readonly fields: readonly Field[] } | undefined;

  constructor(io: ChildIo) {
    this.#io = io;
  }

  /** More than was read so far is here already. */
  get hasMore(): boolean {
    return this.#to > this.#from;
  }

  /** Whether such a frame is here already, behind what was read. */
  isAhead(kind: number, generation: number): boolean {
    for (let at = this.#from; this.#to - at >= FRAME_HEADER_BYTES; at += 4 + this.#in.readUInt32BE(at)) {
      if (this.#in[at + 4] === kind && this.#in.readUInt32BE(at + 5) === generation) return true;
    }
    return false;
  }

  /** The next frame, or undefined when the host is gone. */
  read(): Frame | undefined {
    if (this.#from === this.#to && this.#in.length > Pipe.KEPT_BYTES) {
      this.#in = Buffer.alloc(Pipe.FLUSH_BYTES);
      this.#from = this.#to = 0;
    }
    if (!this.#fill(FRAME_HEADER_BYTES)) return undefined;
    const length = this.#in.readUInt32BE(this.#from);
    if (!this.#fill(4 + length)) return undefined;
    const [from, bytes] = [this.#from, this.#in];
    const end = from + 4 + length;
    const fields: Uint8Array[] = [];
    for (let at = from + FRAME_HEADER_BYTES; at < end; ) {
      const size = bytes.readUInt32BE(at);
      fields.push(new Uint8Array(bytes.buffer, bytes.byteOffset + at + 4, size));
      at += 4 + size;
    }
    this.#from = end;
    return { kind: bytes[from + 4] ?? 0, generation: bytes.readUInt32BE(from + 5), fields };
  }

  /** Kept until `flush`, so that a run of small messages is one write. */
  send(kind: number, generation: number, fields: readonly Field[]): void {
    let room = FRAME_HEADER_BYTES;
    // No letter takes more than three bytes.
    for (const field of fields) room += 4 + (typeof field === 'string' ? field.length * 3 : field.length);
    if (this.#outBytes + room > this.#out.length) this.flush();
    if (room > this.#out.length) return this.#sendLarge(kind, generation, fields, room);
    this.#outBytes += Pipe.#put(this.#out, this.#outBytes, kind, generation, fields);
  }

  #sendLarge(kind: number, generation: number, fields: readonly Field[], room: number): void {
    const bytes = Buffer.alloc(room);
    this.#write(bytes, Pipe.#put(bytes, 0, kind, generation, fields));
  }

  /** Says how many bytes it took. */
  static #put(bytes: Buffer, from: number, kind: number, generation: number, fields: readonly Field[]): number {
    bytes[from + 4] = kind;
    bytes.writeUInt32BE(generation, from + 5);
    let at = from + FRAME_HEADER_BYTES;
    for (const field of fields) {
      const isText = typeof field === 'string';
      const size = isText ? bytes.write(field, at + 4) : field.length;
      if (!isText) bytes.set(field, at + 4);
      bytes.writeUInt32BE(size, at);
      at += 4 + size;
    }
    bytes.writeUInt32BE(at - from - 4, from);
    return at - from;
  }

  /** What is news only until something else is sent: the next flush takes it along, unless it is taken back before. */
  sendForNow(kind: number, generation: number, fields: readonly Field[]): void {
    this.#forNow = { kind, generation, fields };
  }

  takeBack(): void {
    this.#forNow = undefined;
  }

  flush(): void {
    const forNow = this.#forNow;
    this.#forNow = undefined;
    if (forNow !== undefined) this.send(forNow.kind, forNow.generation, forNow.fields);
    const length = this.#outBytes;
    this.#outBytes = 0;
    this.#write(this.#out, length);
  }

  #write(bytes: Uint8Array, length: number): void {
    for (let at = 0; at < length; ) at += this.#io.write(bytes, at, length - at);
  }

  #fill(length: number): boolean {
    if (this.#to - this.#from >= length) return true;
    if (this.#from + length > this.#in.length) {
      const roomy = length > this.#in.length ? Buffer.alloc(length * 2) : this.#in;
      this.#in.copy(roomy, 0, this.#from, this.#to);
      this.#in = roomy;
      this.#to -= this.#from;
      this.#from = 0;
    }
    while (this.#to - this.#from < length) {
      // Whoever sends the next frame may wait for what is kept here.
      this.flush();
      const count = this.#io.read(this.#in, this.#to, this.#in.length - this.#to);
      if (count === 0) return false;
      this.#to += count;
    }
    return true;
  }
}
