import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeCards } from "../../support/operation-cards.ts";

const file = join(import.meta.dirname, "../../../src/cli/commands/operations/operation-cards.ts");

describe("the cards of the calls", () => {
  it("are what the contract makes of them", async () => {
    const problem = "src/cli/commands/operations/operation-cards.ts is not current; renew it: npm run cards";
    await expect(writeCards(), problem).toMatchFileSnapshot(file);
  });
});
