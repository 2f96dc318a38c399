/** An ESLint rule: what stands below never imports what stands above it, and features do not import each other. */

import { dirname, relative, resolve, sep } from "node:path";

const SOURCE = resolve(import.meta.dirname, "src");

/** What each part of the page may import besides itself. */
const BELOW = {
  app: ["features", "components", "graph", "lib"],
  features: ["components", "graph", "lib"],
  components: ["lib"],
  graph: ["lib"],
  lib: [],
  testing: ["lib"],
};

function partOf(path) {
  const [part, name] = relative(SOURCE, path).split(sep);
  return { part, name: part === "features" ? name : undefined };
}

function isAllowed(from, to, isTest) {
  if (from.part === to.part && from.name === to.name) return true;
  if (to.part === "testing") return isTest;
  return BELOW[from.part].includes(to.part);
}

export const importZones = {
  meta: {
    type: "problem",
    schema: [],
    messages: {
      above: "{{ from }} may not import {{ to }}: what both need belongs in components or lib.",
    },
  },
  create(context) {
    const from = partOf(context.filename);
    if (!(from.part in BELOW)) return {};
    const check = (node) => {
      const source = node.source;
      if (typeof source?.value !== "string" || !source.value.startsWith(".")) return;
      const to = partOf(resolve(dirname(context.filename), source.value));
      if (isAllowed(from, to, context.filename.includes(".test."))) return;
      const names = [from, to].map(({ part, name }) => (name === undefined ? part : `${part}/${name}`));
      context.report({ node: source, messageId: "above", data: { from: names[0], to: names[1] } });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    };
  },
};
