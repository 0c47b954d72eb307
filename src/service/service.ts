import { contract, type Contract, type GroupName, type OperationName } from "../contract/index.ts";
import type { Caller, CallOptions, InputOf, OutputOf, Transport } from "./transport.ts";

type Call<N extends OperationName> = (input: InputOf<N>, options?: CallOptions) => Promise<OutputOf<N>>;

/** Every call of the contract as a typed function, as in `service.products.massCreate({ products })`, and the options of the engine. */
export type Service = Pick<Transport, "engine"> & {
  [G in GroupName]: {
    [V in Extract<keyof Contract[G], string>]: Call<Extract<`${G}.${V}`, OperationName>>;
  };
};

/** Derives the service from the contract, for one caller. */
export function createService(transport: Transport, caller: Caller): Service {
  const groups = Object.entries(contract).map(([group, verbs]) => [
    group,
    Object.fromEntries(
      Object.keys(verbs).map((verb) => {
        const operation = `${group}.${verb}` as OperationName;
        const call = (input: InputOf<typeof operation>, options?: CallOptions) =>
          transport.call(operation, input, caller, options);
        return [verb, call];
      }),
    ),
  ]);
  return { ...(Object.fromEntries(groups) as Service), engine: transport.engine };
}

type UntypedCall = (
  input: Readonly<Record<string, unknown>>,
  options?: CallOptions,
) => Promise<Readonly<Record<string, unknown>>>;

/** Finds a call by an operation name that is known only at run time. */
export function callOf(service: Partial<Service>, operation: OperationName): UntypedCall {
  const [group = "", verb = ""] = operation.split(".");
  const call = (service as unknown as Readonly<Record<string, Readonly<Record<string, UntypedCall>>>>)[group]?.[verb];
  if (!call) throw new Error(`unknown operation ${operation}`);
  return call;
}
