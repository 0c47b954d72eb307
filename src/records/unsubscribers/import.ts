import { join } from "node:path";
import {
  actorNames,
  emailKeyOf,
  emailTypeNames,
  emailTypes,
  isEmailTypeId,
  readEmailTypeId,
  shape,
} from "../../contract/index.ts";
import { usageError } from "../../import/import-error.ts";
import { describeIssues, unknownElement } from "../../import/check/fields.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import { readOutcomes } from "../../import/check/service-outcomes.ts";
import type { Item, ItemError, RowError } from "../../import/item.ts";
import type {
  ItemPreparation,
  PreparedAttempt,
  PreparedImport,
  RecordImporter,
  RecordKind,
} from "../../import/kind.ts";
import type { ImportOptions } from "../../import/options.ts";
import { expectOne } from "../../import/verify/stored-records.ts";
import { listUnsubscribers } from "../../service/listings.ts";
import { DiskMap } from "../../storage/sqlite/disk-map.ts";
import { consentLayouts, readConsentColumns, skipByAnswer } from "./consent.ts";
import { createUnsubscriberUndo, keyOf } from "./undo.ts";
import { unsubscriberSynonyms } from "./synonyms.ts";

interface Unsubscription {
  readonly type: string;
  readonly email: string;
}

const typeRange = `an integer from 1 to ${Object.keys(emailTypes).length}, or a name such as ${emailTypeNames[1]}`;

export interface UnsubscriberOptions extends ImportOptions {
  emailType?: string | undefined;
  remove?: boolean | undefined;
}

export const unsubscriberImporter: RecordImporter = {
  prepare: prepareImport,
  layouts: consentLayouts,
  synonyms: unsubscriberSynonyms,
  plan: {
    ids: [{ type: "address", writtenIn: "", isCanonical: true }],
    keyOf: ({ key }) => key,
    loadStored: async (service, tally, options) => {
      for await (const page of listUnsubscribers(service, options)) {
        for (const entry of page) tally.addStored("address", keyOf(entry));
      }
    },
  },
  undo: ({ remove = false }: UnsubscriberOptions) => createUnsubscriberUndo(remove),
};

function prepareImport(
  { emailType, remove = false, force = false }: UnsubscriberOptions,
  { fields }: RecordKind,
): PreparedImport {
  if (emailType !== undefined && readEmailTypeId(emailType) === undefined) {
    throw usageError(`invalid value "${emailType}" for --type`, `an email type is ${typeRange}`);
  }
  return {
    operation: remove ? "unsubscribers.massDelete" : "unsubscribers.massCreate",
    ...(emailType !== undefined && {
      fields: fields.map((field) => (field.name === "email_type_id" ? { ...field, required: false } : field)),
    }),
    erasing: { fields: [], otherwise: "the type given by --type was used" },
    impliedFields: (file) => readConsentColumns(file, { remove, force }),
    skip: skipByAnswer,
    storedRecords: {
      expected: (item) => {
        const { type, email } = item.payload as Unsubscription;
        return expectOne(item, item.key, "email", { email, email_type_id: type });
      },
      list: async function* (service, options) {
        for await (const page of listUnsubscribers(service, options)) {
          yield page.map((entry) => ({ key: keyOf(entry) }));
        }
      },
      // The resubscribed addresses must not be stored.
      isRemoval: remove,
    },

    ...(remove && { prepareItems: confirmOwn }),

    read: (row, source) => {
      const problems: RowError[] = [];
      const email = row("email");
      if (email === "") problems.push({ field: "email", code: "missing", reason: "is missing" });
      else {
        const parsed = shape.email.safeParse(email);
        if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, () => "email"));
      }
      const written = row("email_type_id") || emailType;
      const type = written === undefined ? undefined : readEmailTypeId(written);
      if (written === undefined) problems.push({ field: "email_type_id", code: "missing", reason: "is missing" });
      else if (type === undefined) {
        problems.push({ field: "email_type_id", code: "bad_email_type", reason: `is not ${typeRange}` });
      } else if (problems.length === 0) {
        const payload: Unsubscription = { type, email };
        const key = keyOf({ email_type_id: type, user_email: email });
        return { key, batchKey: "", rows: [source], size: email.length + 3, payload };
      }
      return problems;
    },

    send: async (service, items, options) => {
      const email_list: Record<string, string[]> = {};
      for (const { type, email } of items.map((item) => item.payload as Unsubscription)) {
        (email_list[type] ??= []).push(email);
      }
      const call = remove ? service.unsubscribers.massDelete : service.unsubscribers.massCreate;
      const { errors = [], outcomes } = await call({ email_list, details: true }, options);
      const located = errors.flatMap((error) => locateError(items, error));
      const inOrder = outcomes && sortOutcomes(items, outcomes);
      return readOutcomes({ outcomes: inOrder, errors: located });
    },
  };
}

