import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { parse } from "csv-parse/sync";
import type { ImportEvent } from "../../src/import/events.ts";
import { ImportError } from "../../src/import/import-error.ts";
import { startImport } from "../../src/import/import.ts";
import type { ImportOptions } from "../../src/import/options.ts";
import type { ImportSummary } from "../../src/import/summary.ts";
import { createService } from "../../src/service/service.ts";
import { kinds } from "./record-kinds.ts";

type Input = Readonly<Record<string, unknown>>;

/** What an import did. */
export interface RecordedImport {
  /** The calls that write, with their input. */
  readonly sent: readonly (readonly [operation: string, input: Input])[];
  /** The rejected rows. */
  readonly rejects: readonly (readonly [line: number, column: string, code: string])[];
  readonly rows: ImportSummary["rows"];
  readonly items: ImportSummary["items"];
  /** The numbers, positions, and quoted values of each message; their wording is free. */
  readonly notices: readonly string[];
  /** The reasons as a command shows them. */
  readonly reasons: readonly string[];
}

/** The error of an import that could not begin. */
export interface RefusedImport {
  readonly failed: string;
  /** The values in its message and hint. */
  readonly values: string;
}

/** A service without records, which accepts everything and reports no outcomes. */
function reply(operation: string, { codes = [] }: { readonly codes?: readonly string[] }): Input {
  const [group = "", verb = ""] = operation.split(".");
  const empty = { coupons: [], products_groups: [], products: [], purchases: [], reviews: [], unsubscribers: [] };
  if (verb === "stats") return { stats: {} };
  if (verb.startsWith("list"))
    return { ...empty, total_purchases: 0, pagination: { page: 1, per_page: 100, total: 0 } };
  return group === "coupons" ? { "new-codes": codes.length } : empty;
}

/** Imports files by name, all of one kind, in this process, and records what is sent. The run begins in October 2026. */
export async function recordImport(
  kind: string,
  content: string | Uint8Array | Readonly<Record<string, string | Uint8Array>>,
  options: Partial<ImportOptions> = {},
): Promise<RecordedImport | RefusedImport> {
  const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
  const files = typeof content === "string" || content instanceof Uint8Array ? { "a.csv": content } : content;
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const sent: [string, Input][] = [];
  const call = async (operation: string, input: Input): Promise<Input> => {
    if (!/\.(?:list\w*|stats)$/.test(operation)) sent.push([operation, structuredClone(input)]);
    return reply(operation, input);
  };
  const service = createService({ call: call as never, close: async () => {} }, {});
  const events: ImportEvent[] = [];
  const never = new AbortController().signal;
  try {
    const summary = await startImport(
      { kind, files: Object.keys(files), options: { dryRun: false, map: {}, ...options } },
      {
        kinds,
        openService: async () => ({ service, concurrency: 1, keepsOrder: true, close: async () => {} }),
        profileName: "test",
        target: "test",
        runsFolder: join(folder, "runs"),
        clock: () => Date.UTC(2026, 9, 1),
        random: (bytes) => Buffer.alloc(bytes, 1),
        stdin: Readable.from([]),
        cwd: folder,
        version: "0",
        stop: never,
        abort: never,
        report: (event) => events.push(event),
      },
    );
    return {
      sent,
      rejects: summary.rejects_file === null ? [] : readRejects(summary.rejects_file),
      rows: summary.rows,
      items: summary.items,
      notices: events.flatMap((event) => (event.type === "notice" ? [valuesIn(event.message, folder)] : [])),
      reasons: events.flatMap((event) => (event.type === "rejects" ? event.reasons.map(formatReason) : [])),
    };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { failed: error.kind, values: valuesIn(`${error.message} ${error.hint}`, folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Formats a recorded import as JSON with one call, row, or message per line. */
export function formatRecorded(recorded: RecordedImport | RefusedImport): string {
  const members = Object.entries(recorded).map(([name, value]) => {
    const isList = Array.isArray(value) && value.length > 0;
    const text = isList
      ? `[\n${value.map((one) => `    ${JSON.stringify(one)}`).join(",\n")}\n  ]`
      : JSON.stringify(value);
    return `  ${JSON.stringify(name)}: ${text}`;
  });
  return `{\n${members.join(",\n")}\n}\n`;
}

function readRejects(path: string): RecordedImport["rejects"] {
  const bytes = readFileSync(path);
  const text = bytes.toString(bytes[0] === 0xff ? "utf-16le" : "utf8");
  const delimiter = /(.)_line/.exec(text)?.[1] ?? ",";
  const rows: Readonly<Record<string, string>>[] = parse(text, { columns: true, bom: true, delimiter });
  return rows.map((row) => [Number(row["_line"]), row["_column"] ?? "", row["_code"] ?? ""]);
}

/** The numbers, positions, and quoted values of a sentence. */
export function valuesIn(message: string, folder: string): string {
  const pattern = /[\w-]+\.csv(?::\w[\w ]*)*|"[^"]*"|(?<!\w)'[^']*'(?!\w)|\b\d+\b|--[\w-]+|\w+_\w+/g;
  const values = message.replaceAll(folder, "").match(pattern);
  return (values ?? []).join(" ");
}

/** The count, code, position, and value of a reason. */
export function formatReason({
  code,
  count,
  column,
  file,
  line,
  value,
}: Extract<ImportEvent, { type: "rejects" }>["reasons"][number]): string {
  return `${count} ${code} ${file}:${line}:${column} ${value}`;
}
