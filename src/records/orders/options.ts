import type { ImportOptions } from "../../import/options.ts";

export interface OrderOptions extends ImportOptions {
  platform?: string | undefined;
  /** False for `--no-validate`. */
  validate?: boolean | undefined;
  /** Whether the customers receive review requests; by default, orders are past ones. */
  sendMail?: boolean | undefined;
}
