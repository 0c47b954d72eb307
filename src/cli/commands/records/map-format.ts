import { type Answers, findMissing, findUnused, openFields } from "../../../import/mapping/decisions.ts";
import type { MappingDraft } from "../../../import/mapping/draft.ts";
import { countOf } from "../../../terminal/plural.ts";

/** What the file was found to be, in one line. */
export function describeDraft({ file, layout, samples, encoding, delimiter }: MappingDraft): string {
  const parted = delimiter === "\t" ? "a tab" : `'${delimiter}'`;
  const what = layout ? `, which looks like ${layout.title}` : "";
  return `${file}: ${countOf(samples.length, "column")} parted by ${parted}, read as ${encoding}${what}.`;
}

/** What was proposed without asking, and how sure it is; no value of a row, since logs are kept. */
export function describeProposal(draft: MappingDraft, answers: Answers): string[] {
  const open = openFields(draft, answers.takesLayout);
  const widest = Math.max(0, ...open.map(({ field }) => field.length));
  const lines = open.flatMap(({ field, column, sureness }) => {
    const isTaken = (answers.of.get(field) ?? "none") !== "none";
    return isTaken ? [`  ${field.padEnd(widest)}  in '${column}' (${sureness})`] : [];
  });
  const left = open.filter(({ field, column }) => column !== undefined && answers.of.get(field) === "none");
  const guesses = left.map(({ field, column }) => `${field} in '${column}'`);
  const unused = findUnused(draft, answers);
  return [
    ...lines,
    ...(guesses.length > 0 ? [`Left out, since they are guesses: ${guesses.join(", ")}.`] : []),
    ...(unused.length > 0 ? [`Columns that no field is taken from: ${unused.join(", ")}.`] : []),
  ];
}

/** What an import would still miss, and what to do about it. */
export function describeMissing(draft: MappingDraft, answers: Answers): string[] {
  const missing = findMissing(draft, answers);
  const { urlField } = draft;
  const others = missing.filter((field) => field !== urlField);
  return [
    ...(others.length > 0
      ? [
          `Missing: ${others.join(", ")}. Say where they are: --map ${others[0]}=<column>, or --set ${others[0]}=<value>.`,
        ]
      : []),
    ...(urlField !== undefined && missing.includes(urlField)
      ? [
          `Missing: ${urlField}. Say how it is made: --product-url 'https://shop.example/products/{product_id}'.`,
        ]
      : []),
  ];
}

/** The command that imports the file by the mapping. */
export function describeNextCommand({ kind, file }: MappingDraft, out: string | undefined): string {
  const given = file === "-" ? "<file>" : quoteForShell(file);
  const action = kind === "coupons" ? " --action <action>" : "";
  const command = `starpost ${kind} import ${given}${action} --mapping ${quoteForShell(out ?? "mapping.json")}`;
  return out === undefined
    ? `Keep this as a file, for example mapping.json. Then: ${command}`
    : `Wrote ${out}. To import by it: ${command}`;
}

function quoteForShell(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
