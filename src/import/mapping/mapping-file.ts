import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import writeFileAtomic from "write-file-atomic";
import * as z from "zod";
import { isSameName, suggest } from "./names.ts";
import { ImportError, usageError } from "../import-error.ts";
import { dateFormats, maxHeaderRow, type ImportOptions } from "../options.ts";
import type { RecordKind } from "../kind.ts";

const text = z.string({ error: "must be a string" }).min(1, { error: "is empty" });
const byField = z.record(z.string(), text, { error: "must be an object of field names and strings" });

const members = {
  format: z.literal(1, { error: "must be 1; a newer version of starpost may have created the file" }),
  kind: text,
  layout: text.optional(),
  columns: byField.optional(),
  set: byField.optional(),
  product_url: text.optional(),
  product_id_from: z.array(text, { error: "must be a list of strings" }).min(1, { error: "is empty" }).optional(),
  date_format: z.enum(dateFormats, { error: `must be one of ${dateFormats.join(", ")}` }).optional(),
  header_row: z
    .int({ error: "must be an integer" })
    .min(1, { error: "must be at least 1" })
    .max(maxHeaderRow, { error: `must be at most ${maxHeaderRow}` })
    .optional(),
  delimiter: z
    .string()
    .regex(/^[^"\r\n\0]$/, { error: "must be one character" })
    .optional(),
  encoding: text.optional(),
};

/** A mapping file: how to read a shop's file of one kind. Never contains a value of a row. */
const mappingShape = z.strictObject(members);
export type Mapping = z.output<typeof mappingShape>;

/** Maximum size of a mapping file, in bytes. */
const maxBytes = 1024 * 1024;

/**
 * Reads a mapping file.
 * @throws ImportError `usage`, naming the file and the member in it
 */
export function readMapping(path: string, given: string, kind: RecordKind): Mapping {
  const parsed = mappingShape.safeParse(parseJson(path, given));
  if (!parsed.success) throw describeIssue(given, parsed.error.issues[0]);
  const mapping = parsed.data;
  if (mapping.kind !== kind.name) {
    throw usageError(`${given}: kind: the mapping is for ${mapping.kind}, not for ${kind.name}`);
  }
  const { fields } = kind;
  for (const member of ["columns", "set"] as const) {
    for (const field of Object.keys(mapping[member] ?? {})) {
      if (fields.some(({ name }) => isSameName(field, name))) continue;
      const names = fields.map(({ name }) => name);
      throw usageError(`${given}: ${member}.${field}: unknown field`, suggest(field, names));
    }
  }
  return mapping;
}

/**
 * Merges the options with those of the mapping file; flags take precedence.
 * Assumed: the two are merged field by field, so `--map` and `--set` override single fields of a mapping.
 * @throws ImportError `usage`
 */
export function applyMapping(kind: RecordKind, options: ImportOptions, cwd: string): ImportOptions {
  if (options.mapping === undefined) return options;
  const path = resolve(cwd, options.mapping);
  const mapping = readMapping(path, options.mapping, kind);
  const { layout, columns, set, product_url, product_id_from, date_format, header_row, delimiter, encoding } = mapping;
  const isId = (field: string) => isSameName(field, "product_id");
  const withoutId = Object.fromEntries(Object.entries(columns ?? {}).filter(([field]) => !isId(field)));
  return {
    ...options,
    mapping: path,
    layout: options.layout ?? layout,
    map: layOver(options.productIdFrom ? withoutId : columns, options.map),
    set: layOver(set, options.set),
    productUrl: options.productUrl ?? (options.storeUrl === undefined ? product_url : undefined),
    productIdFrom: options.productIdFrom ?? (Object.keys(options.map).some(isId) ? undefined : product_id_from),
    dateFormat: options.dateFormat ?? date_format,
    headerRow: options.headerRow ?? header_row,
    delimiter: options.delimiter ?? delimiter,
    encoding: options.encoding ?? encoding,
  };
}

/** Merges two sets of fields; the spelling of a field name does not matter. */
function layOver(
  under: Readonly<Record<string, string>> = {},
  over: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const isFree = (field: string) => !Object.keys(over).some((other) => isSameName(other, field));
  return { ...Object.fromEntries(Object.entries(under).filter(([field]) => isFree(field))), ...over };
}

function parseJson(path: string, given: string): unknown {
  let content: string;
  try {
    const bytes = readFileSync(path);
    if (bytes.length > maxBytes) {
      throw usageError(
        `${given}: too large for a mapping file (limit: 1 MiB)`,
        "--mapping takes a mapping file, not a data file",
      );
    }
    content = bytes.toString("utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (error instanceof ImportError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "no such file" : `cannot read the file (${code})`;
    throw usageError(`invalid value "${given}" for --mapping: ${why}`, undefined, { cause: error });
  }
  try {
    return JSON.parse(content);
  } catch (error) {
    throw usageError(
      `${given}: invalid JSON: ${(error as Error).message.split("\n")[0]}`,
      "to create a mapping file, run: starpost <kind> map <file> --out <mapping>",
      { cause: error },
    );
  }
}

function describeIssue(given: string, issue: z.core.$ZodIssue | undefined): ImportError {
  if (issue?.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    return usageError(`${given}: unknown member ${key}`, suggest(key, Object.keys(members)));
  }
  const place = issue?.path.join(".") ?? "";
  const found = place === "" ? "must be an object" : `${place}: ${issue?.message}`;
  return usageError(`${given}: ${found}`, "to create a mapping file, run: starpost <kind> map <file> --out <mapping>");
}

/** Writes a mapping file. It is readable by others, since it contains no personal data. */
export async function writeMapping(path: string, mapping: Mapping): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(mapping, null, 2)}\n`, { mode: 0o644 });
}
