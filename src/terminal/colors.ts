/** The few colours in use; each gives its text back as it is where colour is off. */
export type Paint = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>>;

const plain = (text: string) => text;

export const noPaint: Paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };

/** Colours for a terminal; chalk by itself would not heed `NO_COLOR`. */
export async function createPaint(isColoured: boolean): Promise<Paint> {
  if (!isColoured) return noPaint;
  const { Chalk } = await import("chalk");
  return new Chalk({ level: 1 });
}
