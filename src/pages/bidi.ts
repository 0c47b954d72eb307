import { type Html, markup } from "./markup.ts";

const turning = /[\u202A-\u202E\u2066-\u2069]/gu;
const isolates = /[\u2066-\u2068]/;
const [endOfIsolate, endOfEmbedding] = ["\u2069", "\u202C"];

/**
 * What people wrote, within a line of ours: it runs in its own direction, and what follows it does not.
 * Source: Unicode "Bidirectional Algorithm" (UAX 9): what opens and is not closed reaches past the element's end, and
 * what closes and was not opened ends the element's own isolation. So both are mended; neither can be seen.
 */
export function apart(text: string, attributes?: Html): Html {
  return markup`<bdi${attributes}>${balance(text)}</bdi>`;
}

/**
 * The text with every mark of direction that it opens closed at its end, and none closed that it did not open. Takes no
 * longer than the text is long, whatever stands in it.
 */
export function balance(text: string): string {
  const open: string[] = [];
  let openIsolates = 0;
  const kept = text.replaceAll(turning, (mark) => {
    if (mark === endOfEmbedding) {
      // Not one that is around the last isolate.
      if (open.at(-1) !== endOfEmbedding) return "";
      open.pop();
    } else if (mark === endOfIsolate) {
      if (openIsolates === 0) return "";
      // With the embeddings within it.
      open.length = open.lastIndexOf(endOfIsolate);
      openIsolates -= 1;
    } else if (isolates.test(mark)) {
      open.push(endOfIsolate);
      openIsolates += 1;
    } else open.push(endOfEmbedding);
    return mark;
  });
  return kept + open.toReversed().join("");
}
