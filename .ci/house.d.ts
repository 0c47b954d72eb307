export interface Source {
  readonly path: string;
  readonly text: string;
}

export type Table = Readonly<
  Record<string, { readonly layers: readonly string[]; readonly packages: readonly string[] }>
>;

export interface Inspection {
  readonly files: number;
  readonly lines: number;
  readonly medianLines: number;
  readonly maxLines: number;
  readonly longFiles: readonly { readonly path: string; readonly lines: number }[];
  readonly crowdedFolders: readonly (readonly [string, number])[];
  readonly cycles: readonly (readonly string[])[];
  readonly violations: readonly string[];
}

export function readSources(folder: string): Source[];
export function readTable(markdown: string): Table;
export function listImports(text: string): string[];
export function findViolations(sources: readonly Source[], table: Table): string[];
export function findCycles(sources: readonly Source[]): string[][];
export function inspect(sources: readonly Source[], table?: Table): Inspection;
