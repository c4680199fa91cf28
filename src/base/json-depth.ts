/** Data deeper than any that means something: whatever walks through it afterwards would need as much stack. */
export const JSON_DEPTH_MAX = 100;

const [QUOTE, BACKSLASH] = ['"'.charCodeAt(0), '\\'.charCodeAt(0)];
const OPENING = ['[', '{'].map((bracket) => bracket.charCodeAt(0));
const CLOSING = [']', '}'].map((bracket) => bracket.charCodeAt(0));

/** Whether a JSON text is nested deeper than that. Counts brackets outside strings, and needs no stack itself. */
export function isNestedTooDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (OPENING.includes(code)) depth++;
    else if (CLOSING.includes(code)) depth--;
    if (depth > JSON_DEPTH_MAX) return true;
  }
  return false;
}

/** Where the string that begins here ends. */
function endOfString(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return json.length;
}
