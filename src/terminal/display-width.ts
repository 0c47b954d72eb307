/** Measures what a terminal shows, in its columns: letters of East Asia and emoji take two, marks on letters none. */
export interface Ruler {
  widthOf(text: string): number;
  /** The length of the longest beginning that is no wider than `width`, and cuts through no letter that a person sees. */
  fit(text: string, width: number): number;
}

/** Each of these is one column wide, and one letter by itself. */
const plain = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2015\u2018-\u201f\u2026\u2190-\u2193]*$/;

/** For texts of which each unit is one column wide. */
export const plainRuler: Ruler = {
  widthOf: (text) => text.length,
  fit: (text, width) => Math.max(0, Math.min(width, text.length)),
};

// oxlint-disable-next-line no-control-regex -- It is what colours are made of.
const colours = /\u001b\[[0-9;]*m/g;

const coloursAndControls = new RegExp(String.raw`(${colours.source})|\p{Cc}`, "gu");

/**
 * A line that is said, with no more in it to steer a terminal than colours: names of files and words of a service are in
 * it, whoever chose them.
 */
export function toSafeLine(line: string): string {
  return line
    .replaceAll(coloursAndControls, (_whole, colour: string | undefined) => colour ?? " ")
    .replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, "");
}

/** For texts of that sort that are painted: colours take no room. Other scripts are taken to be as narrow. */
export const paintedRuler: Ruler = {
  widthOf: (text) => text.replaceAll(colours, "").length,
  fit: (text, width) => {
    let room = Math.max(0, width);
    let end = 0;
    for (const { 0: colour, index } of text.matchAll(colours)) {
      if (index - end > room) return end + room;
      room -= index - end;
      end = index + colour.length;
    }
    return Math.min(text.length, end + room);
  },
};

/** A ruler for these texts: what measures every script is loaded only where there is more than Latin letters. */
export async function createRuler(texts: Iterable<string>): Promise<Ruler> {
  for (const text of texts) if (!plain.test(text)) return loadRuler();
  return plainRuler;
}

/** A ruler for any text. */
export async function loadRuler(): Promise<Ruler> {
  const { default: stringWidth } = await import("string-width");
  const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const widthOf = (text: string) => (plain.test(text) ? text.length : stringWidth(text));
  return {
    widthOf,
    fit: (text, width) => {
      if (plain.test(text)) return plainRuler.fit(text, width);
      let taken = 0;
      for (const { segment, index } of letters.segment(text)) {
        taken += widthOf(segment);
        if (taken > width) return index;
      }
      return text.length;
    },
  };
}

/** The text, cut to a width where it is wider; `…` stands for what was cut. */
export function cutText(text: string, width: number, ruler: Ruler): string {
  if (ruler.widthOf(text) <= width) return text;
  return width < 1 ? "" : `${text.slice(0, ruler.fit(text, width - 1)).trimEnd()}…`;
}

const fromRight = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** What somebody wrote, within a line of ours: text that runs from right to left does not turn what stands beside it. */
export function isolate(text: string): string {
  return fromRight.test(text) ? `\u2068${text}\u2069` : text;
}
