import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { linkPaths } from "./links.ts";
import { bytes, enveloped } from "../reply.ts";
import { shape } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";

/** The token contains the target URL, so it may be as long as a request line. */
const token = lazily(() => z.string().max(16 * 1_024));

const input = lazyObject(() => ({
  token: token(),
  /** Do not record the event. Implied by a HEAD request. */
  only_look: shape.boolean.optional(),
}));

export const tracking = {
  open: endpoint({
    summary: "Record that an email was opened and return a one-pixel image",
    ...route("GET", `${linkPaths.open}/{token}`),
    extension: "own",
    auth: "open",
    effect: "repeatable",
    headField: "only_look",
    input: () => input(),
    output: () => ({ content_type: z.string(), base64: z.string() }),
    reply: bytes,
  }),
  click: endpoint({
    summary: "Record that an email link was clicked and return its target",
    ...route("GET", `${extensionPrefix}/clicks/{token}`),
    htmlPaths: [`${linkPaths.click}/{token}`],
    extension: "own",
    auth: "open",
    effect: "repeatable",
    headField: "only_look",
    redirects: true,
    input: () => input(),
    output: () => ({
      /** Null if the link has expired or was not issued by this service. */
      url: z.string().nullable(),
    }),
    reply: enveloped,
  }),
};
