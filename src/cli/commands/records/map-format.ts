import { type Answers, findMissing, findUnused, openFields } from "../../../import/mapping/decisions.ts";
import type { MappingDraft } from "../../../import/mapping/draft.ts";
import { findKind } from "../../../records/index.ts";
import { countOf } from "../../../terminal/plural.ts";

/** Describes the detected format of the file in one line. */
export function describeDraft({ file, layout, samples, encoding, delimiter }: MappingDraft): string {
  const separator = delimiter === "\t" ? "tabs" : `'${delimiter}'`;
  const format = layout ? `, ${layout.title}` : "";
  return `${file}: ${countOf(samples.length, "column")} separated by ${separator}, ${encoding}${format}`;
}

/** Describes the mapping that was proposed without prompting. Contains no values of rows, because logs are stored. */
export function describeProposal(draft: MappingDraft, answers: Answers): string[] {
  const open = openFields(draft, answers.takesLayout);
  const widest = Math.max(0, ...open.map(({ field }) => field.length));
  const lines = open.flatMap(({ field, column, sureness }) => {
    const isTaken = (answers.of.get(field) ?? "none") !== "none";
    return isTaken ? [`  ${field.padEnd(widest)}  column '${column}' (${sureness})`] : [];
  });
  const omitted = open.filter(
    ({ field, column }) => column !== undefined && answers.of.get(field) === "none",
  );
  const guesses = omitted.map(({ field, column }) => `${field} (column '${column}')`);
  const unused = findUnused(draft, answers);
  return [
    ...lines,
    ...(guesses.length > 0 ? [`Not mapped, because the match is uncertain: ${guesses.join(", ")}.`] : []),
    ...(unused.length > 0 ? [`Unused columns: ${unused.join(", ")}.`] : []),
  ];
}

/** Describes the required fields without a value, and how to provide them. */
export function describeMissing(draft: MappingDraft, answers: Answers): string[] {
  const missing = findMissing(draft, answers);
  const { urlField } = draft;
  const others = missing.filter((field) => field !== urlField);
  return [
    ...(others.length > 0
      ? [
          `Missing required fields: ${others.join(", ")}. To provide them, use --map ${others[0]}=<column> or --set ${others[0]}=<value>.`,
        ]
      : []),
    ...(urlField !== undefined && missing.includes(urlField)
      ? [
          `Missing required field: ${urlField}. To build it from other fields, use --product-url 'https://shop.example/products/{product_id}'.`,
        ]
      : []),
  ];
}

/** Describes how to import the file with the mapping. */
export function describeNextCommand({ kind, file }: MappingDraft, out: string | undefined): string {
  const path = file === "-" ? "<file>" : quoteForShell(file);
  const required = Object.entries(findKind(kind).importCommand.flags ?? {}).filter(
    ([, flag]) => flag.isRequired,
  );
  const flags = required.map(([name, { value }]) => ` --${name} ${value ?? ""}`).join("");
  const command = `starpost ${kind} import ${path}${flags} --mapping ${quoteForShell(out ?? "mapping.json")}`;
  return out === undefined
    ? `To use the mapping, save it as mapping.json and run: ${command}`
    : `Wrote ${out}. To use it, run: ${command}`;
}

function quoteForShell(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
