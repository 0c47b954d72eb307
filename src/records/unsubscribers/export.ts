import { listUnsubscribers } from "../../service/listings.ts";
import type { RecordExporter } from "../../export/record-exporter.ts";

export const unsubscriberExporter: RecordExporter = {
  itemName: { one: "address", many: "addresses" },
  jsonFields: ["unsubscribed_by"],
  sortKeys: 2,
  hasShiftingPages: true,

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
