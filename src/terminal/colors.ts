/** Functions that color text for a terminal. If colors are off, each returns its text unchanged. */
export type Paint = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>>;

const unchanged = (text: string) => text;

export const noPaint: Paint = { bold: unchanged, dim: unchanged, red: unchanged, green: unchanged, yellow: unchanged };

/**
 * Distinguishes the program's own color sequences from those in data, which cannot contain the random number of this process.
 * The output streams replace the marked sequences with real ones.
 */
const mark = String(Math.floor(Math.random() * 9e14) + 1e14);

/** A color sequence of the program, with its code as the only group. */
export const ownColor = new RegExp(String.raw`\u001B\[${mark};(\d+)m`, "g");

/** Returns the color functions. The caller decides whether to use color, because `Chalk` does not honor `NO_COLOR`. */
export async function createPaint(isColored: boolean): Promise<Paint> {
  if (!isColored) return noPaint;
  const { Chalk } = await import("chalk");
  const { bold, dim, red, green, yellow } = new Chalk({ level: 1 });
  return { bold: marked(bold), dim: marked(dim), red: marked(red), green: marked(green), yellow: marked(yellow) };
}

/** Marks the sequences that a style adds, but none in the text. */
function marked(style: (text: string) => string): (text: string) => string {
  const [open = "", close = ""] = style("|").replaceAll("\u001B[", `\u001B[${mark};`).split("|");
  return (text) => (text === "" ? "" : `${open}${text}${close}`);
}

/** Replaces marked color sequences with real ones. */
export function resolveColors(text: string): string {
  return text.includes(`\u001B[${mark};`) ? text.replaceAll(ownColor, "\u001B[$1m") : text;
}
