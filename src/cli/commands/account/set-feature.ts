import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("account.setFeature");
