let read: ((html: string) => string) | undefined;

/** Loads what reads HTML; only files of layouts that may hold some need it. */
export async function loadHtmlReader(): Promise<void> {
  read ??= (await import("./html-text.ts")).readHtml;
}

/** A description as text: tags and entities read, where it has any. */
export function asText(value: string): string {
  if (!/[<&]/.test(value)) return value;
  if (!read) throw new Error("HTML is to be read, and what reads it was not loaded");
  return read(value);
}

/** The same, of an export that writes line breaks as `\n`. */
export function asTextWithEscapes(value: string): string {
  return asText(value.replaceAll(/\\(\\n|n)/g, (_, what: string) => (what === "n" ? "\n" : what)));
}
