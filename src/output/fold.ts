/** What stays free for words beside the columns of a line; columns that leave less are not kept. */
const leastRoom = 24;

/**
 * A line on as many lines as a screen needs for it, broken between words. What follows goes under the line's last
 * column: that is behind two spaces or more.
 */
export function foldLine(text: string, width: number): string[] {
  const indent = findIndent(text, width);
  const lines: string[] = [];
  let open = text;
  while (open.length > width) {
    const end = open.lastIndexOf(" ", width);
    if (end <= indent) break;
    lines.push(open.slice(0, end).trimEnd());
    open = " ".repeat(indent) + open.slice(end).trimStart();
  }
  return [...lines, open];
}

function findIndent(text: string, width: number): number {
  const columns = [...text.matchAll(/ {2,}(?=\S)|^ (?=\S)/g)].map(({ index, 0: gap }) => index + gap.length);
  return columns.findLast((column) => column <= width - leastRoom) ?? 0;
}
