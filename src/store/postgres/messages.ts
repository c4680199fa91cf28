import type { SqlValue } from '../columns.ts';

/** Most flights are shorter. */
const BYTES_FIRST = 64 * 1024;
/** One that was longer is the exception: its room is given back. */
const BYTES_KEPT_MAX = 1024 * 1024;

/** Longer texts are copied by the machine; shorter ones are sooner gone through here than handed over. */
const SHORT_MAX = 256;
/** The most a character of a text takes in UTF-8. */
const BYTES_A_CHARACTER = 3;
/** A number as text, an element's quotes and its comma, a length. */
const BYTES_BESIDE = 40;

const ASCII_END = 0x80;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

const BIND = 0x42;
const EXECUTE: readonly number[] = [0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0];
const SYNC: readonly number[] = [0x53, 0, 0, 0, 4];
const NO_VALUE = -1;

const QUOTED = /["\\]/;

function isEscaped(byte: number | undefined): boolean {
  return byte === QUOTE || byte === BACKSLASH;
}

/** What a Bind begins with: the unnamed portal, the statement, and that all parameters are text. */
export function bindingOf(statement: string): Uint8Array {
  return Buffer.from(`\0${statement}\0\0\0`);
}

/**
 * The messages of a flight, one behind the other, in bytes that the next flight of the connection uses again: the server answers a
 * Sync only when it has all that was sent before. The driver would make several buffers for each message, and a text of each list.
 */
export class Messages {
  #bytes = Buffer.allocUnsafeSlow(BYTES_FIRST);
  #end = 0;

  begin(): void {
    this.#end = 0;
    if (this.#bytes.length > BYTES_KEPT_MAX) this.#bytes = Buffer.allocUnsafeSlow(BYTES_FIRST);
  }

  /** With the Sync at their end. */
  whole(): Uint8Array {
    this.#add(SYNC);
    return this.#bytes.subarray(0, this.#end);
  }

  /** A message as the driver writes it. */
  add(message: Uint8Array): void {
    this.#need(message.length);
    this.#bytes.set(message, this.#end);
    this.#end += message.length;
  }

  bind(binding: Uint8Array, values: readonly (SqlValue | readonly SqlValue[])[]): void {
    this.#need(binding.length + BYTES_BESIDE);
    this.#bytes[this.#end] = BIND;
    const lengthAt = this.#end + 1;
    this.#end += 5;
    this.#add(binding);
    this.#int16(values.length);
    for (const value of values) this.#value(value);
    this.#need(2);
    // All of the answer is text.
    this.#int16(0);
    this.#setInt32(lengthAt, this.#end - lengthAt);
  }

  execute(): void {
    this.#add(EXECUTE);
  }

  #value(value: SqlValue | readonly SqlValue[]): void {
    this.#need(BYTES_BESIDE);
    const lengthAt = this.#end;
    this.#end += 4;
    if (value === null) {
      this.#setInt32(lengthAt, NO_VALUE);
      return;
    }
    if (typeof value === 'object') this.#list(value);
    else this.#text(String(value));
    this.#setInt32(lengthAt, this.#end - lengthAt - 4);
  }

  /** A list as the server writes one itself. */
  #list(values: readonly SqlValue[]): void {
    this.#bytes[this.#end++] = OPEN;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as SqlValue;
      this.#need(BYTES_BESIDE);
      if (i > 0) this.#bytes[this.#end++] = COMMA;
      if (typeof value === 'string') this.#quoted(value);
      else this.#text(value === null ? 'NULL' : String(value));
    }
    this.#need(1);
    this.#bytes[this.#end++] = CLOSE;
  }

  #text(text: string): void {
    this.#need(text.length * BYTES_A_CHARACTER);
    if (text.length > SHORT_MAX || !this.#short(text)) this.#long(text);
  }

  /** False, and nothing is written, where it has other characters than those of one byte. */
  #short(text: string): boolean {
    const bytes = this.#bytes;
    let end = this.#end;
    for (let i = 0; i < text.length; i++) {
      const character = text.charCodeAt(i);
      if (character >= ASCII_END) return false;
      bytes[end++] = character;
    }
    this.#end = end;
    return true;
  }

  #long(text: string): void {
    this.#end += this.#bytes.write(text, this.#end, 'utf8');
  }

  #quoted(text: string): void {
    this.#need(text.length * BYTES_A_CHARACTER + BYTES_BESIDE);
    if (text.length <= SHORT_MAX && this.#shortQuoted(text)) return;
    this.#bytes[this.#end++] = QUOTE;
    const start = this.#end;
    this.#long(text);
    if (QUOTED.test(text)) this.#escape(start);
    this.#need(1);
    this.#bytes[this.#end++] = QUOTE;
  }

  /** In place, from the end: no byte of a longer character looks like one of these two. */
  #escape(start: number): void {
    let left = 0;
    for (let i = start; i < this.#end; i++) if (isEscaped(this.#bytes[i])) left += 1;
    this.#need(left);
    const bytes = this.#bytes;
    let from = this.#end;
    this.#end += left;
    while (left > 0) {
      const byte = bytes[--from] as number;
      bytes[from + left] = byte;
      if (isEscaped(byte)) bytes[from + --left] = BACKSLASH;
    }
  }

  #shortQuoted(text: string): boolean {
    const bytes = this.#bytes;
    let end = this.#end;
    bytes[end++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const character = text.charCodeAt(i);
      if (character >= ASCII_END) return false;
      if (isEscaped(character)) bytes[end++] = BACKSLASH;
      bytes[end++] = character;
    }
    bytes[end++] = QUOTE;
    this.#end = end;
    return true;
  }

  #add(bytes: ArrayLike<number>): void {
    this.#need(bytes.length);
    for (let i = 0; i < bytes.length; i++) this.#bytes[this.#end++] = bytes[i] as number;
  }

  #int16(value: number): void {
    this.#bytes[this.#end++] = value >>> 8;
    this.#bytes[this.#end++] = value;
  }

  #setInt32(at: number, value: number): void {
    const bytes = this.#bytes;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >>> 16;
    bytes[at + 2] = value >>> 8;
    bytes[at + 3] = value;
  }

  #need(count: number): void {
    const needed = this.#end + count;
    if (needed <= this.#bytes.length) return;
    const more = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    more.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = more;
  }
}
