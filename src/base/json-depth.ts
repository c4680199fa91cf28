/** Data deeper than any that means something: whatever walks through it afterwards would need as much stack. */
export const JSON_DEPTH_MAX = 100;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const [OPEN_LIST, OPEN_OBJECT] = ['['.charCodeAt(0), '{'.charCodeAt(0)];
const [CLOSE_LIST, CLOSE_OBJECT] = [']'.charCodeAt(0), '}'.charCodeAt(0)];

/** Whether a JSON text is nested deeper than that. Counts brackets outside strings, and needs no stack itself. */
export function isNestedTooDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth++;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
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
