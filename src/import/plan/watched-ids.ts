import type { InputFile } from "../source/input-files.ts";
import type { Importing, Item, RowView, SourceRow } from "../kind.ts";
import type { KindName } from "../types.ts";
import type { IdKind, PlanBook } from "./plan-tally.ts";

/** An id in the rows of a kind of import. */
interface WatchedId {
  readonly what: IdKind;
  /** The field that holds it; where absent, what makes the row an item is the id. */
  readonly field?: string;
  /** The field in which it is written, to see how. */
  readonly writtenIn: string;
  readonly name?: string;
}

interface Watched {
  readonly ids: readonly WatchedId[];
  /** What a row names that a second row may name again. */
  readonly keyOf: (item: Item, row: RowView) => string;
}

/** What a plan looks at in the rows of each kind of import; nothing of the others. */
const watchedKinds: Readonly<Partial<Record<KindName, Watched>>> = {
  products: {
    ids: [{ what: "product", writtenIn: "product_id", name: "name" }],
    keyOf: ({ key }) => key,
  },
  orders: {
    ids: [
      { what: "order", writtenIn: "order_id" },
      { what: "product", field: "product_id", writtenIn: "product_id", name: "product_name" },
    ],
    keyOf: ({ key }, row) => JSON.stringify([key, row("product_id")]),
  },
  coupons: { ids: [{ what: "code", writtenIn: "code" }], keyOf: ({ key }) => key },
  unsubscribers: { ids: [{ what: "address", writtenIn: "" }], keyOf: ({ key }) => key },
};

/** What was seen of rows that name what a row before them named. */
export interface Repeated {
  rows: number;
  /** `file:line` of the first. */
  first: string | null;
}

/** Writes the ids of the rows that a kind of import takes into a plan's book, as they are read. */
export class IdWatch {
  readonly repeated: Repeated = { rows: 0, first: null };
  readonly #watched: Watched | undefined;
  readonly #book: PlanBook;
  #files: readonly InputFile[] = [];

  constructor(kind: KindName, book: PlanBook) {
    this.#watched = watchedKinds[kind];
    this.#book = book;
  }

  setFiles(files: readonly InputFile[]): void {
    this.#files = files;
  }

  /** The same kind of import, looked on at. */
  watch(importing: Importing): Importing {
    const watched = this.#watched;
    if (!watched) return importing;
    return {
      ...importing,
      read: (row, source, ...more) => {
        const read = importing.read(row, source, ...more);
        if (!Array.isArray(read)) this.#look(watched, read as Item, row, source);
        return read;
      },
    };
  }

  #look({ ids, keyOf }: Watched, item: Item, row: RowView, source: SourceRow): void {
    const file = this.#files[source.file];
    const place = `${file?.given}:${source.line}`;
    for (const { what, field, writtenIn, name } of ids) {
      const id = field === undefined ? item.key : row(field);
      const at = file?.columns.columnOf.get(writtenIn);
      const spelling = (at === undefined ? undefined : source.cells[at]) || id;
      this.#book.meetId(what, { id, spelling, name: name === undefined ? undefined : row(name), place });
    }
    if (!this.#book.meetKey(keyOf(item, row))) return;
    this.repeated.rows++;
    this.repeated.first ??= place;
  }
}
