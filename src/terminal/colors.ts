/** Functions that color text for a terminal. If colors are off, each returns its text unchanged. */
export type Paint = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>>;

const unchanged = (text: string) => text;

export const noPaint: Paint = {
  bold: unchanged,
  dim: unchanged,
  red: unchanged,
  green: unchanged,
  yellow: unchanged,
};

/**
 * Distinguishes the program's own color sequences from those in data, which cannot contain the number of this process.
 * The output streams replace the marked sequences with real ones.
 */
const mark = String(Math.floor(Math.random() * 9e14) + 1e14);

/** A color sequence of the program, with its code as the only group. */
export const ownColor = new RegExp(String.raw`\u001B\[${mark};(\d+)m`, "g");

/** Returns the color functions. The caller decides whether to use color. */
export function createPaint(isColored: boolean): Paint {
  return isColored ? paint : noPaint;
}

function between(open: number, close: number): (text: string) => string {
  return (text) => (text === "" ? "" : `\u001B[${mark};${open}m${text}\u001B[${mark};${close}m`);
}

const paint: Paint = {
  bold: between(1, 22),
  dim: between(2, 22),
  red: between(31, 39),
  green: between(32, 39),
  yellow: between(33, 39),
};

/** Replaces marked color sequences with real ones. */
export function resolveColors(text: string): string {
  return text.includes(`\u001B[${mark};`) ? text.replaceAll(ownColor, "\u001B[$1m") : text;
}
