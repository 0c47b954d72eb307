import type { Plugin } from "vitest/config";

export function listCommandFiles(): readonly { readonly path: string; readonly name: string }[];
export const generatedModulesOfVite: Plugin;
