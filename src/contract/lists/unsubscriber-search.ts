import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { lazily } from "../lazily.ts";
import { enveloped } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { emailTypeId, unsubscriber } from "../unsubscribers.ts";
import { nextPage, searchCall, searchListing, searchPaging, timeRange } from "./filters.ts";

/** An unsubscribed address, with the time of the unsubscription. */
const foundUnsubscriber = lazily(() => unsubscriber().extend({ created_at: timestamp() }));

export const unsubscriberSearch = {
  search: endpoint({
    summary: "List the unsubscribed addresses that match filters, newest first",
    listing: { items: "unsubscribers", ...searchListing },
    ...searchCall,
    paths: [`${extensionPrefix}/apps/{app_key}/unsubscribers`],
    input: () => ({
      email: shape.email.optional(),
      email_type_id: emailTypeId().optional(),
      ...timeRange(),
      ...searchPaging(),
    }),
    output: () => ({ unsubscribers: z.array(foundUnsubscriber()), pagination: nextPage() }),
    reply: enveloped,
  }),
};
