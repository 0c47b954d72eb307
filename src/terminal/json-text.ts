const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Breaks JSON into lines for a person. Numbers stay as they are written, also those that no number here could hold. */
export function indentJson(json: string): string {
  const tokens = json.match(token) ?? [];
  let depth = 0;
  let text = "";
  for (const [at, found] of tokens.entries()) {
    const isEmpty = isClosing(found) && isOpening(tokens[at - 1]);
    if (isClosing(found)) depth -= 1;
    const startsLine = at > 0 && (isClosing(found) || isOpening(tokens[at - 1]) || tokens[at - 1] === ",");
    text += startsLine && !isEmpty ? `\n${"  ".repeat(depth)}${found}` : found;
    if (found === ":") text += " ";
    if (isOpening(found)) depth += 1;
  }
  return text;
}

/** JSON on lines of its own: a list's elements a line each, anything else on one line. */
export function toJsonLines(json: string): readonly string[] {
  const tokens = json.match(token) ?? [];
  if (tokens[0] !== "[") return [tokens.join("")];
  const lines: string[] = [];
  let depth = 0;
  let line = "";
  for (const found of tokens) {
    if (isClosing(found)) depth -= 1;
    const isBetween = (depth === 1 && found === ",") || (depth === 0 && (found === "[" || found === "]"));
    if (isBetween) {
      if (line !== "") lines.push(line);
      line = "";
    } else line += found;
    if (isOpening(found)) depth += 1;
  }
  return lines;
}

function isOpening(found: string | undefined): boolean {
  return found === "{" || found === "[";
}

function isClosing(found: string): boolean {
  return found === "}" || found === "]";
}
