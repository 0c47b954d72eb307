import { join } from "node:path";
import { asBookFile } from "./attempt.ts";
import type { BookFile } from "./books.ts";
import type { Claim, Holdings, Item, SourceRow } from "./kinds/kind.ts";
import type { HeldStore } from "./ledger/held-store.ts";
import { RejectFile } from "./ledger/reject-file.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { MissingRow, Verification } from "./types.ts";

export type Found = Pick<Verification, "checked" | "missing" | "missing_count" | "missing_file">;

/** Holds each row against what was read, and keeps those that are missing. */
export class Finding {
  readonly #files: readonly BookFile[];
  readonly #mostListed: number;
  readonly #makeFile: () => RejectFile;
  #file: RejectFile | undefined;
  #missing: MissingRow[] = [];
  #count = 0;
  #checked = { rows: 0, items: 0 };

  constructor(run: RecordedRun, mostListed: number) {
    this.#files = run.files.map(asBookFile);
    this.#mostListed = mostListed;
    const [first] = run.files;
    this.#makeFile = () =>
      new RejectFile(join(run.folder, "missing.csv"), {
        headers: run.files.map(({ head }) => head.header),
        delimiter: first?.head.format.delimiter ?? ",",
        encoding: first?.head.format.encoding ?? "utf-8",
      });
  }

  begin(isWritten: boolean): void {
    this.#file = isWritten ? this.#makeFile() : undefined;
    this.#missing = [];
    this.#count = 0;
    this.#checked = { rows: 0, items: 0 };
  }

  end(): Found {
    this.#file?.close(true);
    const path = this.#count > 0 ? (this.#file?.path ?? null) : null;
    return { checked: this.#checked, missing: this.#missing, missing_count: this.#count, missing_file: path };
  }

  abandon(): void {
    this.#file?.close(false);
  }

  look(items: readonly Item[], holdings: Holdings, held: HeldStore): void {
    for (const item of items) {
      this.#checked.items++;
      this.#checked.rows += item.rows.length;
      const missing = new Map<SourceRow, Absence>();
      for (const claim of holdings.claims(item)) {
        const units = held.unitsOf(claim.key);
        const isMissing = holdings.isRemoval ? units > 0 : units < claim.needs;
        if (isMissing) missing.set(claim.row, { claim, ...describe(claim, units, holdings) });
      }
      if (missing.size > 0) this.#keep(item, missing);
    }
  }

  #keep(item: Item, missing: ReadonlyMap<SourceRow, Absence>): void {
    this.#count += missing.size;
    for (const [row, { claim, reason }] of missing) {
      if (this.#missing.length >= this.#mostListed) break;
      const file = this.#files[row.file];
      const column = file?.columnName(claim.field) ?? claim.field;
      this.#missing.push({ file: file?.given ?? "", line: row.line, column, ...claim.names, reason });
    }
    for (const row of rowsToSendAgain(item, missing)) {
      const absence = missing.get(row);
      const file = this.#files[row.file];
      this.#file?.add(row, {
        column: absence ? (file?.columnName(absence.claim.field) ?? absence.claim.field) : "",
        code: absence?.code ?? "is_there",
        reason: absence?.reason ?? "is there; goes with the row that is not",
      });
    }
  }
}

interface Absence {
  readonly claim: Claim;
  readonly code: string;
  readonly reason: string;
}

function describe({ of }: Claim, units: number, { isRemoval }: Holdings): { code: string; reason: string } {
  if (isRemoval) return { code: "still_there", reason: "is still unsubscribed" };
  if (units === 0) return { code: "not_there", reason: "is not there" };
  return { code: "too_few", reason: `${units} of ${of} there` };
}

/**
 * The rows to import once more, so that the missing ones get there: those alone, but where a product of an order has too
 * few units, all rows of it, since the service counts the units that one call brings.
 */
function rowsToSendAgain(item: Item, missing: ReadonlyMap<SourceRow, Absence>): readonly SourceRow[] {
  const { parts } = item;
  if (!parts) return [...missing.keys()];
  const short = new Set([...missing.values()].filter(({ claim }) => claim.of > 1).map(({ claim }) => claim.names["product_id"]));
  return item.rows.filter((row, at) => missing.has(row) || short.has(parts[at] ?? ""));
}
