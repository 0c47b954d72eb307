import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ServiceError } from "../../src/contract/index.ts";
import type { ImportDeps } from "../../src/import/deps.ts";
import { ImportError } from "../../src/import/import-error.ts";
import type { RowCounts } from "../../src/import/summary.ts";
import type { CallEvent } from "../../src/service/transport.ts";
import { createService } from "../../src/service/service.ts";
import type { Pipeline } from "./pipeline.ts";
import { formatReason, valuesIn } from "./recorded-import.ts";

/** What happens to a call: it fails, before or after it was carried out, or it reports events first. */
export interface Fate {
  readonly fails?: ServiceError;
  readonly isDone?: boolean;
  readonly events?: readonly CallEvent[];
  readonly before?: () => void;
}

/** What happens to each operation's calls, in order; further calls work. */
export type Fates = Readonly<Record<string, readonly (Fate | undefined)[]>>;

/** Each call takes this long. */
const callMs = 1_500;

/** Records everything that imports, plans, undos, and verifications of a pipeline return, report, and write. */
export class RecordedSteps {
  readonly #pipeline: Pipeline;
  readonly #lines: string[] = [];
  readonly #fates = new Map<string, (Fate | undefined)[]>();
  #runs = 0;
  #lastProgress: string | undefined;

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
  }

  /** Dependencies with a scripted service, on which every call takes time. */
  deps(fates: Fates = {}, replaced: Partial<ImportDeps> = {}): ImportDeps {
    const { harness, account } = this.#pipeline;
    for (const [operation, list] of Object.entries(fates)) this.#fates.set(operation, [...list]);
    const service = createService(
      {
        call: async (operation, input, caller, options) => {
          harness.clock.advance(callMs);
          const fate = this.#fates.get(operation)?.shift();
          const isRead = /\.(?:list|stats|listProducts)$/.test(operation);
          this.#lines.push(`call ${operation}${isRead ? "" : ` ${JSON.stringify(input)}`}`);
          fate?.before?.();
          for (const event of fate?.events ?? []) options?.onEvent?.(event);
          options?.signal?.throwIfAborted();
          if (fate?.fails && !fate.isDone) throw fate.fails;
          const result = await harness.transport.call(operation, input, caller, options);
          if (fate?.fails) throw fate.fails;
          return result;
        },
        close: async () => {},
      },
      account.caller,
    );
    return this.#pipeline.deps({
      random: (bytes) => Buffer.alloc(bytes, ++this.#runs),
      openService: async (pace) => {
        this.#lines.push(`open ${JSON.stringify(pace)}`);
        return { service, concurrency: 1, keepsOrder: true, close: async () => void this.#lines.push("close") };
      },
      report: (event) => {
        // How far reading is ahead of the calls depends on their speed.
        if (event.type === "progress" || event.type === "reading") this.#lastProgress = this.#clean(event);
        else if (event.type === "rejects") this.#lines.push(...event.reasons.map(formatReason));
        else this.#lines.push(this.#clean(event));
      },
      ...replaced,
    });
  }

  /**
   * Records what a step returns, or its error.
   * @returns the ID of its run, if there is one
   */
  async step(name: string, running: Promise<{ readonly import_id?: string | null }>): Promise<string> {
    let id: string | null | undefined;
    this.#lastProgress = undefined;
    try {
      const result = await running;
      id = result.import_id;
      this.#lines.push(`${name}: ${this.#clean(result)}`);
    } catch (error) {
      if (!(error instanceof ImportError || error instanceof ServiceError)) throw error;
      const { kind, message, hint } = error;
      const summary = error instanceof ImportError ? error.summary : undefined;
      id = summary?.import_id;
      this.#lines.push(`${name} failed: ${this.#clean({ kind, message, hint, summary })}`);
    }
    if (this.#lastProgress !== undefined) this.#lines.push(this.#lastProgress);
    this.#pipeline.harness.clock.advance(60_000);
    return id ?? "";
  }

  /** Records the files of all runs, with the content of texts, and the given files of the folder. */
  files(...names: readonly string[]): void {
    const { folder } = this.#pipeline;
    const { runsFolder } = this.#pipeline.deps();
    const ids = existsSync(runsFolder) ? readdirSync(runsFolder, { withFileTypes: true }) : [];
    const paths = ids
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name: id }) => readdirSync(join(runsFolder, id)).map((name) => join("imports", id, name)))
      .toSorted();
    const isText = (path: string) => /\.(?:json|ndjson|csv)$/.test(path);
    this.#lines.push(...paths.filter((path) => !isText(path) && !path.endsWith("-journal")));
    for (const path of [...paths.filter(isText), ...names]) {
      const text = readFileSync(join(folder, path), "utf8");
      const lines = path.endsWith(".json") ? [JSON.stringify(JSON.parse(text))] : text.trimEnd().split("\n");
      this.#lines.push(`${path}:`, ...lines.map((line) => `  ${this.#cleanLine(path, line)}`));
    }
  }

  note(value: unknown): void {
    this.#lines.push(this.#clean(value));
  }

  toString(): string {
    return this.#lines.join("\n");
  }

  #cleanLine(path: string, line: string): string {
    return path.endsWith(".csv") ? this.#withoutFolder(valuesInLastCell(line)) : this.#clean(JSON.parse(line));
  }

  /** Of sentences, only the values in them; their wording is free. */
  #clean(value: unknown): string {
    const isAnswer = (value as { readonly t?: unknown } | undefined)?.t === "done";
    const text = JSON.stringify(value, (name, held: unknown) => {
      // Depends on the folder.
      if (name === "checksum") return undefined;
      if (isAnswer && name === "rows") return (held as RowCounts).accepted;
      const isSentence = ["message", "hint", "reason"].includes(name) && typeof held === "string";
      if (name === "problems" && Array.isArray(held)) {
        return held.map(([at, field, code, reason, row]) => [at, field, code, this.#valuesIn(String(reason)), row]);
      }
      return isSentence ? this.#valuesIn(held) : held;
    });
    return this.#withoutFolder(text);
  }

  #valuesIn(sentence: string): string {
    return valuesIn(sentence, this.#pipeline.folder);
  }

  #withoutFolder(text: string): string {
    return text.replaceAll(this.#pipeline.folder, "");
  }
}

/** The last cell of a table of rows is a sentence. */
function valuesInLastCell(line: string): string {
  const [, first, last] = /^(.*?,)("(?:[^"]|"")*"|[^",]*)$/.exec(line) ?? [];
  return last?.includes(" ") ? `${first}${valuesIn(last.replaceAll(/^"|"$|"(?=")/g, ""), "")}` : line;
}
