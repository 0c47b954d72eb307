import { ImportError, type KindName } from "../types.ts";
import type { Layout } from "./layout.ts";
import { layouts, nativeNames, normaliseName, recogniseLayout } from "../../records/layouts.ts";

/**
 * The layout of a file: the one that is asked for, or else the one of its header. Nothing where the columns are ours.
 * Assumed: a header that has all our own required names is ours, whatever else it looks like.
 * @throws ImportError `usage` when there is no layout of that name, or it is of another kind
 */
export function chooseLayout(
  header: readonly string[],
  kind: KindName,
  required: readonly string[],
  asked: string | undefined,
): Layout | undefined {
  if (asked !== undefined) return findLayout(asked, kind);
  const names = new Set(header.map(normaliseName));
  if (required.every((name) => names.has(normaliseName(name)))) return undefined;
  return recogniseLayout(header, kind);
}

function findLayout(asked: string, kind: KindName): Layout | undefined {
  const wanted = asked.toLowerCase();
  if ((nativeNames as readonly string[]).includes(wanted)) return undefined;
  const found =
    layouts.find(({ name }) => name === wanted) ?? layouts.find(({ name }) => name === `${wanted}-${kind}`);
  if (found?.kind === kind) return found;
  const ofKind = layouts
    .filter((layout) => layout.kind === kind)
    .map(({ name }) =>
      name.endsWith(`-${kind}`) ? `${name.slice(0, -kind.length - 1)} (or ${name})` : name,
    );
  const says = found ? `is a layout of ${found.kind}, and these are ${kind}` : "is no layout that is known";
  throw new ImportError("usage", `--layout ${asked} ${says}`, {
    hint: `there are: ${["native (or none)", ...ofKind].join(", ")}`,
  });
}
