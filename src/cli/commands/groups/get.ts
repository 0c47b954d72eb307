import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("groups.get", { summary: "Show a product group and its products" });
