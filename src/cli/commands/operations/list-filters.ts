import type { OperationName } from "../../../contract/index.ts";
import { invalidValue } from "../../../config/user-error.ts";
import { emailType, exclusiveFlags, readEmail, readWords, stateFlag } from "../../program/flag-values.ts";
import type { Flag, Flags, FlagValues } from "../../program/flag.ts";
import { resolveTimes, timeFlags, toTimeRange } from "../../program/relative-time.ts";
import type { FieldCard } from "./operation-card.ts";
import { operationCards } from "./operation-cards.ts";
import { readField } from "./operation-flags.ts";

/** Flags of filters whose name differs from that of the field. */
const names: Readonly<Record<string, string>> = {
  product_id: "product",
  order_id: "order",
  since_date: "since",
  until_date: "until",
  email_type_id: "type",
};

const flags: Readonly<Record<string, Flag>> = {
  email: { value: "<address>", description: "only those of this person", read: readEmail },
  product_id: { value: "<product_id>", description: "only those of this product" },
  order_id: { value: "<order_id>", description: "only those of this order" },
  email_type_id: { value: "<type>", description: "only this email type, by name or number, 1 to 17", ...emailType },
  score: {
    value: "<scores>",
    description: "only these numbers of stars: 1..2, or a list such as 1,5",
    read: readScores,
  },
  since_date: timeFlags.since,
  until_date: timeFlags.until,
  search: {
    value: "<words>",
    description: 'only those that contain all of these words, or a "quoted phrase"',
    read: readWords,
  },
  unanswered: { description: "only those that the store has not answered" },
  with_images: { description: "only those with images" },
};

/** Fields that the command line has no flags for. */
const hidden: ReadonlySet<string> = new Set(["limit", "page_info"]);

/** Commands in which a flag means something else. */
export type FilterDescriptions = Readonly<Record<string, string>>;

/** The filters of a list: those of the operation that searches, as flags. */
export function filterFlagsOf(
  search: OperationName,
  descriptions: FilterDescriptions,
  states?: readonly string[],
): Flags {
  const card = operationCards[search];
  const found = (card?.fields ?? []).filter(({ path }) => !hidden.has(path.join(".")));
  return Object.fromEntries(found.map((field) => [filterNameOf(field), toFlag(field, descriptions, states)]));
}

function filterNameOf({ path }: Pick<FieldCard, "path">): string {
  const field = path.join(".");
  return names[field] ?? field.replaceAll("_", "-");
}

function toFlag(field: FieldCard, descriptions: FilterDescriptions, states: readonly string[] = []): Flag {
  const name = field.path.join(".");
  const known: Flag = flags[name] ?? toPlainFlag(field, states);
  const description = descriptions[name] ?? (name === "sort" ? "newest or oldest first" : known.description);
  return { ...known, description };
}

function toPlainFlag(field: FieldCard, states: readonly string[]): Flag {
  if (field.path.join(".") === "state") {
    const known = stateFlag(states);
    return { ...known, read: (text, flag) => known.read(text, flag).join(",") };
  }
  if (field.type === "switch") return { description: "" };
  return {
    value: "<text>",
    description: field.oneOf ? field.oneOf.join(" or ") : "",
    ...(field.oneOf && { values: field.oneOf }),
    read: (text, flag) => readField(field, text, flag),
  };
}

/**
 * Reads a list such as `1,5` or a range such as `1..2`.
 * @throws UserError `usage`
 */
function readScores(text: string, flag: string): string {
  const scores = text.split(",").flatMap((part) => {
    const [, first, last = first] = /^([1-5])(?:(?:\.\.|-)([1-5]))?$/.exec(part.trim()) ?? [];
    return Array.from({ length: Number(last) - Number(first) + 1 || 0 }, (_, at) => Number(first) + at);
  });
  const given = text.split(",").every((part) => /^\s*[1-5](?:(?:\.\.|-)[1-5])?\s*$/.test(part));
  if (given && scores.length > 0) return [...new Set(scores)].join(",");
  throw invalidValue(text, flag, "stars from 1 to 5 such as 1, 1..2, or 1,5");
}

/** Flags that select pages of a list without filters. */
const paging: ReadonlySet<string> = new Set([
  "since-id",
  "since-updated-at",
  "page",
  "count",
  "updated-at-min",
  "page-info",
]);

/**
 * Finds the first flag that only the operation that searches knows.
 * @param known the flags of the list without filters
 * @throws UserError `usage` if flags of both are combined
 */
export function findFilter(given: FlagValues<Flags>, known: Flags, filters: Flags): string | undefined {
  const set = Object.entries(given).flatMap(([name, value]) => (isSet(value) ? [name] : []));
  // Both operations may select times and one state.
  const isShared = (name: string) =>
    Object.hasOwn(known, name === "since" ? "since-date" : name) && !String(given[name]).includes(",");
  const filter = set.find((name) => Object.hasOwn(filters, name) && !isShared(name));
  const other = set.find((name) => paging.has(name));
  if (filter !== undefined && other !== undefined) throw exclusiveFlags(other, filter);
  return filter;
}

const isSet = (value: unknown) => value !== undefined && value !== false;

/**
 * Values of flags by the names of the fields' own flags, with times in UTC.
 * @throws UserError `usage` if a range of time ends before it starts
 */
export function toFieldFlags(given: Readonly<Record<string, unknown>>, nowMs: number): FlagValues<Flags> {
  const fields = Object.fromEntries(Object.entries(names).map(([field, name]) => [name, field.replaceAll("_", "-")]));
  toTimeRange(given, nowMs);
  const values = Object.entries(resolveTimes(given, nowMs)).filter(([, value]) => value !== undefined);
  const entries = values.map(([name, value]) => [fields[name] ?? name, value]);
  return Object.fromEntries(entries) as FlagValues<Flags>;
}
