type Catalogs = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function readCatalogs(): Catalogs;
export function compileCatalogs(catalogs: Catalogs): string;
