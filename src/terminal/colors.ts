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

/** Returns the color functions. The caller decides whether to use color, because `Chalk` does not honor `NO_COLOR`. */
export async function createPaint(isColored: boolean): Promise<Paint> {
  if (!isColored) return noPaint;
  const { Chalk } = await import("chalk");
  return new Chalk({ level: 1 });
}
