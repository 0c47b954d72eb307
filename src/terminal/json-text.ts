const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Indents JSON text. Numbers keep their notation, even if JavaScript cannot represent them. */
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

/** Splits JSON text into one line per array element, or one line if it is not an array. */
export function toJsonLines(json: string): readonly string[] {
  const tokens = json.match(token) ?? [];
  if (tokens[0] !== "[") return [tokens.join("")];
  const lines: string[] = [];
  let depth = 0;
  let line = "";
  for (const found of tokens) {
    if (isClosing(found)) depth -= 1;
    const isSeparator = (depth === 1 && found === ",") || (depth === 0 && (found === "[" || found === "]"));
    if (isSeparator) {
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
