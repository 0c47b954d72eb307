import type { Part } from "../bench.ts";
import { archives } from "./archives.ts";
import { products40k, realisticFile } from "./comparison.ts";
import { formats } from "./formats.ts";
import { http } from "./http.ts";
import { kinds, reviews } from "./kinds.ts";
import { growth, memory } from "./memory.ts";
import { paced } from "./paced.ts";
import { latency, postgres } from "./postgres.ts";
import { verification } from "./verification.ts";

/** All parts, by the names that `--only` accepts, in the order of their run. */
export const parts: Readonly<Record<string, Part>> = {
  realistic: realisticFile,
  products40k,
  archives,
  formats,
  reviews,
  kinds,
  postgres,
  latency,
  http,
  paced,
  verify: verification,
  memory,
  growth,
};
