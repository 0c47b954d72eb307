import type { OutcomeCounts } from "./undo-store.ts";
import { stringify } from "csv-stringify/sync";
import { NewFile } from "../run/new-file.ts";
import type { UndoOutcome } from "./undo-behavior.ts";

export interface UndoRequest {
  /** Only counts: changes and stores nothing. */
  readonly isPlan: boolean;
  readonly rate?: number | undefined;
  readonly rateShare?: number | undefined;
  /** The maximum number of rows to return; the file has all of them. */
  readonly maxListed: number;
  /** Whether to list only rows that were not undone if there are too many. */
  readonly listsExceptions: boolean;
  /**
   * Asks for confirmation before anything is sent.
   * @throws if the answer is no
   */
  readonly confirm: (counts: UndoQuestion) => Promise<void>;
}

/** What the confirmation prompt shows. */
export interface UndoQuestion extends OutcomeCounts {
  readonly import_id: string;
  readonly kind: string;
}

export interface UndoneRun extends OutcomeCounts {
  import_id: string;
  kind: string;
  /** `planned`: nothing was sent. `earlier`: the run was undone before, and this is the outcome. */
  state: "planned" | "finished" | "interrupted" | "earlier";
  /** The first rows; the file has all of them. */
  rows: UndoneRow[];
  rows_file: string | null;
  /** Rows that were rejected, failed, or never sent. */
  rows_not_taken: number;
  calls: number;
  duration_ms: number;
}

export type UndoneRow = {
  readonly file: string;
  readonly line: number;
  readonly key: string;
  readonly outcome: UndoOutcome;
  readonly reason: string;
};

const columns = ["file", "line", "key", "outcome", "reason"] as const;

/** Lines written at a time. */
const aBlock = 500;

/** All rows of an undone run as CSV; replaces the previous file when complete. */
export class UndoRows {
  readonly #file: NewFile;
  #waiting: UndoneRow[] = [];

  constructor(path: string) {
    this.#file = new NewFile(path);
    this.#file.write(stringify([[...columns]]));
  }

  add(row: UndoneRow): void {
    this.#waiting.push(row);
    if (this.#waiting.length >= aBlock) this.#write();
  }

  close(isKept: boolean): void {
    this.#write();
    this.#file.close(isKept);
  }

  #write(): void {
    this.#file.write(stringify(this.#waiting, { columns: [...columns] }));
    this.#waiting = [];
  }
}

/** Collects the rows to return: the first ones, or, if requested and there are more, the first that were not undone. */
export class ListedRows {
  readonly #request: Pick<UndoRequest, "maxListed" | "listsExceptions">;
  readonly #first: UndoneRow[] = [];
  readonly #exceptions: UndoneRow[] = [];
  #rows = 0;

  constructor(request: Pick<UndoRequest, "maxListed" | "listsExceptions">) {
    this.#request = request;
  }

  add(row: UndoneRow): void {
    const { maxListed } = this.#request;
    this.#rows++;
    if (this.#first.length < maxListed) this.#first.push(row);
    if (row.outcome !== "reversed" && this.#exceptions.length < maxListed) this.#exceptions.push(row);
  }

  get rows(): UndoneRow[] {
    const { maxListed, listsExceptions } = this.#request;
    return listsExceptions && this.#rows > maxListed ? this.#exceptions : this.#first;
  }
}
