import * as z from "zod";
import { lazily } from "./lazily.ts";

/** The schema of an object with the given fields, built on first use. */
export function lazyObject<Fields extends z.core.$ZodLooseShape>(buildFields: () => Fields) {
  return lazily(() => z.object(buildFields()));
}
