import {
  type ColumnDefinitionNode,
  DataTypeNode,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  RawNode,
} from "kysely";

/**
 * Makes columns store, compare, and sort values as SQLite does, regardless of the locale of the database: text by code
 * point, and integers with 64 bits.
 */
export const codePointColumns: KyselyPlugin = {
  transformQuery: ({ node, queryId }: PluginTransformQueryArgs) =>
    new ColumnTransformer().transformNode(node, queryId),
  transformResult: async ({ result }: PluginTransformResultArgs) => result,
};

class ColumnTransformer extends OperationNodeTransformer {
  protected override transformColumnDefinition(
    node: ColumnDefinitionNode,
    queryId: QueryId,
  ): ColumnDefinitionNode {
    const column = super.transformColumnDefinition(node, queryId);
    if (!DataTypeNode.is(column.dataType)) return column;
    if (column.dataType.dataType === "text") {
      return { ...column, dataType: RawNode.createWithSql('text collate "C"') };
    }
    if (column.dataType.dataType === "integer") return { ...column, dataType: DataTypeNode.create("bigint") };
    return column;
  }
}
