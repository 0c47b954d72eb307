import type { CallOptions, OutputOf } from "../../service/transport.ts";
import type { Service } from "../../service/service.ts";
import type { Item, RowView } from "../item.ts";
import type { ImportOptions } from "../options.ts";
import type { PlanTally } from "./plan-tally.ts";

export type EmailForecast = OutputOf<"emails.forecast">;

/** An ID in the rows of a kind. */
export interface WatchedId {
  /** What it identifies, such as `product`; IDs of different types are independent. */
  readonly type: string;
  /** The field that holds it; by default, the item's key is the ID. */
  readonly field?: string;
  /** The field in which it is written, whose spelling is compared. */
  readonly writtenIn: string;
  /** The field with the name of what it identifies. */
  readonly name?: string;
  /** It is already in a canonical form, so that two different IDs are never spellings of the same one. */
  readonly isCanonical?: boolean;
}

/** The account as it was before the import, as far as the details depend on it. */
export type StateBefore = Readonly<Record<string, number>>;

/** What is known once the import has been rehearsed. */
export interface Rehearsed {
  readonly service: Service;
  readonly before: StateBefore;
  readonly startedMs: number;
  readonly tally: PlanTally;
  readonly callOptions: CallOptions;
}

/** The parts of a plan that only some kinds have. */
export interface PlanDetails {
  /** Stored records that the import would change. */
  readonly changed?: number;
  /** Purchases that the import would add to stored orders. */
  readonly purchases_added?: number;
  readonly mails?: {
    /** Whether the import was asked to send emails. */
    readonly send_mail: boolean;
    /** How many of `if_sent` the import would cause: all or none. */
    readonly sent_by_import: number;
    readonly if_sent: EmailForecast | null;
  };
}

/** What a plan reports about a kind beyond the outcome of its rows. */
export interface PlanBehavior {
  /** The first is the ID of the record itself. */
  readonly ids: readonly WatchedId[];
  /** Identifies what a row writes, to find rows that repeat an earlier one. */
  keyOf(item: Item, row: RowView): string;
  /** Adds the IDs that the service already has to the tally. */
  loadStored(service: Service, tally: PlanTally, options: CallOptions): Promise<StateBefore | void>;
  /** @param rehearsed undefined if the rehearsal did not finish */
  describe?(options: ImportOptions, rehearsed: Rehearsed | undefined): Promise<PlanDetails>;
}
