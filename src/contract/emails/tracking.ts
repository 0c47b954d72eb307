import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { linkPaths } from "./links.ts";
import { bytes, enveloped } from "../reply.ts";
import { shape } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/** A link's own address stands in its token, and may be as long as a request line can be. */
const token = lazily(() => z.string().max(16 * 1_024));

const input = lazily(() =>
  z.object({
    token: token(),
    /** Nothing is noted. Said by a HEAD as well. */
    only_look: shape.boolean.optional(),
  }),
);

/** What mails of accounts that track opens and clicks point at. */
export const tracking = {
  open: endpoint({
    summary: "Note that a mail was opened; answers an image of one point",
    method: "GET",
    paths: [`${linkPaths.open}/{token}`],
    extension: "own",
    auth: "open",
    effect: "repeatable",
    headField: "only_look",
    input: () => input(),
    output: () => z.object({ content_type: z.string(), base64: z.string() }),
    reply: bytes,
  }),
  click: endpoint({
    summary: "Note that a mail's link was followed, and tell where it leads",
    method: "GET",
    paths: [`${extensionPrefix}/clicks/{token}`],
    htmlPaths: [`${linkPaths.click}/{token}`],
    extension: "own",
    auth: "open",
    effect: "repeatable",
    headField: "only_look",
    redirects: true,
    input: () => input(),
    output: () =>
      z.object({
        /** Null where the link is too old, or not one that this service made. */
        url: z.string().nullable(),
      }),
    reply: enveloped,
  }),
};
