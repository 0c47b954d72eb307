import type { OperationName } from "../../../contract/index.ts";
import type { OperationCard } from "./operation-card.ts";

// The build and the tests replace this module: see `.ci/generated-modules.js`.

/** Every call of the contract as a command; a help needs the names of all and the cards of few. */
export declare const operationCards: Readonly<Record<OperationName, OperationCard>>;
