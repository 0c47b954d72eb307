import type { Terminal } from "./terminal.ts";

/** A home path of the same length as a typical user's. */
const shownHome = "/home/ann/tea-corner";

/** The day of every transcript. */
const shownRun = "20260131-101500";

const shownAppKey = "Tea0Corner1Tea2Corner3Tea4Corner5Tea6Cor7";

/** Progress lines, whose numbers depend on the machine. */
const progressLine = /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /u;

interface Moment {
  readonly caption: string;
  readonly screen: string;
}

/**
 * Renders the screens of a scene as readable text. Values that differ between runs (IDs, times,
 * rates, folders) are replaced with fixed ones.
 */
export class Transcript {
  readonly #moments: Moment[] = [];
  readonly #runs = new Map<string, string>();
  readonly #home: string;

  constructor({ home }: Terminal) {
    this.#home = home;
  }

  /** Records a screen; the numbers in lines that match `varying` are replaced with `N`. */
  add(caption: string, screen: string, { varying }: { readonly varying?: RegExp } = {}): void {
    this.#moments.push({ caption, screen: this.#normalize(screen, varying) });
  }

  toString(): string {
    const parts = this.#moments.map(({ caption, screen }) => `${`-- ${caption} `.padEnd(100, "-")}\n${screen}\n`);
    return parts.join("\n");
  }

  #normalize(screen: string, varying: RegExp | undefined): string {
    return screen
      .replaceAll(this.#home, shownHome)
      .replaceAll(/\b\d{8}-\d{6}-[0-9a-f]{6}\b/g, (run) => this.#nameRun(run))
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/g, (_, fraction: string | undefined) =>
        fraction === undefined ? "2026-01-31T10:15:00Z" : "2026-01-31T10:15:00.000Z",
      )
      .replaceAll(/\b(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[0-9A-Za-z]{40}\b/g, shownAppKey)
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\dZ/g, "2026-01-31 10:15Z")
      .split("\n")
      .map((line) => this.#normalizeLine(line, varying))
      .join("\n");
  }

  #normalizeLine(line: string, varying: RegExp | undefined): string {
    if (progressLine.test(line)) return `⠋ ${hideNumbers(withoutWait(line.slice(2)))}`;
    if (varying?.test(line) === true) return hideNumbers(line);
    return line.replace(/^( +sent .* in .*\().*\)$/, "$1N s)");
  }

  /** A run keeps one ID throughout. */
  #nameRun(run: string): string {
    const name = this.#runs.get(run) ?? `${shownRun}-${String(this.#runs.size + 1).padStart(6, "0")}`;
    this.#runs.set(run, name);
    return name;
  }
}

/** A progress line reports a wait only while it lasts. */
function withoutWait(line: string): string {
  return line.replace(/ · (keeping to [^·]*|[^·]*…)$/, "");
}

function hideNumbers(line: string): string {
  return line.replaceAll(/\d{8}-\d{6}-\d{6}|\d[\d,.]*/g, (word) => (word.includes("-") ? word : "N"));
}
