/** Finds what the page shows or reads aloud: texts between tags, and strings that look like words or sentences. */

import ts from "typescript";

export interface VisibleString {
  line: number;
  text: string;
}

/** Attributes whose strings no person sees. */
const INVISIBLE =
  /^(?:className|classNames|variant|color|type|role|key|id|href|rel|target|style|autoComplete|component|position|accept|ff|data-.*)$/;

export function visibleStringsOf(fileName: string, content: string): VisibleString[] {
  const file = ts.createSourceFile(fileName, content, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const strings: VisibleString[] = [];
  const add = (node: ts.Node, raw: string) => {
    const text = raw.replace(/\s+/g, " ").trim();
    // Identifiers, paths and keys are single words without a capital letter.
    if (!/[A-Za-z]/.test(text) || !/[A-Z ]/.test(text)) return;
    strings.push({ line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1, text });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isJsxAttribute(node) && INVISIBLE.test(node.name.getText())) return;
    if (ts.isJsxText(node)) add(node, node.text);
    else if (ts.isStringLiteralLike(node)) add(node, node.text);
    else if (ts.isTemplateExpression(node))
      add(node, [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("…"));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return strings;
}
