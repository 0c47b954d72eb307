import { emailTypes, isEmailTypeId, shape } from "../../contract/index.ts";
import { ImportError } from "../../import/types.ts";
import { describeIssues, unknownElement } from "../../import/check/fields.ts";
import { createUnsubscriberHoldings } from "../holdings.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import type { Importing, ItemProblem, Item, Kind, RowProblem } from "../../import/kind.ts";

interface Unsubscription {
  readonly type: string;
  readonly email: string;
}

const typesHint = `an email type is a number from 1 to ${Object.keys(emailTypes).length}`;

export const unsubscribers: Kind = {
  name: "unsubscribers",
  prepare: ({ emailType, remove = false }) => {
    if (emailType !== undefined && !isEmailTypeId(emailType)) {
      throw new ImportError("usage", `--type ${emailType} is not an email type`, { hint: typesHint });
    }
    return createImporting(emailType, remove);
  },
};

function createImporting(defaultType: string | undefined, remove: boolean): Importing {
  return {
    operation: remove ? "unsubscribers.massDelete" : "unsubscribers.massCreate",
    fields: [
      { name: "email", aliases: ["user email"], required: true },
      { name: "email_type_id", aliases: ["type"], required: defaultType === undefined },
    ],
    erasing: { fields: [], otherwise: "the type of --type was taken" },
    itemName: { one: "address", many: "addresses" },
    holdings: createUnsubscriberHoldings(remove),

    read: (row, source) => {
      const problems: RowProblem[] = [];
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
        return { key, lane: "", rows: [source], size: email.length + 3, payload };
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

/** An error names an address or a type; every item that has it is meant. */
function locateError(
  items: readonly Item[],
  { value, error }: { readonly value: string; readonly error: string },
): ItemProblem[] {
  const isType = isEmailTypeId(value);
  const found = items.flatMap((item, at): ItemProblem[] => {
    const { type, email } = item.payload as Unsubscription;
    const isMeant = isType ? type === value : email.toLowerCase() === value.toLowerCase();
    const field = isType ? "email_type_id" : "email";
    return isMeant ? [{ item: at, ...readServiceProblem(field, error) }] : [];
  });
  if (found.length === 0) throw unknownElement(value);
  return found;
}
