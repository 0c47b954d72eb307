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
 * Makes PostgreSQL's columns hold, compare and sort as SQLite's do, whatever the database's own locale: text by its
 * code points, and whole numbers of 64 bits.
 */
export const sqliteLikeColumns: KyselyPlugin = {
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
