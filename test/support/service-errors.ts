import { expect } from "vitest";

/**
 * Matches an `invalidParams` error about a field. Over HTTP an error has no `field`, but its message starts with the
 * name of the field; `values` must also occur in the message.
 */
export const invalidField = (field: string, ...values: readonly (string | number)[]) => ({
  kind: "invalidParams",
  message: mentioning(field, ...values),
});

/** Matches a message that starts with the name of a field and contains these values, in this order. */
export const mentioning = (field: string, ...values: readonly (string | number)[]): string =>
  expect.stringMatching(
    new RegExp(`^${[`${escapePattern(field)} `, ...values.map((value) => escapePattern(String(value)))].join(".*")}`),
  );

const escapePattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
