import { randomInt } from "node:crypto";
import { expect, it } from "vitest";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { chooseSize, isSlowSuite } from "../support/suite-size.ts";
import { compareAll } from "./model/comparison.ts";
import { type ModelRun, pickOperation } from "./model/operations.ts";
import { ShopModel } from "./model/shop-model.ts";
import { createRandom } from "./random.ts";

const operations = chooseSize(1_000, 10_000);
const operationsPerComparison = 100;

/** The slow suite uses another seed in each run. To repeat a run, set the variable to the seed that it printed. */
const seed = Number(process.env["STARPOST_TEST_SEED"] ?? (isSlowSuite ? randomInt(2 ** 32) : 13));

const tokenLifetimeMs = 10 * 24 * 60 * 60 * 1_000;

/** Returns a service whose token is valid, because the clock advances by weeks. */
function keepToken({ clock, service: open }: Harness, { caller, secret, service }: TestAccount) {
  let [current, issuedMs] = [service, clock()];
  return async () => {
    if (clock() - issuedMs < tokenLifetimeMs) return current;
    const grant = { client_id: caller.appKey, client_secret: secret, grant_type: "client_credentials" };
    const { access_token: utoken } = await current.tokens.create(grant);
    [current, issuedMs] = [open({ appKey: caller.appKey, utoken }), clock()];
    return current;
  };
}

describeBackends("a shop", (harness) => {
  it(`equals its model after ${operations} operations with seed ${seed}`, { timeout: 1_800_000 }, async () => {
    const { clock } = harness();
    const random = createRandom(seed);
    const model = new ShopModel(clock);
    const findService = keepToken(harness(), await harness().newAccount());
    for (let done = 0; done < operations; done += 1) {
      const run: ModelRun = { service: await findService(), model, random, clock };
      try {
        await pickOperation(random)(run);
        if ((done + 1) % operationsPerComparison === 0) await compareAll(run);
      } catch (error) {
        const note = `with STARPOST_TEST_SEED=${seed}, after ${done} operations`;
        throw new Error(`${note}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
    }
    expect(model.reviews.length).toBeGreaterThan(operations / 10);
  });
});
