import { unsubscriberPageDefault } from "../../contract/index.ts";
import { nativeColumns } from "../../importer/native-columns.ts";
import type { Noun } from "../noun.ts";
import { readByPage } from "../paging.ts";

export const unsubscribers: Noun = {
  name: "unsubscribers",
  itemName: { one: "address", many: "addresses" },
  columns: nativeColumns.unsubscribers,
  furtherFields: ["unsubscribed_by"],
  sortKeys: 2,
  isCountedOff: true,

  pages: async function* (service, _query, options) {
    const ask = async (page: number) =>
      (await service.unsubscribers.list({ count: unsubscriberPageDefault, page }, options)).unsubscribers;
    for await (const page of readByPage(ask)) {
      yield page.map(({ id, user_email, email_type_id, unsubscirbed_by_name }) => ({
        id,
        sortKeys: [user_email, email_type_id],
        record: { email: user_email, email_type_id, unsubscribed_by: unsubscirbed_by_name },
      }));
    }
  },
};
