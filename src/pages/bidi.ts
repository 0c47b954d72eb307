import { type Html, markup } from "./markup.ts";

const directionMarks = /[\u202A-\u202E\u2066-\u2069]/gu;
const isolates = /[\u2066-\u2068]/;
const [popIsolate, popEmbedding] = ["\u2069", "\u202C"];

/**
 * Isolates user text, so that its direction does not affect the text around it.
 * Source: Unicode "Bidirectional Algorithm" (UAX 9). An unclosed mark reaches past the end of the element, and an
 * unopened one ends the isolation of the element, so unbalanced marks are fixed. They are invisible.
 */
export function isolate(text: string, attributes?: Html): Html {
  return markup`<bdi${attributes}>${balanceDirectionMarks(text)}</bdi>`;
}

/** Closes all open direction marks at the end of the text, and removes closing marks without an opening one. */
export function balanceDirectionMarks(text: string): string {
  const open: string[] = [];
  let openIsolates = 0;
  const balanced = text.replaceAll(directionMarks, (mark) => {
    if (mark === popEmbedding) {
      // Ignore an embedding that was opened outside the innermost isolate.
      if (open.at(-1) !== popEmbedding) return "";
      open.pop();
    } else if (mark === popIsolate) {
      if (openIsolates === 0) return "";
      // Closes the embeddings inside the isolate as well.
      open.length = open.lastIndexOf(popIsolate);
      openIsolates -= 1;
    } else if (isolates.test(mark)) {
      open.push(popIsolate);
      openIsolates += 1;
    } else open.push(popEmbedding);
    return mark;
  });
  return balanced + open.toReversed().join("");
}
