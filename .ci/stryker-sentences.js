import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

/** Sentences for people are not mutated, since no test asserts their wording; codes and names are. */
const sentences = {
  shouldIgnore({ node }) {
    const texts =
      node.type === "TemplateLiteral"
        ? node.quasis.map(({ value }) => value.raw)
        : node.type === "StringLiteral"
          ? [node.value]
          : [];
    return texts.some((text) => /[a-z,:;] |^ [a-z(]/iu.test(text)) ? "a sentence" : undefined;
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, "sentences", sentences)];
