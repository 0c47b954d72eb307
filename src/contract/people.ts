import * as z from "zod";
import { lazily } from "./lazily.ts";
import { lazyObject } from "./lazy-object.ts";
import { isActorName, maxActorName } from "./public-text.ts";

/** Source: spec "User summary, badge". */
const badge = lazyObject(() => ({
  id: z.number().int(),
  name: z.string(),
  description: z.string(),
  image_100: z.string(),
  image_300: z.string(),
}));

/** A person as shown in public responses. Source: spec "User summary, badge". */
export const userSummary = lazyObject(() => ({
  id: z.number().int(),
  display_name: z.string(),
  slug: z.string(),
  social_image: z.string().nullable(),
  is_social_connected: z.boolean(),
  bio: z.string().nullable(),
  score: z.number().int(),
  badges: z.array(badge()),
}));
export type UserSummary = z.output<ReturnType<typeof userSummary>>;

/** The name of a person or a job that makes changes. */
export const actorName = lazily(() =>
  z.string({ error: "must be a string" }).refine((text) => isActorName(text, maxActorName.any), {
    error: `must be a name of at most ${maxActorName.any} visible characters`,
  }),
);

/** Who did something, by the names used on the wire: a person, or the store through the API. Source: spec "Unsubscriber". */
export const actorNames = { user: "USER", store: "MODERATOR" } as const;

/** The two directions of a vote. Source: spec "Questions and answers", "Reviews". */
export const voteTypes = ["up", "down"] as const;
export type VoteType = (typeof voteTypes)[number];

export const voteType = lazily(() => z.enum(voteTypes, { error: `must be one of ${voteTypes.join(", ")}` }));

/** `id` is an incrementing index of votes. Source: spec "Other". */
export const voteOutput = lazyObject(() => ({ vote: z.object({ id: z.number().int() }) }));
