import { emailTypes, isEmailTypeId, shape } from "../../contract/index.ts";
import { ImportError } from "../../import/import-error.ts";
import { describeIssues, unknownElement } from "../../import/check/fields.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import type { ItemError, Item, RowError } from "../../import/item.ts";
import type { FieldSpec, PreparedImport, RecordImporter } from "../../import/kind.ts";
import type { ImportOptions } from "../../import/options.ts";
import { expectOne, joinKey, type StoredRecords } from "../../import/verify/stored-records.ts";
import { listUnsubscribers } from "../../service/listings.ts";
import { unsubscriberPlan } from "./plan.ts";
import { unsubscriberSynonyms } from "./synonyms.ts";
import { createUnsubscriberUndo, previousUnsubscribers } from "./undo.ts";

interface Unsubscription {
  readonly type: string;
  readonly email: string;
}

const typesHint = `an email type is an integer from 1 to ${Object.keys(emailTypes).length}`;

export interface UnsubscriberOptions extends ImportOptions {
  emailType?: string | undefined;
  remove?: boolean | undefined;
}

export const unsubscriberImporter: RecordImporter = {
  prepare: ({ emailType, remove = false }: UnsubscriberOptions, { fields }) => {
    if (emailType !== undefined && !isEmailTypeId(emailType)) {
      throw new ImportError("usage", `invalid value "${emailType}" for --type`, { hint: typesHint });
    }
    return prepareImport(emailType, remove, fields);
  },
  synonyms: unsubscriberSynonyms,
  plan: unsubscriberPlan,
  previous: () => previousUnsubscribers,
  undo: ({ remove = false }: UnsubscriberOptions) => createUnsubscriberUndo(remove),
};

function prepareImport(
  defaultType: string | undefined,
  remove: boolean,
  fields: readonly FieldSpec[],
): PreparedImport {
  return {
    operation: remove ? "unsubscribers.massDelete" : "unsubscribers.massCreate",
    ...(defaultType !== undefined && {
      fields: fields.map((field) => (field.name === "email_type_id" ? { ...field, required: false } : field)),
    }),
    erasing: { fields: [], otherwise: "the type given by --type was used" },
    storedRecords: createStoredUnsubscribers(remove),

    read: (row, source) => {
      const problems: RowError[] = [];
      const email = row("email");
      if (email === "") problems.push({ field: "email", code: "missing", reason: "is missing" });
      else {
        const parsed = shape.email.safeParse(email);
        if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, () => "email"));
      }
      const type = row("email_type_id") || defaultType;
      if (type === undefined)
        problems.push({ field: "email_type_id", code: "missing", reason: "is missing" });
      else if (!isEmailTypeId(type)) {
        problems.push({ field: "email_type_id", code: "bad_email_type", reason: typesHint });
      } else if (problems.length === 0) {
        const payload: Unsubscription = { type, email };
        const key = `${type}:${email.toLowerCase()}`;
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
      const { errors = [] } = await call({ email_list }, options);
      return errors.flatMap((error) => locateError(items, error));
    },
  };
}

/** An error names an address or a type and applies to every item with it. */
function locateError(
  items: readonly Item[],
  { value, error }: { readonly value: string; readonly error: string },
): ItemError[] {
  const isType = isEmailTypeId(value);
  const found = items.flatMap((item, at): ItemError[] => {
    const { type, email } = item.payload as Unsubscription;
    const isMeant = isType ? type === value : email.toLowerCase() === value.toLowerCase();
    const field = isType ? "email_type_id" : "email";
    return isMeant ? [{ item: at, ...readServiceProblem(field, error) }] : [];
  });
  if (found.length === 0) throw unknownElement(value);
  return found;
}

/** @param isRemoval whether the run resubscribed the addresses, which must then not be stored */
function createStoredUnsubscribers(isRemoval: boolean): StoredRecords {
  return {
    expected: (item) => {
      const { type, email } = item.payload as Unsubscription;
      return expectOne(item, joinKey(type, email.toLowerCase()), "email", { email, email_type_id: type });
    },
    list: async function* (service, options) {
      for await (const page of listUnsubscribers(service, options)) {
        yield page.map(({ email_type_id, user_email }) =>
          joinKey(String(email_type_id), user_email.toLowerCase()),
        );
      }
    },
    isRemoval,
  };
}
