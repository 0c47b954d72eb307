import { loadKinds } from "../../src/import/kinds.ts";
import { recordKinds } from "../../src/records/index.ts";

/** All record kinds with their importers. */
export const kinds = await loadKinds(recordKinds);
