export function keepElements(version: string, folder?: string): Promise<readonly string[]>;
