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
  #in = new Uint8Array(64 * 1_024);
  #from = 0;
  #to = 0;
  #out: Uint8Array[] = [];
  #outBytes = 0;
  #forNow: Frame | undefined;

  constructor(io: ChildIo) {
    this.#io = io;
  }

  /** More than was read so far is here already. */
  get hasMore(): boolean {
    return this.#to > this.#from;
  }

  /** The next frame, or undefined when the host is gone. */
  read(): Frame | undefined {
    if (this.#from === this.#to && this.#in.length > Pipe.KEPT_BYTES) {
      this.#in = new Uint8Array(Pipe.FLUSH_BYTES);
      this.#from = this.#to = 0;
    }
    if (!this.#fill(FRAME_HEADER_BYTES)) return undefined;
    const length = new DataView(this.#in.buffer, this.#from, 4).getUint32(0);
    if (!this.#fill(4 + length)) return undefined;
    const view = new DataView(this.#in.buffer, this.#from, 4 + length);
    const fields: Uint8Array[] = [];
    for (let at = FRAME_HEADER_BYTES; at < 4 + length; ) {
      const size = view.getUint32(at);
      fields.push(this.#in.subarray(this.#from + at + 4, this.#from + at + 4 + size));
      at += 4 + size;
    }
    this.#from += 4 + length;
    return { kind: view.getUint8(4), generation: view.getUint32(5), fields };
  }

  /** Kept until `flush`, so that a run of small messages is one write. */
  send(kind: number, generation: number, fields: readonly Uint8Array[]): void {
    let length = FRAME_HEADER_BYTES;
    for (const field of fields) length += 4 + field.length;
    const bytes = new Uint8Array(length);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, length - 4);
    view.setUint8(4, kind);
    view.setUint32(5, generation);
    let at = FRAME_HEADER_BYTES;
    for (const field of fields) {
      view.setUint32(at, field.length);
      bytes.set(field, at + 4);
      at += 4 + field.length;
    }
    this.#out.push(bytes);
    this.#outBytes += length;
    if (this.#outBytes > Pipe.FLUSH_BYTES) this.flush();
  }

  /** What is news only until something else is sent: the next flush takes it along, unless it is taken back before. */
  sendForNow(kind: number, generation: number, fields: readonly Uint8Array[]): void {
    this.#forNow = { kind, generation, fields };
  }

  takeBack(): void {
    this.#forNow = undefined;
  }

  flush(): void {
    const forNow = this.#forNow;
    this.#forNow = undefined;
    if (forNow !== undefined) this.send(forNow.kind, forNow.generation, forNow.fields);
    if (this.#outBytes === 0) return;
    for (const bytes of this.#joined()) {
      for (let at = 0; at < bytes.length; ) at += this.#io.write(bytes, at, bytes.length - at);
    }
    this.#out = [];
    this.#outBytes = 0;
  }

  #joined(): readonly Uint8Array[] {
    if (this.#out.length < 2) return this.#out;
    const whole = new Uint8Array(this.#outBytes);
    let at = 0;
    for (const bytes of this.#out) {
      whole.set(bytes, at);
      at += bytes.length;
    }
    return [whole];
  }

  #fill(length: number): boolean {
    if (this.#to - this.#from >= length) return true;
    if (this.#from + length > this.#in.length) {
      const roomy = length > this.#in.length ? new Uint8Array(length * 2) : this.#in;
      roomy.set(this.#in.subarray(this.#from, this.#to));
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
