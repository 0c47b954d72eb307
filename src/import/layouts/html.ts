let read: ((html: string) => string) | undefined;

/** Loads the HTML reader, which only files of some layouts need. */
export async function loadHtmlReader(): Promise<void> {
  read ??= (await import("./html-text.ts")).readHtml;
}

/** Converts a description with HTML tags or entities to text. */
export function asText(value: string): string {
  if (!/[<&]/.test(value)) return value;
  if (!read) throw new Error("the HTML reader has not been loaded");
  return read(value);
}

/** The same for an export that writes line breaks as `\n`. */
export function asTextWithEscapes(value: string): string {
  return asText(value.replaceAll(/\\(\\n|n)/g, (_, what: string) => (what === "n" ? "\n" : what)));
}
