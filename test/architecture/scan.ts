// A lexer that knows just enough TypeScript to tell code from comments, strings, templates and regular expressions.
// The rules of this folder search its output, so that a word in a comment never counts as code.

export interface Literal {
  /** What is between the quotes; a template's `${…}` is left standing as the two characters `${` and `}`. */
  readonly text: string;
  /** Offsets of the opening quote, and of the character after the closing one. */
  readonly start: number;
  readonly end: number;
}

export interface Scanned {
  /** The text at its original offsets, with comments and the insides of literals blanked out. */
  readonly code: string;
  readonly literals: readonly Literal[];
}

/** After one of these words a slash begins a regular expression; after any other word or number it divides. */
const WORDS_BEFORE_REGEX = /(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|else|do|yield|await)$/;

export function scan(text: string): Scanned {
  const scanner = new Scanner(text);
  scanner.code('end of file');
  scanner.literals.sort((a, b) => a.start - b.start);
  return { code: scanner.out.join(''), literals: scanner.literals };
}

class Scanner {
  readonly text: string;
  readonly out: string[];
  readonly literals: Literal[] = [];
  private at = 0;

  constructor(text: string) {
    this.text = text;
    this.out = text.split('');
  }

  /** Reads code up to the end of the file, or up to the brace that closes a template's `${`. */
  code(until: 'end of file' | 'closing brace'): void {
    let depth = 0;
    while (this.at < this.text.length) {
      const char = this.text[this.at];
      const pair = this.text.slice(this.at, this.at + 2);
      if (pair === '//') this.blankTo(this.indexOr('\n', this.text.length));
      else if (pair === '/*') this.blankTo(this.indexOr('*/', this.text.length, 2));
      else if (char === "'" || char === '"') this.quoted(char);
      else if (char === '`') this.template();
      else if (char === '/' && this.regexMayBegin()) this.regex();
      else if (char === '}' && depth === 0 && until === 'closing brace') return;
      else {
        if (char === '{') depth++;
        if (char === '}') depth--;
        this.at++;
      }
    }
  }

  private quoted(quote: string): void {
    const start = this.at++;
    while (this.at < this.text.length && this.text[this.at] !== quote) this.at += this.text[this.at] === '\\' ? 2 : 1;
    this.at++;
    this.literals.push({ text: this.text.slice(start + 1, this.at - 1), start, end: this.at });
    this.blank(start + 1, this.at - 1);
  }

  private template(): void {
    const start = this.at++;
    let literal = '';
    let chunk = this.at;
    const endChunk = (): void => {
      literal += this.text.slice(chunk, this.at);
      this.blank(chunk, this.at);
    };
    while (this.at < this.text.length && this.text[this.at] !== '`') {
      if (this.text.startsWith('${', this.at)) {
        endChunk();
        literal += '${}';
        this.out[this.at] = ' ';
        this.out[this.at + 1] = '(';
        this.at += 2;
        this.code('closing brace');
        if (this.at < this.text.length) this.out[this.at++] = ')';
        chunk = this.at;
      } else {
        this.at += this.text[this.at] === '\\' ? 2 : 1;
      }
    }
    endChunk();
    this.at++;
    this.literals.push({ text: literal, start, end: this.at });
  }

  private regex(): void {
    const start = this.at++;
    let isInClass = false;
    while (this.at < this.text.length && this.text[this.at] !== '\n') {
      const char = this.text[this.at];
      if (char === '/' && !isInClass) break;
      if (char === '[') isInClass = true;
      if (char === ']') isInClass = false;
      this.at += char === '\\' ? 2 : 1;
    }
    this.blank(start + 1, this.at);
    this.at++;
  }

  private regexMayBegin(): boolean {
    const before = this.out
      .slice(Math.max(0, this.at - 200), this.at)
      .join('')
      .trimEnd();
    const last = before.at(-1);
    if (last === undefined) return true;
    if (/[\w$]/.test(last)) return WORDS_BEFORE_REGEX.test(before);
    return !`)]'"\``.includes(last);
  }

  private blankTo(end: number): void {
    this.blank(this.at, end);
    this.at = end;
  }

  private blank(start: number, end: number): void {
    for (let i = start; i < Math.min(end, this.out.length); i++) if (this.out[i] !== '\n') this.out[i] = ' ';
  }

  private indexOr(needle: string, otherwise: number, plus = 0): number {
    const index = this.text.indexOf(needle, this.at + plus);
    return index === -1 ? otherwise : index + plus;
  }
}
