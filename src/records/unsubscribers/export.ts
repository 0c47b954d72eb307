import { nativeColumns } from "../../import/mapping/native-columns.ts";
import { listUnsubscribers } from "../../service/listings.ts";
import type { Noun } from "../../export/record-export.ts";

export const unsubscribers: Noun = {
  name: "unsubscribers",
  itemName: { one: "address", many: "addresses" },
  columns: nativeColumns.unsubscribers,
  furtherFields: ["unsubscribed_by"],
  sortKeys: 2,
  isCountedOff: true,

  pages: async function* (service, _query, options) {
    for await (const page of listUnsubscribers(service, options)) {
      yield page.map(({ id, user_email, email_type_id, unsubscirbed_by_name }) => ({
        id,
        sortKeys: [user_email, email_type_id],
        record: { email: user_email, email_type_id, unsubscribed_by: unsubscirbed_by_name },
      }));
    }
  },
};
