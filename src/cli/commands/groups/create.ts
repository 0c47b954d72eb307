import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("groups.create", { name: "groups create", arguments: ["group_name"] });