/** The most addresses that a question names. */
const maxNamed = 10;

/**
 * Asks before people are resubscribed who unsubscribed themselves, and names them.
 * @throws what `confirm` throws
 */
async function confirmOwn(attempt: PreparedAttempt): Promise<ItemPreparation> {
  const { service, isFirst, callOptions, folder } = attempt;
  const none = { prepare: () => {}, notices: () => [], [Symbol.dispose]: () => {} };
  if (!service || !isFirst) return none;
  using own = new DiskMap<string>(join(folder, "own.db"));
  for await (const page of listUnsubscribers(service, callOptions)) {
    for (const entry of page) {
      if (entry.unsubscirbed_by_name === actorNames.user) own.set(keyOf(entry), entry.user_email);
    }
  }
  using found = new DiskMap<1>(join(folder, "own-found.db"));
  const named: string[] = [];
  await attempt.readItems((items) => {
    for (const { key } of items) {
      const email = own.get(key);
      if (email === undefined || found.get(key) !== undefined) continue;
      found.set(key, 1);
      if (named.length < maxNamed) named.push(email);
    }
  });
  const question = describeOwn(named, found.size);
  if (question !== undefined) await attempt.confirm(question);
  return none;
}

/** The question before people are resubscribed who unsubscribed themselves; undefined without any. */
export function describeOwn(named: readonly string[], count: number): string | undefined {
  if (count === 0) return undefined;
  const people = count === 1 ? "1 person" : `${count.toLocaleString("en-US")} people`;
  const others = count > named.length ? `, and ${(count - named.length).toLocaleString("en-US")} more` : "";
  return `${people} unsubscribed themselves: ${named.join(", ")}${others}. Resume emails to them too?`;
}

/** The service returns the outcomes by type ID, and then in the order of the items. */
function sortOutcomes<T>(items: readonly Item[], outcomes: readonly T[]): readonly T[] {
  const typeOf = ({ payload }: Item) => Number((payload as Unsubscription).type);
  const sent = items.map((item, at) => ({ at, type: typeOf(item) })).toSorted((a, b) => a.type - b.type);
  const sorted = sent.map(({ at }, position) => ({ at, outcome: outcomes[position] as T }));
  return sorted.toSorted((a, b) => a.at - b.at).map(({ outcome }) => outcome);
}

/** An error names an address or a type and applies to every item with it. */
function locateError(
  items: readonly Item[],
  { value, error }: Readonly<Record<"value" | "error", string>>,
): ItemError[] {
  const isType = isEmailTypeId(value);
  const found = items.flatMap((item, at): ItemError[] => {
    const { type, email } = item.payload as Unsubscription;
    const isMeant = isType ? type === value : emailKeyOf(email) === emailKeyOf(value);
    const field = isType ? "email_type_id" : "email";
    return isMeant ? [{ item: at, ...readServiceProblem(field, error) }] : [];
  });
  if (found.length === 0) throw unknownElement(value);
  return found;
}
