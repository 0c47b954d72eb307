import { ImportError } from "./import-error.ts";
import type { ImportBehavior, RecordImporter, RecordKind } from "./kind.ts";
import type { ImportOptions } from "./options.ts";
import type { Layout } from "./layouts/layout.ts";
import { withDateOrders } from "./layouts/choose-layout.ts";

export interface ImportKind extends RecordKind, Omit<RecordImporter, "layouts" | "prepare"> {
  readonly layouts: readonly Layout[];
  /** @throws ImportError `usage` if an option is missing or invalid */
  prepare(options: ImportOptions): ImportBehavior;
}

/** All record kinds of the program with their importers. */
export interface ImportKinds {
  readonly all: readonly ImportKind[];
  /** @throws ImportError `failed` if no kind has this name */
  get(name: string): ImportKind;
}

export async function loadKinds(kinds: readonly RecordKind[]): Promise<ImportKinds> {
  const all = await Promise.all(
    kinds.map(async (kind): Promise<ImportKind> => {
      const importer = await kind.loadImporter();
      return {
        ...kind,
        ...importer,
        layouts: (importer.layouts ?? []).flatMap(withDateOrders),
        prepare: (options) => ({ ...kind, ...importer.prepare(options, kind) }),
      };
    }),
  );
  return {
    all,
    get: (name) => {
      const found = all.find((kind) => kind.name === name);
      if (found) return found;
      throw new ImportError("failed", `unknown record kind "${name}"`, {
        hint: "a newer version of starpost may have created this run; update starpost",
      });
    },
  };
}
