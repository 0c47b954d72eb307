import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { enveloped } from "../reply.ts";
import { shape } from "../shapes.ts";

/** Why nothing more is sent to an address: an email bounced, or was reported as spam. */
export const suppressionKinds = ["bounces", "spamreports"] as const;
export type SuppressionKind = (typeof suppressionKinds)[number];

export const emailSuppressions = {
  lift: endpoint({
    summary: "Allow emails to an address again after a bounce or a spam report",
    method: "DELETE",
    paths: [`${extensionPrefix}/apps/{app_key}/mail_suppressions`],
    extension: "own",
    auth: "utoken",
    effect: "repeatable",
    input: () => z.object({ email: shape.email }),
    output: () => z.object({ email: z.string(), lifted: z.array(z.enum(suppressionKinds)) }),
    reply: enveloped,
  }),
};
