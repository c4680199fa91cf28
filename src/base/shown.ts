/** What stands for a character that cannot be shown: a reader sees that something was there. */
const UNSEEN = '\ufffd';

/** Control characters move cursors and clear screens; bidi marks make a text read as another than it is. Tabs and line ends stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const UNSHOWABLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;

/** A text of strangers, as people may be shown it. */
export function shownText(text: string): string {
  return text.replaceAll(UNSHOWABLE, UNSEEN);
}

/** The same for what is one line: a title, a name. */
export function shownLine(text: string): string {
  return shownText(text.replaceAll(/[\t\n\r\u2028\u2029]+/g, ' '));
}

/** A text no longer than it may be; what was cut is counted. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax)}… (${text.length - charsMax} more characters)`;
}
